import MCPCore
import MCPHarness
import TestSupport
import Testing

/// What the harness takes of a model's answer.
@Suite(.timeLimit(.minutes(5))) struct ModelTurnTests {
    private let fixture = HarnessFixture()

    private func harness(_ events: [ModelEvent], limit: Int = 16 << 20) throws -> ToolHarness {
        var limits = HarnessLimits()
        limits.maxResponseBytes = limit
        return try fixture.harness(
            ScriptedModel(.events { _ in events }, .text("done")), [fixture.lookup()], limits: limits)
    }

    private static let long = String(repeating: "x", count: 900)

    @Test(
        arguments: [
            .toolCallDelta(callID: "c", name: nil, partialArguments: long),
            .toolCallDelta(callID: long, name: nil, partialArguments: ""),
            .toolCallDelta(callID: "c", name: long, partialArguments: ""),
            .toolCall(ModelToolCall(callID: long, name: "lookup_item", arguments: "")),
            .toolCall(ModelToolCall(callID: "c", itemID: long, name: "lookup_item", arguments: "")),
            .toolCall(ModelToolCall(callID: "c", name: long, arguments: "")),
            .stop(long),
        ] as [ModelEvent])
    func everythingCounts(_ event: ModelEvent) async throws {
        await #expect(throws: HarnessError.responseTooLarge(limit: 1_000)) {
            try await harness([event, event], limit: 1_000).send("go")
        }
    }

    @Test(
        arguments: [
            .textDelta(""), .usage(ModelUsage()),
            .toolCallDelta(callID: "c", name: nil, partialArguments: ""),
            .stop("stop"),
        ] as [ModelEvent])
    func piecesOfNothingCountToo(_ event: ModelEvent) async throws {
        let events = Array(repeating: event, count: 70)
        await #expect(throws: HarnessError.responseTooLarge(limit: 1_000)) {
            try await harness(events, limit: 1_000).send("go")
        }
    }

    /// A call that is shown while it is written may be as long as one that is not.
    @Test func writingACallDoesNotCountTwice() async throws {
        let arguments = #"{"sku":"\#(Self.long)"}"#
        let events: [ModelEvent] = [
            .toolCallDelta(callID: "c", name: "lookup_item", partialArguments: arguments),
            .toolCall(ModelToolCall(callID: "c", name: "lookup_item", arguments: arguments)),
        ]
        #expect(try await harness(events, limit: 1_000).send("go").calls.map(\.status) == [.completed])
    }

    @Test(arguments: [true, false]) func theNumberOfCallsIsLimited(_ areWhole: Bool) async throws {
        func call(_ number: Int) -> ModelEvent {
            areWhole
                ? .toolCall(ModelToolCall(callID: "", name: "lookup_item", arguments: "{}"))
                : .toolCallDelta(callID: "c\(number)", name: nil, partialArguments: "")
        }
        await #expect(throws: HarnessError.tooManyCalls) {
            try await harness((0 ... 1_024).map(call)).send("go")
        }
        guard areWhole else { return }
        #expect(try await harness((0 ..< 1_024).map(call)).send("go").calls.count == 1_024)
    }

    @Test(arguments: [["a", "a#3", "a"], ["a", "a#1", "a#2", "a", "a"], ["", "#1", ""]])
    func idsStayUnique(_ ids: [String]) async throws {
        let calls = ids.map {
            ModelEvent.toolCall(
                ModelToolCall(callID: $0, name: "lookup_item", arguments: HarnessFixture.askFor))
        }
        let reply = try await harness(calls).send("go")
        #expect(Set(reply.calls.map(\.invocation.callID)).count == ids.count)
        #expect(reply.calls.first?.invocation.callID.hasPrefix(ids[0]) == true)
    }

    /// A model may begin again with its ids in each answer, also after a call that it did not finish.
    @Test func idsStayUniqueInAConversation() async throws {
        let call = ModelEvent.toolCall(
            ModelToolCall(callID: "c1", name: "lookup_item", arguments: HarnessFixture.askFor))
        let unfinished = ModelEvent.toolCallDelta(callID: "c2", name: nil, partialArguments: "{")
        let model = ScriptedModel(
            .events { _ in [unfinished, call] }, .events { _ in [unfinished, call] }, .text("done"),
            .events { _ in [call] }, .text("done"))
        let harness = try fixture.harness(model, [fixture.lookup()])
        let (events, _) = await HarnessFixture.events(harness)
        let pieces = events.compactMap { if case .toolInputDelta(let id, _, _) = $0 { id } else { nil } }
        #expect(Set(pieces).count == 2)
        let again = try await harness.send("go")
        let transcript = await harness.transcript
        let ids = transcript.flatMap { message -> [String] in
            if case .assistant(_, let calls) = message { calls.map(\.callID) } else { [] }
        }
        #expect(ids.first == "c1" && Set(ids).count == 3)
        #expect(ids.last == again.calls.first?.invocation.callID)
        // A conversation that is continued has ids, too.
        let other = try fixture.harness(
            ScriptedModel(.events { _ in [call] }, .text("done")), [fixture.lookup()])
        let continued = try await other.respond(ModelRequest(messages: transcript)).calls.first
        #expect(try !ids.contains(#require(continued).invocation.callID))
    }

    /// Pieces carry the id that their call will have.
    @Test func piecesBelongToTheirCalls() async throws {
        let events: [ModelEvent] = ["", "a", "a", "b"].flatMap { id -> [ModelEvent] in
            let call = ModelToolCall(callID: id, name: "lookup_item", arguments: HarnessFixture.askFor)
            let piece = ModelEvent.toolCallDelta(callID: id, name: nil, partialArguments: "{")
            return [piece, piece, .toolCall(call)]
        }
        let (told, _) = await HarnessFixture.events(try harness(events))
        var pieces: [String] = []
        var calls: [String] = []
        for event in told {
            if case .toolInputDelta(let id, _, _) = event { pieces.append(id) }
            if case .toolCallRequested(let request) = event { calls.append(request.invocation.callID) }
        }
        #expect(Set(calls).count == 4)
        #expect(pieces == calls.flatMap { [$0, $0] })
    }

    @Test(
        arguments: [
            ("stop", nil), ("tool_calls", nil), ("function_call", nil), ("end_turn", nil), ("endTurn", nil),
            ("length", "cut off"), ("content_filter", "left something out"), ("bored", "bored"),
        ] as [(String, String?)])
    func endsThatAreNone(_ reason: String, _ text: String?) async throws {
        let (events, error) = await HarnessFixture.events(try harness([.textDelta("half"), .stop(reason)]))
        #expect(error == nil)
        let warnings = events.compactMap { if case .warning(let text) = $0 { text } else { nil } }
        #expect(warnings.count == (text == nil ? 0 : 1))
        if let text { #expect(warnings.first?.contains(text) == true) }
    }
}
