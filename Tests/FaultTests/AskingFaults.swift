import MCPCore
import TestSupport
import Testing

/// Questions to clients, and streams that stay open: rows 34, 45 and 46.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(5))) struct AskingFaults {
    private static func asking() throws -> MCPServer {
        let server = MCPServer("test", version: "1")
        try server.register(Tool("greet")) { _, context in
            let form = ElicitationSchema([.string("name", required: true)])
            let answer = try await context.elicit("Who are you?", form, key: "who")
            return .text("Hello, \(answer.content?["name"]?.stringValue ?? "nobody")!")
        }
        return server
    }

    private static func call(_ members: String = "", capabilities: String = #"{"elicitation":{}}"#) -> Post {
        let text = Message.modern(
            id: "1", "tools/call",
            (members.isEmpty ? "" : members + ",") + #""name":"greet","arguments":{}"#)
        return Post(
            text.replacing(
                #""io.modelcontextprotocol/clientCapabilities":{}"#,
                with: #""io.modelcontextprotocol/clientCapabilities":"# + capabilities),
            name: "greet")
    }

    // CAP-04, ERR-10
    @Test("fault 34: a capability of the client is missing") func fault34() async throws {
        try await LocalServer.serve(Self.asking()) { port in
            let connection = try WireConnection(port: port)
            for capabilities in ["{}", #"{"elicitation":{"url":{}}}"#, #"{"sampling":{}}"#] {
                let response = try connection.ask(Self.call(capabilities: capabilities))
                #expect(response.status == 400)
                #expect(response.message?.code == -32021)
                let required = response.message?["error"]?["data"]?["requiredCapabilities"]
                #expect(required?["elicitation"] != nil, "\(String(describing: response.message))")
            }
            #expect(try connection.ask(Self.call()).status == 200)
        }
    }

    private static func answer(_ state: String) -> String {
        let answers = #"{"who":{"action":"accept","content":{"name":"Ada"}}}"#
        return #""inputResponses":\#(answers),"requestState":"\#(state)""#
    }

    // MRTR-09, MRTR-10
    @Test("fault 45: requestState that was tampered with, or comes from elsewhere") func fault45()
        async throws
    {
        try await LocalServer.serve(Self.asking()) { port in
            let connection = try WireConnection(port: port)
            func state() throws -> String {
                let first = try connection.ask(Self.call()).message?["result"]
                #expect(first?["resultType"] == "input_required")
                return first?["requestState"]?.stringValue ?? ""
            }
            let good = try state()
            #expect(good.utf8.count > 40)
            var bent = Array(good.utf8)
            bent[bent.count / 2] = bent[bent.count / 2] == 0x41 ? 0x42 : 0x41
            let bad = [
                String(decoding: bent, as: UTF8.self), String(good.dropLast()), good + "A", "", "e30",
                String(repeating: "A", count: 100_000), #"{\"v\":1}"#, "\\u0000",
            ]
            for state in bad {
                let response = try connection.ask(Self.call(Self.answer(state)))
                #expect(response.message?.code == -32602, "\(state.prefix(80))")
                #expect(response.status == 200)
            }
            // It is good for what it was given out for, once.
            let other = Self.answer(good).replacing("Ada", with: "Eve")
            #expect(try connection.ask(Self.call(other)).message?.text == "Hello, Eve!")
            #expect(try connection.ask(Self.call(Self.answer(good))).message?.code == -32602)
            // Another server, even of the same program, did not give it out.
            let fresh = try state()
            try await LocalServer.serve(Self.asking()) { port in
                let response = try WireConnection(port: port).ask(Self.call(Self.answer(fresh)))
                #expect(response.message?.code == -32602)
            }
            #expect(try connection.ask(Self.call(Self.answer(fresh))).message?.text == "Hello, Ada!")
        }
    }

    // SUB-02, SEC-03
    @Test("fault 46: 10,000 subscriptions of one client") func fault46() throws {
        let process = try StdioProcess()
        try process.expectAlive()
        let before = ServerProgram.memory(of: process.pid, "VmRSS")
        let filter = #""notifications":{"toolsListChanged":true}"#
        let lines = (0 ..< 10_000).map { Message.modern(id: "\($0)", "subscriptions/listen", filter) }
        try process.send(Array(lines.joined(separator: "\n").utf8) + [0x0A])
        var acknowledged = 0
        var refused = 0
        while acknowledged + refused < 10_000 {
            let message = try process.answer()
            if message["method"] == "notifications/subscriptions/acknowledged" {
                acknowledged += 1
            } else {
                #expect(message.code == MCPError.overloadedCode, "\(message)")
                refused += 1
            }
        }
        #expect(acknowledged == ServerLimits().maxRequestsInFlight)
        if let before, let after = ServerProgram.memory(of: process.pid, "VmRSS") {
            #expect(after - before < 4_096, "\(after - before) KiB")
        }
        // Each of them takes a place; one that ends gives it back.
        try process.send(line: Message.cancel("0"))
        try process.expectAlive()
        // They end with the input, each with its result.
        let ends = try process.finish()
        #expect(ends.filter { $0["result"]?["resultType"] == "complete" }.count == acknowledged - 1)
    }
}
