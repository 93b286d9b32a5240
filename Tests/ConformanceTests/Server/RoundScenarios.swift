import MCPCore
import TestSupport
import Testing

/// Calls that take several rounds (`input-required-result-…`).
@Suite("server: input-required-result", .timeLimit(.minutes(5))) struct RoundScenarios {
    private static let toolPrefix = "test_input_required_result_"

    /// One round.
    private func round(
        _ client: AskedClient, _ tool: String, _ responses: JSONValue? = nil, state: JSONValue? = nil
    ) async -> RawReply {
        var params: JSONObject = ["name": .string(Self.toolPrefix + tool), "arguments": [:]]
        if let responses { params["inputResponses"] = responses }
        if let state { params["requestState"] = state }
        return await client.raw.request("tools/call", params)
    }

    /// The result of a round that asks for more.
    private func asking(_ reply: RawReply, _ location: SourceLocation = #_sourceLocation) throws -> JSONValue
    {
        let result = try #require(reply.result?.value, "\(reply)", sourceLocation: location)
        #expect(result["resultType"] == "input_required", sourceLocation: location)
        #expect(result["inputRequests"]?.objectValue?.isEmpty == false, sourceLocation: location)
        #expect(result["ttlMs"] == nil && result["cacheScope"] == nil, sourceLocation: location)
        return result
    }

    private func accept(_ content: JSONValue) -> JSONValue { ["action": "accept", "content": content] }

    private static let said: JSONValue = [
        "role": "assistant", "content": ["type": "text", "text": "The capital of France is Paris."],
        "model": "test-model", "stopReason": "endTurn",
    ]
    private static let roots: JSONValue = [
        "roots": [["uri": "file:///test/root", "name": "Test Root"]]
    ]

    // Also input-required-result-result-type: the one says input_required, the other complete.
    // TOOL-25, MRTR-01, MRTR-03, MRTR-04
    @Test(
        "basic-elicitation, basic-sampling, basic-list-roots, request-state, result-type",
        arguments: [
            ("elicitation", "user_name", "elicitation/create", "Hello, Alice!"),
            ("sampling", "capital_question", "sampling/createMessage", "The capital of France is Paris."),
            ("list_roots", "client_roots", "roots/list", "file:///test/root"),
            ("request_state", "confirm", "elicitation/create", "state-ok"),
        ])
    func basic(tool: String, key: String, method: String, answer: String) async throws {
        let responses: [String: JSONValue] = [
            "user_name": accept(["name": "Alice"]), "capital_question": Self.said,
            "client_roots": Self.roots, "confirm": accept(["ok": true]),
        ]
        try await withSuiteClient(SuiteRun.stateless) { client in
            let first = try asking(await round(client, tool))
            #expect(first["inputRequests"]?.objectValue?.keys.map { $0 } == [key])
            #expect(first["inputRequests"]?[key]?["method"]?.stringValue == method)
            #expect(first["requestState"]?.isFilled == true)
            let last = await round(
                client, tool, .object([key: try #require(responses[key])]), state: first["requestState"])
            #expect(last.status == 200)
            #expect(last.result?["resultType"]?.string == "complete")
            #expect(last.text.contains(answer), "\(last.text)")
        }
    }

    @Test("multiple-input-requests") func multipleInputs() async throws {
        try await withSuiteClient(SuiteRun.stateless) { client in
            let first = try asking(await round(client, "multiple_inputs"))
            let requests = try #require(first["inputRequests"]?.objectValue)
            #expect(requests["user_name"]?["method"] == "elicitation/create")
            #expect(requests["greeting"]?["method"] == "sampling/createMessage")
            #expect(requests["client_roots"]?["method"] == "roots/list")
            #expect(first["requestState"]?.isFilled == true)
            let last = await round(
                client, "multiple_inputs",
                [
                    "user_name": accept(["name": "Alice"]), "greeting": Self.said,
                    "client_roots": Self.roots,
                ], state: first["requestState"])
            #expect(last.result?["resultType"]?.string == "complete")
            #expect(last.text == "The capital of France is Paris. Alice, with 1 roots")
        }
    }

    // MRTR-08
    @Test("multi-round") func multiRound() async throws {
        try await withSuiteClient(SuiteRun.stateless) { client in
            let first = try asking(await round(client, "multi_round"))
            #expect(
                first["inputRequests"]?["step1"]?["params"]?["message"] == "Step 1: What is your name?")
            let second = try asking(
                await round(
                    client, "multi_round", ["step1": accept(["name": "Alice"])],
                    state: first["requestState"]))
            #expect(
                second["inputRequests"]?["step2"]?["params"]?["message"]
                    == "Step 2: What is your favorite color?")
            #expect(second["inputRequests"]?["step1"] == nil)
            #expect(first["requestState"]?.isFilled == true)
            #expect(second["requestState"]?.isFilled == true)
            #expect(second["requestState"] != first["requestState"])
            let last = await round(
                client, "multi_round", ["step2": accept(["color": "blue"])], state: second["requestState"])
            #expect(last.result?["resultType"]?.string == "complete")
            #expect(last.text == "Alice likes blue")
        }
    }

    // MRTR-12; the state is left out here, as the suite leaves it out.
    @Test("missing-input-response") func missingResponse() async throws {
        try await withSuiteClient(SuiteRun.stateless) { client in
            let result = try asking(
                await round(client, "elicitation", ["wrong_key": accept(["data": "wrong"])]))
            #expect(result["inputRequests"]?["user_name"] != nil)
        }
    }

    // MRTR-12; the suite knows the question and answers it before it is asked, without a state.
    @Test("ignore-extra-params") func extraResponses() async throws {
        let responses: JSONValue = [
            "user_name": accept(["name": "Alice"]), "unknown_extra_key": accept(["foo": "bar"]),
            "another_unexpected": accept(["baz": 123]),
        ]
        try await withSuiteClient(SuiteRun.stateless) { client in
            let first = try asking(await round(client, "elicitation"))
            for state in [nil, first["requestState"]] {
                let last = await round(client, "elicitation", responses, state: state)
                #expect(last.result?["resultType"]?.string == "complete")
                #expect(last.text == "Hello, Alice!")
            }
        }
    }

    // MRTR-12
    @Test("validate-input", arguments: [["user_name": 12345], .null] as [JSONValue])
    func invalidInput(_ responses: JSONValue) async throws {
        try await withSuiteClient(SuiteRun.stateless) { client in
            let first = try asking(await round(client, "elicitation"))
            for state in [first["requestState"], nil] {
                let reply = await round(client, "elicitation", responses, state: state)
                #expect(
                    reply.errorCode != nil || reply.result?["resultType"]?.string == "input_required",
                    "\(reply)")
            }
        }
    }

    // MRTR-09
    @Test("tampered-state") func tamperedState() async throws {
        try await withSuiteClient(SuiteRun.stateless) { client in
            let first = try asking(await round(client, "tampered_state"))
            let state = try #require(first["requestState"]?.stringValue)
            let key = try #require(first["inputRequests"]?.objectValue?.keys.first)
            let responses = JSONValue.object([key: accept(["ok": true])])
            let bad = await round(client, "tampered_state", responses, state: .string(state + "-TAMPERED"))
            #expect(bad.errorCode == -32602)
            #expect(bad.result == nil)
            let good = await round(client, "tampered_state", responses, state: .string(state))
            #expect(good.result?["resultType"]?.string == "complete")
        }
    }

    // MRTR-05, CAP-01
    @Test("capability-check") func capabilityCheck() async throws {
        try await withSuiteClient(SuiteRun.stateless, capabilities: ["sampling": [:]]) { client in
            let first = try asking(await round(client, "capabilities"))
            let requests = try #require(first["inputRequests"]?.objectValue)
            #expect(!requests.values.contains { $0["method"] == "elicitation/create" })
        }
    }

    // PROM-07
    @Test("non-tool-request") func prompt() async throws {
        let name: JSONValue = "test_input_required_result_prompt"
        try await withSuiteClient(SuiteRun.stateless) { client in
            let first = try asking(await client.raw.request("prompts/get", ["name": name]))
            #expect(first["inputRequests"]?["user_context"]?["method"] == "elicitation/create")
            var params: JSONObject = [
                "name": name, "inputResponses": ["user_context": accept(["context": "test context"])],
            ]
            params["requestState"] = first["requestState"]
            let last = try await client.raw.result("prompts/get", params)
            #expect(last["resultType"] == "complete")
            #expect(last["messages"]?[0]?["content"]?["text"] == "Context: test context")
        }
    }

    // MRTR-02
    @Test("unsupported-methods") func listsAskNothing() async throws {
        try await withSuiteClient(SuiteRun.stateless) { client in
            for method in ["tools/list", "prompts/list", "resources/list"] {
                let result = try await client.raw.result(method)
                #expect(result["resultType"] == "complete")
            }
        }
    }
}
