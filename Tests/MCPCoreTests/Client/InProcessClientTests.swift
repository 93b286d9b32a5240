import MCPCore
import Synchronization
import TestSupport
import Testing

/// The whole typed API against a server in the same process, in every revision.
@Suite struct InProcessClientTests {
    struct Sum: Codable, Sendable, Equatable { var sum: Int }

    /// - Parameters:
    ///   - started: opened when `sleep` begins.
    ///   - cancelled: opened when `sleep` is cancelled.
    static func server(started: Gate = Gate(), cancelled: Gate = Gate()) throws -> MCPServer {
        let server = MCPServer("calc", version: "1.0", instructions: "Use add.")
        try server.register(Tool("add", inputSchema: ["type": "object"])) { call, _ in
            .structured([
                "sum": .number(JSONNumber((call.arguments["a"]?.int ?? 0) + (call.arguments["b"]?.int ?? 0)))
            ])
        }
        try server.register(Tool("text", inputSchema: ["type": "object"])) { call, _ in
            .text(call.arguments["text"]?.string ?? "")
        }
        try server.register(Tool("fail", inputSchema: ["type": "object"])) { _, _ in .error("it failed") }
        try server.register(Tool("steps", inputSchema: ["type": "object"])) { _, context in
            for step in 1 ... 3 { await context.progress(Double(step), total: 3) }
            return .text("done")
        }
        try server.register(Tool("sleep", inputSchema: ["type": "object"])) { _, _ in
            started.open()
            do {
                try await Task.sleep(for: .seconds(60))
            } catch {
                cancelled.open()
            }
            return .text("late")
        }
        try server.register(Resource("mem://a", name: "a")) { _ in [.text("hello", uri: "mem://a")] }
        try server.register(ResourceTemplate("mem://t/{x}", name: "t")) { uri, variables, _ in
            [.text(variables["x"] ?? "", uri: uri)]
        }
        try server.register(Prompt("greet", arguments: [PromptArgument("who", required: true)])) {
            arguments, _ in
            GetPromptResult([.user("Hello \(arguments["who"] ?? "")")])
        }
        return server
    }

    static let choices: [ClientOptions.ProtocolChoice] =
        [.auto] + ProtocolVersion.known.map { .exactly($0) }

    // JRPC-29, VER-11, LIFE-08
    @Test(arguments: choices) func everything(_ choice: ClientOptions.ProtocolChoice) async throws {
        var options = ClientOptions()
        options.protocol = choice
        let client = try await MCPClient.connect(
            ClientTarget.inProcess(try Self.server()).recorded([.client, .server]), options: options)
        if case .exactly(let version) = choice { #expect(client.protocolVersion == version) }
        #expect(client.serverInfo?.name == "calc")
        #expect(client.instructions == "Use add.")
        #expect(client.serverCapabilities.hasTools)

        #expect(try await client.listTools().map(\.name) == ["add", "text", "fail", "steps", "sleep"])
        var names: [String] = []
        for try await tool in client.tools { names.append(tool.name) }
        #expect(names.count == 5)
        #expect(try await client.call("add", ["a": 2, "b": 3]) == Sum(sum: 5))
        #expect(try await client.callTool("add", encoding: ["a": 1, "b": 1]).text == #"{"sum":2}"#)
        #expect(try await client.call("text", ["text": "hi"], as: String.self) == "hi")
        #expect(try await client.call("text", ["text": "[1,2]"], as: [Int].self) == [1, 2])
        await #expect(throws: ToolError("it failed")) { try await client.call("fail", as: String.self) }
        #expect(try await client.callTool("fail").isError)

        #expect(try await client.listResources().map(\.uri) == ["mem://a"])
        #expect(try await client.listResourceTemplates().map(\.uriTemplate) == ["mem://t/{x}"])
        #expect(try await client.readResource("mem://t/y").first?.text == "y")  // RES-20
        #expect(try await client.listPrompts().map(\.name) == ["greet"])
        let prompt = try await client.getPrompt("greet", ["who": "Bob"])
        #expect(prompt.messages.first?.content.text == "Hello Bob")
        await #expect(throws: MCPError.self) { try await client.readResource("mem://none") }
        #expect(try await client.ping() > .zero)
        await client.close()
    }

    @Test(arguments: choices) func progressAndCancellation(_ choice: ClientOptions.ProtocolChoice)
        async throws
    {
        var options = ClientOptions()
        options.protocol = choice
        let (started, cancelled) = (Gate(), Gate())
        let server = try Self.server(started: started, cancelled: cancelled)
        let client = try await MCPClient.connect(
            ClientTarget.inProcess(server).recorded([.client, .server]), options: options)
        let seen = Mutex<[Double]>([])
        _ = try await client.callTool(
            "steps", options: CallOptions { progress in seen.withLock { $0.append(progress.progress) } })
        #expect(seen.withLock { $0 } == [1, 2, 3])

        let error = await clientError {
            _ = try await client.callTool("sleep", options: CallOptions(timeout: .milliseconds(30)))
        }
        #expect(error?.kind == .timeout)
        let call = Task { try await client.callTool("sleep") }
        #expect(await started.wait())
        call.cancel()
        #expect(await cancelled.wait())
        // The connection goes on.
        #expect(try await client.call("text", ["text": "x"], as: String.self) == "x")
        await client.close()
        let late = await clientError { _ = try await client.callTool("text") }
        #expect(late?.kind == .connectionClosed)
    }

    @Test func resultsOfAnotherShape() async throws {
        let server = MCPServer("s", version: "1")
        try server.register(Tool("wrapped", inputSchema: ["type": "object"])) { _, _ in
            .structured(["result": 7])
        }
        try server.register(Tool("two", inputSchema: ["type": "object"])) { _, _ in
            CallToolResult(content: [.text("a"), .text("b")])
        }
        let client = try await MCPClient.connect(ClientTarget.inProcess(server).recorded([.client, .server]))
        #expect(try await client.call("wrapped") == 7)
        let shape = await clientError { _ = try await client.call("wrapped", as: Sum.self) }
        #expect(shape?.kind == .protocolViolation)
        let none = await clientError { _ = try await client.call("two", as: String.self) }
        #expect(none?.kind == .protocolViolation)
        await client.close()
    }
}
