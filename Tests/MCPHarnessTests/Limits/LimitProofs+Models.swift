import TestSupport
import Testing

@testable import MCPCore
@testable import MCPHarness

extension LimitProofs {
    static let models: [LimitProof] = [
        LimitProof(
            "what waits of a model's answer for its reader", LimitText.bytes(HTTPEventPost.maxWaitingBytes)
        ) {
            #expect(CommandModel.maxWaitingBytes == HTTPEventPost.maxWaitingBytes)
            try await HTTPEventPostTests().aFastServerWaitsForItsReader()
            try await fastProgram()
        },
        LimitProof(
            "events of a turn that wait for their reader", LimitText.grouped(ToolHarness.maxWaitingEvents),
            waitingEvents),
        LimitProof("one answer of a model", LimitText.seconds(HarnessLimits().answerTimeout ?? .zero)) {
            try await ToolHarnessTests().anAnswerEnds()
        },
        LimitProof(
            "instructions of all sources that a model is told",
            LimitText.bytes(HarnessLimits().maxInstructionBytes)
        ) { try await GuidanceTests().instructionsAreLimited() },
        LimitProof(
            "those of one source, and of one tool",
            "\(LimitText.bytes(ToolGuidance.maxSourceBytes)), \(LimitText.bytes(ToolGuidance.maxToolBytes))"
        ) { try await GuidanceTests().instructionsAreLimited() },
        LimitProof("further attempts after a failure of a model's server", "\(retries.maxRetries)") {
            try await ModelServerTests().attemptsAreLimited()
        },
        LimitProof("pause that a model's server may ask for", LimitText.seconds(retries.longestPause)) {
            try await ModelServerTests().aPauseThatIsTooLongIsReported(asked: "3600", seconds: 3_600)
        },
        LimitProof(
            "arguments that a person is asked about", LimitText.bytes(ApprovalCoordinator.maxArgumentBytes)
        ) { try await ApprovalTests().argumentsThatAreTooLongAreNotAskedAbout() },
        LimitProof("saved conversation", LimitText.bytes(Transcript.maxBytes), savedConversation),
        LimitProof(
            "wait for another process that keeps decisions on tools",
            LimitText.seconds(RememberedDecisions.lockTimeout)
        ) { try await ApprovalTests().decisionsThatAnotherProcessChanges() },
        LimitProof(
            "runs with the client's model that wait for it",
            "\(SamplingRuns.maxKept), \(LimitText.seconds(SamplingRuns.patience))"
        ) {
            try await SamplingModelTests().whatIsNotGoneOnWithEnds()
            try await SamplingModelTests().theOldestEndsWhenThereAreTooMany()
        },
    ]

    private static var retries: ChatCompletionsModel { ChatCompletionsModel("http://localhost", model: "m") }

    @Sendable private static func savedConversation() async throws {
        // Blank up to the limit: that it is too long is found before it is read.
        let blanks = [UInt8](repeating: 0x20, count: Transcript.maxBytes)
        for (bytes, reason) in [(blanks, "it is not JSON"), (blanks + [0x20], "it has more than 64 MiB")] {
            #expect(throws: HarnessError.invalidTranscript(reason)) { try Transcript.messages(in: bytes) }
        }
    }

    /// A program that writes faster than it is read waits, and nothing is lost.
    @Sendable private static func fastProgram() async throws {
        let directory = TemporaryDirectory()
        let done = directory.path + "/done"
        let count = 4 * CommandModel.maxWaitingBytes / 1_000
        let line = #"{"type":"text","delta":"\#(String(repeating: "x", count: 1_000))"}"#
        let model = CommandModel(
            "/bin/sh",
            [
                "-c",
                "read l; yes '\(line)' | head -n \(count); : > '\(done)'; echo '{\"type\":\"stop\"}'; read l",
            ])
        var events = model.respond(to: ModelRequest(messages: [.user("go")])).makeAsyncIterator()
        #expect(try await events.next() != nil)
        func isDone() -> Bool { (try? Files.read(done, maxBytes: 10)) != nil }
        #expect(await comesTrue(within: 1, isDone) == false)
        var texts = 1
        while let event = try await events.next() { if case .textDelta = event { texts += 1 } }
        #expect(texts == count && isDone())
        await model.close()
    }

    @Sendable private static func waitingEvents() async throws {
        let limit = ToolHarness.maxWaitingEvents
        // The end of the turn is one event more than the pieces of its text.
        for (pieces, isUnread) in [(limit - 1, false), (limit, true)] {
            let model = ScriptedModel(
                .events { _ in Array(repeating: .textDelta("x"), count: pieces) + [.stop("stop")] })
            let handle = try HarnessFixture().harness(model, []).streamHandle("go")
            await handle.task.value
            var heard = 0
            var problem: (any Error)?
            do { for try await _ in handle.events { heard += 1 } } catch { problem = error }
            #expect(heard == limit)
            #expect((problem as? HarnessError) == (isUnread ? .eventsUnread(limit: limit) : nil))
        }
    }
}
