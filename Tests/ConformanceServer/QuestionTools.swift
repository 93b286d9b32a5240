import MCPCore

/// Tools that ask the client, written once: the revision decides how a question travels.
func registerQuestionTools(on server: MCPServer) throws {
    try server.register(
        Tool("test_sampling", description: "Asks the client's model", inputSchema: textArgument("prompt"))
    ) { call, context in
        let prompt = call.arguments["prompt"]?.string ?? ""
        let answer = try await context.sample(CreateMessageRequest(prompt, maxTokens: 100))
        return .text("LLM response: \(answer.text ?? "")")
    }
    try server.register(
        Tool("test_elicitation", description: "Asks the user", inputSchema: textArgument("message"))
    ) { call, context in
        let answer = try await context.elicit(
            call.arguments["message"]?.string ?? "",
            ElicitationSchema([
                .string("username", description: "Name of the user", required: true),
                .string("email", description: "Address of the user", required: true),
            ]))
        return .text("User response: \(text(of: answer))")
    }
    try server.register(
        Tool("test_elicitation_sep1034_defaults", description: "Asks with a default in every field")
    ) { _, context in
        let answer = try await context.elicit(
            "Please review and update the form fields with defaults",
            ElicitationSchema([
                .string("name", description: "User name", default: "John Doe"),
                .integer("age", description: "User age", default: 30),
                .number("score", description: "User score", default: 95.5),
                .choice(
                    "status", [.init("active"), .init("inactive"), .init("pending")],
                    description: "User status", default: "active"),
                .boolean("verified", description: "Whether the user is verified", default: true),
            ]))
        return .text("Elicitation completed: \(text(of: answer))")
    }
    try server.register(
        Tool("test_elicitation_sep1330_enums", description: "Asks with every form of choice")
    ) { _, context in
        let plain: [ElicitationSchema.Choice] = [.init("option1"), .init("option2"), .init("option3")]
        let titled: [ElicitationSchema.Choice] = [
            .init("value1", title: "First Option"), .init("value2", title: "Second Option"),
            .init("value3", title: "Third Option"),
        ]
        let answer = try await context.elicit(
            "Please select options from the enum fields",
            ElicitationSchema([
                .choice("untitledSingle", plain), .choice("titledSingle", titled),
                .choice("legacyEnum", titled, legacyNames: true), .choices("untitledMulti", plain),
                .choices("titledMulti", titled),
            ]))
        return .text("Elicitation completed: \(text(of: answer))")
    }
    try server.register(
        Tool("test_missing_capability", description: "Needs a client that samples")
    ) { _, context in
        try context.require(ClientCapabilities(sampling: true))
        return .text("The client can sample.")
    }
    try server.register(
        Tool("test_streaming_elicitation", description: "Answers without a request on the stream")
    ) { _, context in
        await context.progress(1, total: 1)
        return .text("No request of the server is on this stream.")
    }
}

/// The schema of one text argument.
func textArgument(_ name: String) -> JSONValue {
    ["type": "object", "properties": .object([name: ["type": "string"]]), "required": [.string(name)]]
}

private func text(of answer: ElicitResult) -> String {
    "action=\(answer.action.rawValue), content=\(JSONValue.object(answer.content ?? [:]).serialized())"
}
