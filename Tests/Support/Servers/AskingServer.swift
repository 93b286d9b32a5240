package import MCPCore
import Synchronization

/// A server whose handlers ask their client.
package final class AskingServer: Sendable {
    package let server: MCPServer
    /// How often the handlers began.
    package let runs = Counter()
    /// How often a handler was given up while it asked.
    package let abandoned = Counter()
    package let begun = Gate()
    /// Lets `slow` end.
    package let release = Gate()
    private let lines = Mutex<[String]>([])

    /// What was logged.
    package var log: [String] { lines.withLock { $0 } }

    package static let nameForm = ElicitationSchema([.string("name", minLength: 2, required: true)])

    package init(_ options: ServerOptions = ServerOptions(), stateKey: [UInt8]? = nil) throws {
        var options = options
        options.stateKey = stateKey ?? options.stateKey
        let lines = Lines()
        options.log = { lines.add($0) }
        server = MCPServer("asking", version: "1", options: options)
        lines.onAdd { [weak self] line in self?.lines.withLock { $0.append(line) } }
        try addForms()
        try addOthers()
        try addOddities()
        try addPromptAndResource()
    }

    private final class Lines: Sendable {
        private let body = Callback<@Sendable (String) -> Void>()
        func onAdd(_ body: @escaping @Sendable (String) -> Void) { self.body.set(body) }
        func add(_ line: String) { body.current?(line) }
    }

    private func add(
        _ name: String, _ body: @escaping @Sendable (ToolCall, RequestContext) async throws -> String
    ) throws {
        try server.register(Tool(name, inputSchema: ["type": "object"])) { [runs] call, context in
            runs.increment()
            return .text(try await body(call, context))
        }
    }

    private func addForms() throws {
        try add("greet") { _, context in
            let result = try await context.elicit("What is your name?", Self.nameForm, key: "user_name")
            guard result.action == .accept else { return "You said \(result.action.rawValue)" }
            return "Hello, \(result.content?["name"]?.stringValue ?? "")!"
        }
        try add("steps") { _, context in
            let name = try await context.elicit("Step 1", Self.nameForm).content?["name"]?.stringValue ?? ""
            let color = try await context.elicit(
                "Step 2, \(name)", ElicitationSchema([.string("color", required: true)]))
            return "\(name) likes \(color.content?["color"]?.stringValue ?? "")"
        }
        try add("page") { _, context in
            let result = try await context.elicit("Sign in", url: "https://example.com/in?x=1", key: "page")
            context.notifyElicitationCompleted("visit-1")
            return result.action.rawValue
        }
        try add("keeps") { _, context in
            let before = context.state?.stringValue ?? "nothing"
            let answers = try await context.ask(
                ["confirm": .elicit("Please confirm", ElicitationSchema([.boolean("ok", required: true)]))],
                state: "half-done")
            let ok = try answers.elicitation("confirm").content?["ok"]?.boolValue == true
            return "\(before), \(context.state?.stringValue ?? ""), \(ok)"
        }
    }

    private func addOthers() throws {
        try add("capital") { _, context in
            let request = CreateMessageRequest("What is the capital of France?", maxTokens: 100)
            return try await context.sample(request).text ?? "-"
        }
        try add("where") { _, context in
            try await context.roots().map(\.uri).joined(separator: ",")
        }
        try add("all") { _, context in
            let answers = try await context.ask([
                "user_name": .elicit("Name?", Self.nameForm),
                "greeting": .sample(CreateMessageRequest("Generate a greeting", maxTokens: 50)),
                "client_roots": .roots,
            ])
            let greeting = try answers.sampling("greeting").text ?? ""
            let name = try answers.elicitation("user_name").content?["name"]?.stringValue ?? ""
            return "\(greeting) \(name) \(try answers.roots("client_roots").map(\.uri))"
        }
        try add("without_forms") { _, context in
            async let greeting = context.sample(CreateMessageRequest("Hi", maxTokens: 5), key: "a")
            async let roots = context.roots(key: "b")
            return "\(try await greeting.text ?? "") \(try await roots.count)"
        }
    }

    private func addOddities() throws {
        try add("swallows") { _, context in
            let result = try? await context.elicit("Name?", Self.nameForm)
            return "got \(result?.action.rawValue ?? "nothing")"
        }
        try add("falls_back") { _, context in
            do {
                return try await context.elicit("Name?", Self.nameForm).action.rawValue
            } catch {
                guard error is ToolError || (error as? MCPError)?.code == -32021 else { throw error }
                return "without a name"
            }
        }
        try add("code") { _, context in
            do {
                return try await context.roots().description
            } catch let error as MCPError { return "\(error.code) \(error.message)" }
        }
        try add("needs_sampling") { _, context in
            try context.require(ClientCapabilities(sampling: true))
            return "fine"
        }
        try add("many") { call, context in
            let count = call.arguments["count"]?.int ?? 0
            let requests = (0 ..< count).map { ("k\($0)", InputRequest.roots) }
            _ = try await context.ask(Dictionary(uniqueKeysWithValues: requests))
            return "done"
        }
        try add("hoards") { call, context in
            _ = try await context.ask(
                ["a": .roots],
                state: .string(String(repeating: "x", count: call.arguments["bytes"]?.int ?? 0)))
            return "kept \(context.state?.stringValue?.count ?? 0)"
        }
        try add("slow") { [begun, release, abandoned] _, context in
            let roots = try await context.roots(key: "r").count
            begun.open()
            guard await release.wait() else {
                abandoned.increment()
                throw CancellationError()
            }
            return "\(roots)"
        }
        try add("waits") { [begun, abandoned] _, context in
            begun.open()
            do {
                return try await context.roots().description
            } catch is CancellationError {
                abandoned.increment()
                throw CancellationError()
            }
        }
    }

    private func addPromptAndResource() throws {
        try server.register(Prompt("ask")) { _, context in
            let result = try await context.elicit("What context?", Self.nameForm, key: "user_context")
            return GetPromptResult([.user(result.content?["name"]?.stringValue ?? "none")])
        }
        try server.register(Resource("mem://asked", name: "asked")) { context in
            let result = try await context.elicit("Whose?", Self.nameForm, key: "whose")
            return [.text(result.content?["name"]?.stringValue ?? "none", uri: "mem://asked")]
        }
    }
}
