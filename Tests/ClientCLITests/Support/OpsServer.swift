import MCPCore

/// The server of the reference outputs, and tools that do what servers do to clients.
enum OpsServer {
    static func make(options: ServerOptions = ServerOptions()) throws -> MCPServer {
        let server = MCPServer(
            "ops", version: "1.4.0", title: "Operations",
            instructions: "Ask before restarting.\nRead freely.",
            options: options)
        try registerReferenceTools(server)
        try registerAwkwardTools(server)
        try server.register(
            Resource(
                "file:///notes.txt", name: "notes.txt", description: "Notes.", mimeType: "text/plain", size: 6
            )
        ) { _ in [.text("hello\n", uri: "file:///notes.txt")] }
        try server.register(Resource("file:///logo.png", name: "logo.png", mimeType: "image/png")) { _ in
            [.blob([0x89, 0x50, 0x4E, 0x47, 0xFF], uri: "file:///logo.png", mimeType: "image/png")]
        }
        try server.register(ResourceTemplate("file:///{name}", name: "files", description: "A file by name."))
        {
            uri, _, _ in throw MCPError.resourceNotFound(uri)
        }
        try server.register(
            Prompt(
                "review", description: "Review code.",
                arguments: [PromptArgument("code", required: true), PromptArgument("style")])
        ) { arguments, _ in
            GetPromptResult([.user("Review \(arguments["code"] ?? "")"), .assistant("Sure.")])
        }
        return server
    }

    private static func registerReferenceTools(_ server: MCPServer) throws {
        try server.register(
            Tool(
                "git_log", description: "Commits of a repository, newest first.",
                inputSchema: [
                    "type": "object",
                    "properties": [
                        "repo": ["type": "string", "format": "path"],
                        "limit": ["type": "integer", "minimum": 1, "maximum": 200, "default": 20],
                        "author": ["type": "string", "maxLength": 80],
                        "paths": ["type": "array", "items": ["type": "string"]],
                    ],
                    "required": ["repo"], "additionalProperties": false,
                ], annotations: ToolAnnotations(readOnlyHint: true))
        ) { call, _ in
            guard let repo = call.arguments["repo"]?.string, repo == "web" else {
                throw ToolError("repository \"nope\" is not under workspace")
            }
            return .text("a1b2c3d Fix drain on SIGTERM\n9f8e7d6 Add openat2 fallback")
        }
        try server.register(
            Tool(
                "unit_restart", description: "Restart one of our services.",
                inputSchema: [
                    "type": "object", "properties": ["unit": ["enum": ["web", "worker", "cron"]]],
                    "required": ["unit"], "additionalProperties": false,
                ], annotations: ToolAnnotations(destructiveHint: true))
        ) { _, _ in .text("restarted") }
    }

    private static func registerAwkwardTools(_ server: MCPServer) throws {
        try server.register(
            Tool("x_echo", inputSchema: ["type": "object", "additionalProperties": true])
        ) { call, _ in .structured(call.arguments.value) }
        try server.register(Tool("x_escape", description: "Sends \u{1B}[2Jescapes.")) { _, _ in
            .text("\u{1B}]0;owned\u{07}red\u{202E}")
        }
        try server.register(Tool("x_image")) { _, _ in
            CallToolResult(content: [
                .text("a picture:"), .image([1, 2, 3], mimeType: "image/png"),
                .resourceLink(Resource("file:///a", name: "a.txt", mimeType: "text/plain", size: 12)),
            ])
        }
        try server.register(Tool("x_bytes")) { _, _ in
            CallToolResult(content: [.image([0, 255, 27], mimeType: "image/png")])
        }
        try server.register(Tool("x_rpc_error")) { _, _ in
            throw MCPError(code: 4711, message: "no\nway", data: ["why": "because"])
        }
        try server.register(Tool("x_progress")) { _, context in
            await context.progress(1, total: 2, message: "half")
            return .text("done")
        }
    }
}
