import MCPCore

/// Tools whose results hold each kind of content.
func registerContentTools(on server: MCPServer) throws {
    try server.register(Tool("test_simple_text", description: "Answers with a text")) { _, _ in
        .text("This is a simple text response for testing.")
    }
    try server.register(Tool("test_image_content", description: "Answers with a picture")) { _, _ in
        CallToolResult(content: [.image(onePixelPNG, mimeType: "image/png")])
    }
    try server.register(Tool("test_audio_content", description: "Answers with a sound")) { _, _ in
        CallToolResult(content: [.audio(silentWAV, mimeType: "audio/wav")])
    }
    try server.register(Tool("test_embedded_resource", description: "Answers with a resource")) { _, _ in
        let contents = ResourceContents.text(
            "This is an embedded resource content.", uri: "test://embedded-resource", mimeType: "text/plain")
        return CallToolResult(content: [.resource(contents)])
    }
    try server.register(
        Tool("test_multiple_content_types", description: "Answers with a text, a picture and a resource")
    ) { _, _ in
        let contents = ResourceContents.text(
            #"{"test":"data","value":123}"#, uri: "test://mixed-content-resource",
            mimeType: "application/json")
        return CallToolResult(content: [
            .text("Multiple content types test:"), .image(onePixelPNG, mimeType: "image/png"),
            .resource(contents),
        ])
    }
    try server.register(Tool("test_error_handling", description: "Fails")) { _, _ in
        throw ToolError("This tool intentionally returns an error for testing")
    }
    try server.register(Tool("test_tool_with_progress", description: "Reports progress three times")) {
        _, context in
        for step in 0 ... 2 {
            await context.progress(Double(step * 50), total: 100)
            try await Task.sleep(for: .milliseconds(50))
        }
        return .text("Done.")
    }
}

/// A tool that is listed only: its schema must come back as it is.
func registerSchemaTool(on server: MCPServer) throws {
    let schema: JSONValue = [
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": [
            "address": [
                "$anchor": "addressDef", "type": "object",
                "properties": ["street": ["type": "string"], "city": ["type": "string"]],
            ]
        ],
        "properties": [
            "name": ["type": "string"], "address": ["$ref": "#/$defs/address"],
            "contactMethod": ["type": "string", "enum": ["phone", "email"]],
            "phone": ["type": "string"], "email": ["type": "string"],
        ],
        "allOf": [["anyOf": [["required": ["phone"]], ["required": ["email"]]]]],
        "if": ["properties": ["contactMethod": ["const": "phone"]], "required": ["contactMethod"]],
        "then": ["required": ["phone"]], "else": ["required": ["email"]],
        "additionalProperties": false,
    ]
    try server.register(
        Tool(
            "json_schema_2020_12_tool", description: "Has a schema with many keywords of 2020-12",
            inputSchema: schema)
    ) { call, _ in .text(call.arguments.value.serialized()) }
}
