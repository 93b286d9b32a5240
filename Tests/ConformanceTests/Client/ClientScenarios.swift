import MCPCore
import Synchronization
import TestSupport
import Testing

/// Scenarios in which the suite's mock looks at what a client does.
@Suite("client", .timeLimit(.minutes(5))) struct ClientScenarios {
    static let versions = ["2025-11-25", "2026-07-28"]

    @Test("a scenario that does not exist") func unknownScenario() async throws {
        let outcome = try await ClientFixture.run("nothing", "2026-07-28", at: "http://localhost:1/mcp")
        #expect(outcome.code == 1)
        #expect(outcome.errors == "conformance-client: the scenario nothing is not known\n")
    }

    @Test("initialize") func initialize() async throws {
        let server = try MockServer(
            "2025-11-25", capabilities: [:], ["tools/list": MockServer.tools()]
        ) { heard, _ in
            // This mock has no streams, and answers notifications with a body that has no id.
            if heard.method == "GET" { return .json(#"{"jsonrpc":"2.0"}"#, status: 400) }
            guard heard.rpcMethod.hasPrefix("notifications/") else { return nil }
            return .json(#"{"jsonrpc":"2.0","result":{}}"#)
        }
        try await server.run("initialize")
        let params = try #require(server.posts("initialize").first).params
        #expect(params["protocolVersion"] == "2025-11-25")
        #expect(params["clientInfo"]?["name"]?.isFilled == true)
        #expect(params["clientInfo"]?["version"]?.isFilled == true)
        #expect(server.posts("notifications/initialized").count == 1)
    }

    @Test("tools_call", arguments: versions) func toolsCall(_ version: String) async throws {
        let number: JSONValue = ["type": "number"]
        let server = try MockServer(
            version,
            [
                "tools/list": MockServer.tools(
                    MockServer.tool("add_numbers", ["a": number, "b": number], required: ["a", "b"])),
                "tools/call": MockServer.text("The sum of 5 and 3 is 8"),
            ])
        try await server.run("tools_call")
        #expect(server.posts("tools/list").count == 1)
        let call = try #require(server.calls("add_numbers").first)
        #expect(call.params["arguments"]?["a"]?.doubleValue != nil)
        #expect(call.params["arguments"]?["b"]?.doubleValue != nil)
        guard version >= "2026-07-28" else {
            #expect(server.posts("initialize").count == 1)
            return
        }
        #expect(server.posts("initialize").isEmpty)
        for post in server.posts { expectModern(post) }
    }

    /// What the suite's mock of 2026-07-28 refuses a request for.
    private func expectModern(_ post: MockServer.Heard, _ location: SourceLocation = #_sourceLocation) {
        let meta = post.meta
        let version = meta["io.modelcontextprotocol/protocolVersion"]?.stringValue
        #expect(version == "2026-07-28", sourceLocation: location)
        #expect(post.header("mcp-protocol-version") == version, sourceLocation: location)
        let capabilities = meta["io.modelcontextprotocol/clientCapabilities"]
        #expect(capabilities?.isObject == true, sourceLocation: location)
        #expect(
            meta["io.modelcontextprotocol/clientInfo"]?["name"]?.isFilled == true, sourceLocation: location)
    }

    @Test("elicitation-sep1034-client-defaults") func elicitationDefaults() async throws {
        let question: JSONValue = [
            "jsonrpc": "2.0", "id": "ask-1", "method": "elicitation/create",
            "params": [
                "message": "Test client default value handling - please accept with defaults",
                "requestedSchema": [
                    "type": "object",
                    "properties": [
                        "name": ["type": "string", "description": "User name", "default": "John Doe"],
                        "age": ["type": "integer", "description": "User age", "default": 30],
                        "score": ["type": "number", "description": "User score", "default": 95.5],
                        "status": [
                            "type": "string", "enum": ["active", "inactive", "pending"],
                            "default": "active",
                        ],
                        "verified": ["type": "boolean", "default": true],
                    ],
                    "required": [],
                ],
            ],
        ]
        let call = Mutex<(id: String, connection: Int)?>(nil)
        let tool = "test_client_elicitation_defaults"
        let server = try MockServer(
            "2025-11-25", ["tools/list": MockServer.tools(MockServer.tool(tool))]
        ) { heard, server in
            if heard.rpcMethod == "tools/call" {
                call.withLock { $0 = (heard.id, heard.connection) }
                return .events(server.event(question), end: false, then: .hang)
            }
            if heard.body?["id"]?.string == "ask-1", let call = call.withLock({ $0 }) {
                let result = MockServer.text("Elicitation completed").serialized()
                server.finish(
                    "data: {\"jsonrpc\":\"2.0\",\"id\":\(call.id),\"result\":\(result)}\n\n",
                    on: call.connection)
            }
            return nil
        }
        try await server.run("elicitation-sep1034-client-defaults")
        let hello = try #require(server.posts("initialize").first)
        #expect(hello.params["capabilities"]?["elicitation"]?.isObject == true)
        let answer = try #require(server.posts.first { $0.body?["id"]?.string == "ask-1" })
        #expect(answer.body?["result"]?["action"]?.string == "accept")
        #expect(
            answer.body?["result"]?["content"]?.value == [
                "name": "John Doe", "age": 30, "score": 95.5, "status": "active", "verified": true,
            ])
    }

    // The suite's window ends at 700 ms, which a busy machine may miss: tests with a clock moved by hand show that
    // the client is not late.
    @Test("sse-retry") func retry() async throws {
        let call = Mutex<(id: String, end: ContinuousClock.Instant)?>(nil)
        let tool = "test_reconnection"
        let server = try MockServer(
            "2025-11-25", handshake: "2025-03-26", capabilities: [:],
            ["tools/list": MockServer.tools(MockServer.tool(tool))]
        ) { heard, _ in
            if heard.rpcMethod == "tools/call" {
                call.withLock { $0 = (heard.id, .now) }
                return .events("id: event-1\nretry: 500\ndata: \n\n")
            }
            guard heard.method == "GET", let call = call.withLock({ $0 }),
                heard.header("last-event-id") != nil
            else { return nil }
            let result = MockServer.text("Reconnected").serialized()
            return .events(
                "event: message\nid: event-3\n"
                    + "data: {\"jsonrpc\":\"2.0\",\"id\":\(call.id),\"result\":\(result)}\n\n")
        }
        try await server.run("sse-retry", at: server.bareURL)
        let end = try #require(call.withLock { $0?.end })
        let again = try #require(server.heard.first { $0.method == "GET" && $0.at > end })
        #expect(again.header("last-event-id") == "event-1")
        #expect(end.duration(to: again.at) >= .milliseconds(450))
    }

    @Test("request-metadata") func requestMetadata() async throws {
        let isFirst = Mutex(true)
        let server = try MockServer(
            "2026-07-28", capabilities: [:],
            ["tools/list": MockServer.tools(MockServer.tool("any")), "tools/call": ["content": []]]
        ) { heard, _ in
            guard heard.method == "POST" else { return .status(405, headers: "Allow: POST\r\n") }
            let refuses = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard refuses else { return nil }
            return .json(
                #"{"jsonrpc":"2.0","id":\#(heard.id),"error":{"code":-32022,"message":"Unsupported","#
                    + #""data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}}"#,
                status: 400)
        }
        try await server.run("request-metadata", at: server.bareURL)
        #expect(server.posts.count >= 4)
        #expect(server.posts.dropFirst().first?.rpcMethod == server.posts.first?.rpcMethod)
        #expect(!server.posts("tools/list").isEmpty)
        #expect(!server.posts("tools/call").isEmpty)
        for post in server.posts {
            expectModern(post)
            let capabilities = post.meta["io.modelcontextprotocol/clientCapabilities"]
            for name in ["roots", "sampling", "elicitation"] {
                #expect(capabilities?[name]?.isObject == true, "\(name)")
            }
        }
    }

    // MRTR-13, MRTR-14, MRTR-15
    @Test("sep-2322-client-request-state") func requestState() async throws {
        // A client that reads and writes the state anew would change it.
        let state = #"{ "nonce" : "c2VjcmV0", "originalId":1.0 }"#
        let form: JSONValue = [
            "confirm": [
                "method": "elicitation/create",
                "params": [
                    "message": "Please confirm to continue",
                    "requestedSchema": [
                        "type": "object", "properties": ["confirmed": ["type": "boolean"]],
                    ],
                ],
            ]
        ]
        let names = [
            "test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type",
        ]
        let server = try MockServer(
            "2026-07-28", ["tools/list": ["tools": .array(names.map { MockServer.tool($0) })]]
        ) { heard, _ in
            guard heard.rpcMethod == "tools/call" else { return nil }
            let name = heard.params["name"]?.stringValue ?? ""
            var result = MockServer.text("done").objectValue ?? [:]
            if name != "test_mrtr_no_result_type" { result["resultType"] = "complete" }
            if ["test_mrtr_echo_state", "test_mrtr_no_state"].contains(name),
                heard.params["inputResponses"] == nil
            {
                result = ["resultType": "input_required", "inputRequests": form]
                if name == "test_mrtr_echo_state" { result["requestState"] = .string(state) }
            }
            return .result(heard, JSONValue.object(result).serialized())
        }
        try await server.run("sep-2322-client-request-state")
        let echo = server.calls("test_mrtr_echo_state")
        #expect(echo.count == 2)
        #expect(echo.last?.params["requestState"]?.stringValue == state)
        #expect(echo.last?.params["inputResponses"]?["confirm"]?["action"] == "accept")
        #expect(Set(echo.map(\.id)).count == 2)
        let stateless = server.calls("test_mrtr_no_state")
        #expect(stateless.count == 2)
        #expect(stateless.last?.params["inputResponses"] != nil)
        #expect(stateless.last?.params["requestState"] == nil)
        let unrelated = try #require(server.calls("test_mrtr_unrelated").first)
        #expect(unrelated.params["inputResponses"] == nil)
        #expect(unrelated.params["requestState"] == nil)
        #expect(server.calls("test_mrtr_no_result_type").count == 1)
    }
}
