import MCPCore
import MCPHarness
import Synchronization
import TestSupport
import Testing

/// Turns that end early, conversations that are saved, and what they cost.
@Suite(.timeLimit(.minutes(5))) struct TurnTests {
    private let fixture = HarnessFixture()

    private struct Failing: LanguageModel {
        let first: ScriptedModel
        func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
            if first.requests.isEmpty { return first.respond(to: request) }
            return AsyncThrowingStream { $0.finish(throwing: HarnessError.model("out of tokens")) }
        }
    }

    // D7
    @Test func finishedCallsSurviveAFailure() async throws {
        let model = Failing(first: ScriptedModel(.calls(("lookup_item", HarnessFixture.askFor))))
        let harness = try fixture.harness(model, [fixture.lookup()])
        do {
            _ = try await harness.send("How many?")
            Issue.record("the model did not fail")
        } catch let error as TurnError {
            #expect(error.cause as? HarnessError == .model("out of tokens"))
            #expect(error.calls.map(\.output.text) == ["A-1: 12 in stock"])
            #expect("\(error)" == "out of tokens\nbefore that: lookup_item (completed)")
            #expect(error.messages == (await harness.transcript))
        }
        #expect(await harness.transcript.count == 3)
        // What follows builds on it.
        await #expect(throws: HarnessError.model("out of tokens")) { try await harness.send("go on") }
        #expect(await harness.transcript.count == 3)
    }

    @Test func deniedCallsStayToo() async throws {
        var options = HarnessOptions()
        options.throwsOnDenial = true
        let harness = try fixture.harness(
            HarnessFixture.lookingUp(), [fixture.lookup(policy: .deny(.files))], options: options)
        do {
            _ = try await harness.send("go")
            Issue.record("the denial did not end the turn")
        } catch let error as TurnError {
            guard case .toolApprovalDenied("lookup_item", _)? = error.cause as? HarnessError else {
                throw error
            }
        }
        #expect(await harness.transcript.count == 3)
    }

    // D11
    @Test func anEmptyAnswerIsReported() async throws {
        let (events, error) = await HarnessFixture.events(try fixture.harness(ScriptedModel(.text(" ")), []))
        #expect(error == nil)
        #expect(events.map(\.word) == ["text", "warning", "end"])
    }

    // D14
    @Test func timeOfTheApprovalIsNotTheTools() async throws {
        let harness = try fixture.harness(
            HarnessFixture.lookingUp(), [fixture.lookup(policy: .ask(.files))]
        ) { _ in
            try? await Task.sleep(for: .milliseconds(120))
            return .approved()
        }
        let start = ContinuousClock.now
        let call = try #require(try await harness.send("go").calls.first)
        #expect(call.approvalDuration >= .milliseconds(120))
        #expect(call.duration + call.approvalDuration <= ContinuousClock.now - start)
        let free = try fixture.harness(HarnessFixture.lookingUp(), [fixture.lookup()])
        #expect(try await free.send("go").calls.first?.approvalDuration == .zero)
    }

    // D16
    @Test func schemasThatCannotBeUsed() async throws {
        let bad: JSONValue = ["type": "object", "properties": ["a": ["type": "nonsense"]]]
        let tool = HostTool("t", description: "", inputSchema: bad) { _ in "x" }
        do {
            _ = try HostToolSource([tool])
            Issue.record("the schema is used")
        } catch {
            guard case .invalidTool("t", let reason) = error else { throw error }
            #expect(!reason.isEmpty)
        }
        struct Source: ToolSource {
            let id: ToolSourceID = "s"
            let kind = ToolSourceKind.server
            let schema: JSONValue
            func tools() -> [Tool] { [Tool("t", inputSchema: schema)] }
            func call(_ invocation: ToolInvocation) -> CallToolResult { .text("x") }
        }
        let harness = try ToolHarness(
            name: "x", summary: "", model: ScriptedModel(.text("x")), sources: [Source(schema: bad)]
        ) { _ in .approved() }
        #expect(try await harness.warnings().contains { $0.hasPrefix("s: calls of t will fail") })
    }

    // D16: nobody is about to be asked when there is nobody.
    @Test func withoutAHandlerNobodyIsAsked() async throws {
        let harness = try fixture.harness(
            HarnessFixture.lookingUp(), [fixture.lookup(policy: .ask(.files))])
        let (events, _) = await HarnessFixture.events(harness)
        #expect(events.map(\.word) == ["round 1", "requested", "denied", "text", "end"])
    }

    // MARK: Conversations

    private static let call = ModelToolCall(callID: "c", itemID: "i", name: "t", arguments: "{ }")
    private static let conversation: [ModelMessage] = [
        .user("hi \u{1F600}"), .assistant("let me", [call]),
        .toolResults([
            ModelToolResult(
                callID: "c", name: "t", content: [.text("a"), .image([1, 2, 3], mimeType: "image/png")],
                isError: true)
        ]), .assistant("done", []),
    ]

    @Test func conversationsAreSavedAndRestored() async throws {
        let bytes = Array(Transcript.json(Self.conversation).serialized().utf8)
        let read = try Transcript.messages(in: bytes)
        #expect(read == Self.conversation)
        #expect(try JSONValue(encoding: Self.conversation).decode([ModelMessage].self) == Self.conversation)
        let model = ScriptedModel(.text("and on"))
        let harness = try ToolHarness(
            name: "x", summary: "", model: model, sources: [], transcript: read)
        _ = try await harness.send("go on")
        #expect(model.requests[0].messages == Self.conversation + [.user("go on")])
        try await harness.restore([])
        #expect(await harness.transcript.isEmpty)
    }

    @Test(
        arguments: [
            ("", "not JSON"), ("[]", "version 1"), (#"{"version":2,"messages":[]}"#, "version 1"),
            (#"{"version":1,"messages":[{"role":"king"}]}"#, "message 1: role is not"),
            (#"{"version":1,"messages":[{"role":"user"}]}"#, "text is missing"),
            (#"{"version":1,"messages":[{"role":"tool","results":[]}]}"#, "do not match"),
            (
                #"{"version":1,"messages":[{"role":"assistant","text":"","toolCalls":"#
                    + #"[{"id":"c","name":"t","arguments":"{}"}]}]}"#, "results of the last calls"
            ),
            (
                #"{"version":1,"messages":[{"role":"assistant","text":"","toolCalls":"#
                    + #"[{"id":"c","name":"t","arguments":"{}"}]},{"role":"user","text":"x"}]}"#,
                "message 2: the results"
            ),
            (#"{"version":1,"messages":[{"role":"assistant","text":"","toolCalls":[{}]}]}"#, "id is missing"),
        ])
    func brokenConversations(_ text: String, _ reason: String) throws {
        do {
            _ = try Transcript.messages(in: Array(text.utf8))
            Issue.record("it was read")
        } catch {
            #expect("\(error)".hasPrefix("the conversation cannot be continued: "))
            #expect("\(error)".contains(reason), "\(error)")
        }
    }

    // `respond` streams, and returns the messages.
    @Test func conversationsOfOnesOwn() async throws {
        let harness = try fixture.harness(HarnessFixture.lookingUp(), [fixture.lookup()])
        let request = ModelRequest(messages: [.user("one"), .assistant("two", []), .user("How many?")])
        var words: [String] = []
        var reply: HarnessReply?
        for try await event in harness.stream(request) {
            words.append(event.word)
            if case .completed(let end) = event { reply = end }
        }
        #expect(words == ["round 1", "requested", "completed", "text", "end"])
        let messages = try #require(reply?.messages)
        #expect(messages.count == 6 && Array(messages.prefix(3)) == request.messages)
        #expect(messages.last == .assistant("There it says: A-1: 12 in stock", []))
        #expect(await harness.transcript.isEmpty)
    }

    // MARK: Plugins

    @Test func pluginsBringTools() async throws {
        let (first, second) = (
            fixture.lookup(), HostTool("lookup_item", description: "other", inputSchema: [:]) { _ in "" }
        )
        let clock = HostTool("now", description: "The time", inputSchema: ["type": "object"]) { _ in "noon" }
        let model = ScriptedModel(.text("x"))
        let harness = try ToolHarness(
            name: "x", summary: "", model: model, sources: [],
            plugins: [
                HarnessPlugin("stock", instructions: "Look items up first.", tools: [first]),
                HarnessPlugin("time", tools: [second, clock]),
            ])
        _ = try await harness.send("hi")
        let request = try #require(model.requests.first)
        #expect(request.tools == [first.tool, clock.tool])
        #expect(request.system?.hasSuffix("Notes of stock:\n> Look items up first.") == true)
        #expect(throws: HarnessError.duplicateSource("a")) {
            try ToolHarness(
                name: "x", summary: "", model: model, sources: [],
                plugins: [HarnessPlugin("a", tools: []), HarnessPlugin("a", tools: [])])
        }
    }
}
