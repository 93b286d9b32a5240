import MCPCore

/// Resources, and the template.
func registerResources(on server: MCPServer) throws {
    try server.register(
        Resource(
            "test://static-text", name: "static-text", description: "A text", mimeType: "text/plain")
    ) { _ in
        [
            .text(
                "This is the content of the static text resource.", uri: "test://static-text",
                mimeType: "text/plain")
        ]
    }
    try server.register(
        Resource(
            "test://static-binary", name: "static-binary", description: "A picture",
            mimeType: "image/png")
    ) { _ in [.blob(onePixelPNG, uri: "test://static-binary", mimeType: "image/png")] }
    try server.register(
        Resource(
            "test://watched-resource", name: "watched-resource",
            description: "A resource to subscribe to", mimeType: "text/plain")
    ) { _ in [.text("Watch me.", uri: "test://watched-resource", mimeType: "text/plain")] }
    try server.register(
        ResourceTemplate(
            "test://template/{id}/data", name: "template", description: "Data by id",
            mimeType: "application/json")
    ) { uri, variables, _ in
        let id = variables["id"] ?? ""
        let data: JSONValue = [
            "id": .string(id), "templateTest": true, "data": .string("Data for ID: \(id)"),
        ]
        return [.text(data.serialized(), uri: uri, mimeType: "application/json")]
    }
}

/// Prompts, and the completion of one of their arguments.
func registerPrompts(on server: MCPServer) throws {
    try server.register(Prompt("test_simple_prompt", description: "A prompt without arguments")) { _, _ in
        GetPromptResult([.user("This is a simple prompt for testing.")])
    }
    try server.register(
        Prompt(
            "test_prompt_with_arguments", description: "A prompt with two arguments",
            arguments: [
                PromptArgument("arg1", description: "First", required: true),
                PromptArgument("arg2", description: "Second", required: true),
            ])
    ) { arguments, _ in
        let (first, second) = (arguments["arg1"] ?? "", arguments["arg2"] ?? "")
        return GetPromptResult([.user("Prompt with arguments: arg1='\(first)', arg2='\(second)'")])
    }
    server.addCompletion(
        .prompt("test_prompt_with_arguments"), "arg1", ["testValue1", "testValue2", "other"])
    try server.register(
        Prompt(
            "test_prompt_with_embedded_resource", description: "A prompt with a resource",
            arguments: [PromptArgument("resourceUri", description: "Its URI", required: true)])
    ) { arguments, _ in
        let contents = ResourceContents.text(
            "Embedded resource content for testing.", uri: arguments["resourceUri"] ?? "",
            mimeType: "text/plain")
        return GetPromptResult([
            PromptMessage(.user, .resource(contents)), .user("Please process the embedded resource above."),
        ])
    }
    try server.register(Prompt("test_prompt_with_image", description: "A prompt with a picture")) { _, _ in
        GetPromptResult([
            PromptMessage(.user, .image(onePixelPNG, mimeType: "image/png")),
            .user("Please analyze the image above."),
        ])
    }
    try server.register(
        Prompt("test_input_required_result_prompt", description: "A prompt that asks back")
    ) { _, context in
        let answer = try await context.elicit(
            "What context should the prompt use?", ElicitationSchema([.string("context", required: true)]),
            key: "user_context")
        return GetPromptResult([.user("Context: \(answer.content?["context"]?.stringValue ?? "none")")])
    }
}
