import MCPApps
import MCPCore

/// The views of `--demo`, and the tools that belong to them.
enum DemoViews {
    static func register(on server: MCPServer) throws(RegistrationError) {
        try registerClock(on: server)
        try registerConformance(on: server)
    }

    private static let readOnly = ToolAnnotations(readOnlyHint: true, openWorldHint: false)

    // MARK: Clock

    private static func registerClock(on server: MCPServer) throws(RegistrationError) {
        try server.addUIResource(
            ClockView.uri, name: "clock", title: "Clock", html: ClockView.html, prefersBorder: true)
        let time: JSONValue = [
            "type": "object", "properties": ["time": ["type": "string", "format": "date-time"]],
            "required": ["time"],
        ]
        let label: JSONValue = ["type": "string", "maxLength": 80, "description": "The text above the clock"]
        try server.addUITool(
            Tool(
                "clock", description: "Shows the server's clock.",
                inputSchema: [
                    "type": "object", "properties": ["label": label], "additionalProperties": false,
                ], outputSchema: time, annotations: readOnly), resourceURI: ClockView.uri
        ) { _, context in
            var result = now()
            if !context.clientSupportsUI {
                result.content.append(.text("A client that supports views shows a clock."))
            }
            return result
        }
        try server.addAppTool(
            Tool(
                "clock_tick", description: "Returns the time for the clock.", outputSchema: time,
                annotations: readOnly)
        ) { _, _ in now() }
    }

    private static func now() -> CallToolResult {
        let time = WallTime.now.description
        return CallToolResult(content: [.text("It is \(time).")], structuredContent: ["time": .string(time)])
    }

    // MARK: Conformance

    private static func registerConformance(on server: MCPServer) throws(RegistrationError) {
        try server.addUIResource(
            ConformanceView.uri, name: "conformance", html: ConformanceView.html,
            csp: UICSPDomains(connect: [ConformanceView.declared]))
        try server.addUIResource(
            ConformanceView.defaultURI, name: "conformance-default", html: ConformanceView.html)
        try addRun(
            "run_conformance", "Checks the host of views, with a declared origin.",
            ConformanceView.uri, on: server)
        try addRun(
            "run_conformance_default", "Checks the host of views, with nothing declared.",
            ConformanceView.defaultURI, on: server)
        try server.addAppTool(
            Tool(
                "conformance_probe", description: "Returns its arguments to a view.",
                inputSchema: ["type": "object"], annotations: readOnly)
        ) { call, _ in
            var result = CallToolResult.structured(call.arguments.value)
            result.meta = ["demo/probe": "echo"]
            return result
        }
        let record = ConformanceRecord()
        let list: JSONValue = [
            "type": "array", "items": ["type": "string", "maxLength": 64],
            "maxItems": JSONValue(ConformanceView.ids.count),
        ]
        try server.addAppTool(
            Tool(
                "conformance_record", description: "Returns the checks passed in all runs, these included.",
                inputSchema: ["type": "object", "properties": ["passed": list], "required": ["passed"]],
                annotations: readOnly)
        ) { call, context in
            let passed = call.arguments["passed"]?.value.arrayValue?.compactMap(\.stringValue) ?? []
            let known = Set(passed).intersection(ConformanceView.ids)
            let all = record.add(Array(known), by: context.clientInfo?.name ?? "")
            return .structured(["passed": .array(all.map { .string($0) })])
        }
        try server.addUITool(
            Tool("model_only_probe", description: "A tool that no view may call.", annotations: readOnly),
            resourceURI: ConformanceView.uri, visibility: [.model]
        ) { _, _ in .text("Called by a model.") }
    }

    private static func addRun(
        _ name: String, _ description: String, _ uri: String, on server: MCPServer
    ) throws(RegistrationError) {
        let origin: JSONValue = [
            "type": "string",
            "description": "An address on http://127.0.0.1 that responds, for the positive control",
        ]
        let seconds: JSONValue = [
            "type": "number", "minimum": 0, "maximum": 60, "description": "How long to wait",
        ]
        let tool = Tool(
            name, description: description,
            inputSchema: [
                "type": "object", "properties": ["origin": origin, "seconds": seconds],
                "additionalProperties": false,
            ], annotations: readOnly)
        try server.addUITool(tool, resourceURI: uri, timeout: .seconds(90)) { call, context in
            try await Task.sleep(for: .seconds(call.arguments["seconds"]?.double ?? 0))
            let hasUI = context.clientSupportsUI
            return CallToolResult(
                content: [.text(hasUI ? "The page shows what it found." : "This needs a client with views.")],
                structuredContent: ["clientSupportsUI": .bool(hasUI)])
        }
    }
}
