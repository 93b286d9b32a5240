import MCPCore

/// The contents that `--demo` serves: enough to try out a client, to test one and to measure.
enum DemoServer {
    static func register(on server: MCPServer) throws(RegistrationError) {
        try registerTools(on: server)
        try registerResources(on: server)
        try registerPrompts(on: server)
        try DemoViews.register(on: server)
    }

    /// The counts for the banner.
    static let contents = ServedContents(tools: 11, resources: 5, prompts: 1)

    private static func registerTools(on server: MCPServer) throws(RegistrationError) {
        // This form needs neither a task nor a copy of the text: it is what benchmarks measure.
        try server.registerRaw(
            Tool(
                "echo", description: "Returns the text.",
                inputSchema: [
                    "type": "object", "properties": ["text": ["type": "string", "description": "Any text"]],
                    "required": ["text"], "additionalProperties": false,
                ], annotations: readOnly)
        ) { arguments, _, result in
            result.text(arguments["text"])
        }
        try server.registerRaw(
            Tool(
                "now", description: "Returns the current time in UTC.",
                outputSchema: [
                    "type": "object", "properties": ["time": ["type": "string", "format": "date-time"]],
                    "required": ["time"],
                ], annotations: ToolAnnotations(readOnlyHint: true, openWorldHint: false))
        ) { _, _, result in
            try result.structured(["time": WallTime.now.description])
        }
        registerAdd(on: server)
        try registerSlow(on: server)
    }

    private static let readOnly = ToolAnnotations(
        readOnlyHint: true, idempotentHint: true, openWorldHint: false)

    private struct Sum: Codable, Sendable {
        var sum: Double
    }

    private static func registerAdd(on server: MCPServer) {
        server.addTool(
            "add", "Adds two numbers.", Argument("a", "The first number"), Argument("b", "The second number"),
            annotations: readOnly
        ) { (a: Double, b: Double) in
            guard (a + b).isFinite else { throw ToolError("the sum is not a finite number") }
            return Sum(sum: a + b)
        }
    }

    /// The longest time that `slow` accepts, in seconds.
    private static let maxSeconds = 3_600

    private static func registerSlow(on server: MCPServer) throws(RegistrationError) {
        let seconds: JSONValue = [
            "type": "number", "minimum": 0, "maximum": JSONValue(maxSeconds),
            "description": "How long to wait",
        ]
        try server.register(
            Tool(
                "slow", description: "Waits, reports progress ten times a second, and can be cancelled.",
                inputSchema: [
                    "type": "object", "properties": ["seconds": seconds], "required": ["seconds"],
                    "additionalProperties": false,
                ], annotations: readOnly),
            timeout: .seconds(maxSeconds + 60)
        ) { call, context in
            let total = call.arguments["seconds"]?.double ?? 0
            let clock = ContinuousClock()
            let start = clock.now
            let step = Duration.milliseconds(100)
            var elapsed = Duration.zero
            while elapsed < .seconds(total) {
                try await clock.sleep(until: start.advanced(by: min(elapsed + step, .seconds(total))))
                elapsed = start.duration(to: clock.now)
                let seconds = (elapsed / .milliseconds(1)).rounded() / 1_000
                await context.progress(min(seconds, total), total: total)
            }
            return .text("waited \(JSONValue(total).serialized()) s")
        }
    }

    private static func registerResources(on server: MCPServer) throws(RegistrationError) {
        let hello = "demo:///hello"
        let greeting = "Hello from mcp-server."
        try server.register(
            Resource(
                hello, name: "hello", description: "A short text.", mimeType: "text/plain",
                size: greeting.utf8.count)
        ) { _ in
            [.text(greeting, uri: hello)]
        }
        let dot = "demo:///dot.png"
        try server.register(
            Resource(
                dot, name: "dot.png", description: "A picture of one pixel.", mimeType: "image/png",
                size: onePixel.count)
        ) { _ in
            [.blob(onePixel, uri: dot, mimeType: "image/png")]
        }
        try server.register(
            ResourceTemplate(
                "demo:///greeting/{name}", name: "greeting", description: "A greeting for a name.",
                mimeType: "text/plain")
        ) { uri, variables, _ in
            [.text("Hello, \(variables["name"] ?? "")!", uri: uri)]
        }
    }

    /// A transparent PNG of one pixel.
    private static let onePixel: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52,
        0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1F, 0x15, 0xC4,
        0x89, 0x00, 0x00, 0x00, 0x0B, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x60, 0x00, 0x02, 0x00,
        0x00, 0x05, 0x00, 0x01, 0xE9, 0xFA, 0xDC, 0xD8, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44,
        0xAE, 0x42, 0x60, 0x82,
    ]

    private static func registerPrompts(on server: MCPServer) throws(RegistrationError) {
        try server.register(
            Prompt(
                "summarize", description: "Asks for a summary of a text.",
                arguments: [
                    PromptArgument("text", description: "What to summarize", required: true),
                    PromptArgument("style", description: "For example: one sentence"),
                ])
        ) { arguments, _ in
            let style = arguments["style"].map { " Style: \($0)." } ?? ""
            let text = "Summarize the following text.\(style)\n\n\(arguments["text"] ?? "")"
            return GetPromptResult([.user(text)], description: "Asks for a summary of a text.")
        }
    }
}
