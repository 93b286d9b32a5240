import MCPCore
import MCPHarness
import TestSupport
import Testing

/// The same conversation with each kind of model.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ModelTests {
    private let fixture = HarnessFixture()

    /// One round with a call, and the answer.
    private func expectTheAnswer(_ model: any LanguageModel) async throws {
        let harness = try fixture.harness(model, [fixture.lookup()])
        let reply = try await harness.send("How many A-1?")
        #expect(reply.text == "There are 12.")
        #expect(reply.calls.map(\.output.text) == ["A-1: 12 in stock"])
        #expect(reply.calls.map(\.invocation.arguments) == [#"{"sku": "A-1"}"#])
        #expect(reply.usage == ModelUsage(inputTokens: 5, outputTokens: 7))
        #expect(fixture.runs.all == ["run A-1"])
    }

    // H24
    @Test func scripted() async throws {
        let usage = ModelUsage(inputTokens: 5, outputTokens: 7)
        try await expectTheAnswer(
            ScriptedModel(
                .calls(("lookup_item", #"{"sku": "A-1"}"#)),
                .events { _ in [.textDelta("There are "), .textDelta("12."), .usage(usage)] }))
    }

    // H24
    @Test func program() async throws {
        let script = #"""
            while read -r line; do
              case $line in
              *'"role":"tool"'*)
                echo '{"type":"text","delta":"There are "}'; echo '{"type":"text","delta":"12."}'
                echo '{"type":"usage","inputTokens":5,"outputTokens":7}'; echo '{"type":"stop"}';;
              *)
                echo; printf '%s\n' '{"type":"tool_call","id":"c1","name":"lookup_item","arguments":"{\"sku\": \"A-1\"}"}'
                echo '{"type":"stop","reason":"tool_calls"}';;
              esac
            done
            """#
        try await expectTheAnswer(CommandModel("/bin/sh", ["-c", script]))
    }

    @Test(
        arguments: [
            ("read x", "exited with status 0 before it answered"),
            ("read x; echo nonsense; cat", "not an event"),
            ("read x; echo '{\"type\":\"song\"}'; cat", "unknown type song"),
            ("read x; echo '{\"type\":\"error\",\"message\":\"no power\"}'; cat", "no power"),
            ("read x; echo '{\"type\":\"tool_call\"}'; cat", "without giving its name"),
            ("read x; echo '{\"type\":\"tool_call_delta\"}'; cat", "without an id"),
        ])
    func programsThatFail(_ script: String, _ text: String) async throws {
        let harness = try fixture.harness(CommandModel("/bin/sh", ["-c", script]), [])
        await #expect {
            try await harness.send("go")
        } throws: { "\($0)".contains(text) }
    }

    @Test func aProgramThatIsNotThere() async throws {
        let harness = try fixture.harness(CommandModel("/nowhere/model"), [])
        await #expect(throws: (any Error).self) { try await harness.send("go") }
    }

    @Test func aProgramThatIsGivenUpStartsAnew() async throws {
        let directory = TemporaryDirectory()
        // The first one hangs. It is there when it has read its request: one that was given up before that
        // waits for the next.
        let script = """
            read l; echo x >> '\(directory.path)/starts'
            [ $(wc -l < '\(directory.path)/starts') = 1 ] && exec sleep 100
            echo '{"type":"text","delta":"hi"}'; echo '{"type":"stop"}'; cat
            """
        let harness = try fixture.harness(CommandModel("/bin/sh", ["-c", script]), [])
        let first = harness.streamHandle("one")
        let path = directory.path + "/starts"
        await waitUntil { (try? Files.read(path, maxBytes: 10))?.isEmpty == false }
        first.cancel()
        await #expect(throws: CancellationError.self) { for try await _ in first.events {} }
        #expect(try await harness.send("two").text == "hi")
    }

    // MARK: Chat completions

    private static func chunk(_ delta: String, _ rest: String = "") -> String {
        #"data: {"choices":[{"index":0,"delta":\#(delta)\#(rest)}]}"# + "\n\n"
    }

    private static let calling =
        chunk(#"{"role":"assistant","content":null}"#)
        + chunk(
            #"{"tool_calls":[{"index":0,"id":"call_9","type":"function","function":{"name":"lookup_item","arguments":""}}]}"#
        )
        + chunk(#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"sku\": "}}]}"#)
        + chunk(#"{"tool_calls":[{"index":0,"function":{"arguments":"\"A-1\"}"}}]}"#)
        + chunk("{}", #","finish_reason":"tool_calls""#) + "data: [DONE]\n\n"

    private static let answering =
        chunk(#"{"content":"There are "}"#) + chunk(#"{"content":"12."}"#)
        + chunk("{}", #","finish_reason":"stop""#)
        + #"data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"# + "\n\ndata: [DONE]\n\n"

    // H24
    @Test func chatCompletions() async throws {
        let peer = try HTTPPeer { heard in
            let hasResult = heard.body?["messages"]?[3] != nil
            return .events(hasResult ? Self.answering : Self.calling)
        }
        defer { peer.stop() }
        let model = ChatCompletionsModel("http://\(peer.endpoint)/v1", model: "small", key: "s3cret")
        try await expectTheAnswer(model)
        #expect(peer.heard.count == 2)
        let first = try #require(peer.heard[0].body?.value)
        #expect(first["model"] == "small" && first["stream"] == true)
        #expect(first["tools"]?[0]?["function"]?["name"] == "lookup_item")
        #expect(first["messages"]?[0]?["role"] == "system")
        let second = try #require(peer.heard[1].body?.value)
        #expect(second["messages"]?[2]?["tool_calls"]?[0]?["function"]?["arguments"] == #"{"sku": "A-1"}"#)
        #expect(second["messages"]?[3]?["tool_call_id"] == "call_9")
        #expect(peer.heard[0].header("authorization") == "Bearer s3cret")
    }

    @Test(
        arguments: [
            ("data: {\"error\":{\"message\":\"no quota\"}}\n\n", "no quota"), ("data: x\n\n", "not JSON"),
            ("", "in the middle"), (chunk(#"{"content":"half"}"#), "in the middle"),
        ])
    func serversThatFail(_ events: String, _ text: String) async throws {
        let peer = try HTTPPeer { _ in .events(events) }
        defer { peer.stop() }
        let harness = try fixture.harness(ChatCompletionsModel("http://\(peer.endpoint)/v1", model: "m"), [])
        await #expect {
            try await harness.send("go")
        } throws: { "\($0)".contains(text) }
    }

    @Test func serversThatRefuseOrAreSilent() async throws {
        let peer = try HTTPPeer { heard in
            heard.body?["model"]?.string == "wait" ? .events("", end: false, then: .hang) : .status(429)
        }
        defer { peer.stop() }
        let url = "http://\(peer.endpoint)/v1/"
        func cause(_ model: ChatCompletionsModel) async throws -> ClientError? {
            do { _ = try await fixture.harness(model, []).send("go") } catch let error as ModelServerError {
                return error.cause
            }
            return nil
        }
        var busy = ChatCompletionsModel(url, model: "m")
        busy.maxRetries = 0
        #expect(try await cause(busy)?.httpStatus == 429)
        var silent = ChatCompletionsModel(url, model: "wait")
        silent.silence = .milliseconds(50)
        #expect(try await cause(silent)?.kind == .timeout)
        #expect(try await cause(ChatCompletionsModel("ftp://x", model: "m"))?.kind == .invalidRequest)
    }
}
