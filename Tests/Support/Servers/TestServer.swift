package import MCPCore
import Synchronization

/// A server with one of everything, and the gates that its handlers wait at.
package final class TestServer: Sendable {
    package let server: MCPServer
    /// Opened by the test: lets `wait` answer.
    package let release = Gate()
    /// How many calls of `wait` began.
    package let started = Counter()
    package let cancelled = Gate()
    private let gates = Gates()

    /// Not the test server itself: a handler that holds its server's owner keeps all three.
    private final class Gates: Sendable {
        private let byName = Mutex<[String: Gate]>([:])

        func gate(_ name: String) -> Gate {
            byName.withLock { byName in
                if let gate = byName[name] { return gate }
                let gate = Gate()
                byName[name] = gate
                return gate
            }
        }
    }

    package struct Forecast: Codable, Sendable {
        package var city: String
        package var days: Int?
    }

    package struct Weather: Codable, Sendable {
        package var city: String
        package var temperature: Double
    }

    package init(_ options: ServerOptions = ServerOptions(), clock: any TimeSource = SystemClock()) throws {
        server = MCPServer(
            "test", version: "1.2", title: "Test", instructions: "Use it.", options: options, at: clock)
        addTypedTools()
        try addPlainTools()
        try addResources()
        try server.register(
            Prompt("greet", arguments: [PromptArgument("who", required: true), PromptArgument("how")])
        ) { arguments, _ in
            GetPromptResult([.user("Hello \(arguments["who"] ?? "")"), .assistant(arguments["how"] ?? "-")])
        }
    }

    /// A gate that opens when `wait` was called with this name.
    package func begun(_ name: String) -> Gate { gates.gate(name) }

    private func addTypedTools() {
        server.addTool("add", "Adds", Argument("a"), Argument("b", "the second")) { (a: Int, b: Int?) in
            "\(a + (b ?? 0))"
        }
        server.addTool("later", "Adds later", Argument("a")) { (a: Int) async in
            await Task.yield()
            return "\(a + 1)"
        }
        server.addTool("forecast", "Weather", describe: ["city": "City name"]) { (query: Forecast, _) in
            Weather(city: query.city, temperature: 21.5)
        }
        server.addTool("fails", "Fails") { () throws -> String in throw ToolError("b must be positive") }
        server.addTool("echo", "Repeats", schema: #"{"type":"object"}"#) { arguments, _, out in
            out.text(arguments["text"])
        }
    }

    private func addPlainTools() throws {
        let anything: JSONValue = ["type": "object"]
        try server.register(Tool("steps", inputSchema: anything)) { _, context in
            for step in [1.0, 2, 2, 1, 3] { await context.progress(step, total: 3, message: "step") }
            return .text("done")
        }
        try server.register(Tool("wait", inputSchema: anything)) {
            [release, started, cancelled, gates] call, _ in
            started.increment()
            gates.gate(call.arguments["name"]?.string ?? "").open()
            guard await release.wait() else {
                cancelled.open()
                return .text("cancelled")
            }
            return .text("released \(call.arguments["name"]?.string ?? "")")
        }
        try server.registerBlocking(Tool("block", inputSchema: anything)) { call, _ in
            .text("blocked \(call.arguments["text"]?.string ?? "")")
        }
    }

    private func addResources() throws {
        try server.register(Resource("mem://a", name: "a", mimeType: "text/plain")) { _ in
            [.text("hello", uri: "mem://a")]
        }
        try server.register(Resource("mem://bytes", name: "bytes")) { _ in
            [.blob([0, 1, 255], uri: "mem://bytes")]
        }
        try server.register(ResourceTemplate("mem://item/{name}", name: "items")) { uri, variables, _ in
            guard let name = variables["name"], name != "none" else { throw MCPError.resourceNotFound(uri) }
            return [.text("item \(name)", uri: uri)]
        }
    }
}
