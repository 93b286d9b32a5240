import MCPCore

/// Tools that log, publish changes, let go of their stream, or mirror an argument in a header.
func registerStreamTools(on server: MCPServer) throws {
    try server.register(Tool("test_tool_with_logging", description: "Logs three messages")) { _, context in
        for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            await context.log(.info, .string(message))
            try await Task.sleep(for: .milliseconds(50))
        }
        return .text("Tool with logging executed successfully")
    }
    try server.register(Tool("test_logging_tool", description: "Logs when the request wants it")) {
        _, context in
        await context.log(.info, "Logged by test_logging_tool")
        return .text("Logged what was asked for.")
    }
    try server.register(
        Tool("test_reconnection", description: "Closes its stream and answers on the next one")
    ) { _, context in
        context.releaseStream(retryAfter: .milliseconds(500))
        try await Task.sleep(for: .milliseconds(100))
        return .text("Reconnection test completed successfully")
    }
    try server.register(Tool("test_trigger_tool_change", description: "Says that the tools changed")) {
        _, _ in
        server.notifyToolsChanged()
        return .text("tools/list_changed was published")
    }
    try server.register(Tool("test_trigger_prompt_change", description: "Says that the prompts changed")) {
        _, _ in
        server.notifyPromptsChanged()
        return .text("prompts/list_changed was published")
    }
    let schema: JSONValue = [
        "type": "object",
        "properties": [
            "region": [
                "type": "string", "description": "Mirrored in a header", "x-mcp-header": "Region",
            ]
        ],
    ]
    try server.register(
        Tool("test_x_mcp_header", description: "Mirrors its argument", inputSchema: schema)
    ) { call, _ in .text("region: \(call.arguments["region"]?.string ?? "none")") }
}
