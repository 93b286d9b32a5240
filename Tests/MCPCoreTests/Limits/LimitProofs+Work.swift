import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let work: [LimitProof] = {
        let limits = ServerLimits()
        return [
            LimitProof(
                "requests in flight per connection or session", "\(limits.maxRequestsInFlight)",
                requestsInFlight
            ),
            LimitProof(
                "one request",
                "\(LimitText.seconds(limits.requestDeadline)); the time of a tool replaces it, and that of a "
                    + "server behind this one", oneRequest),
            LimitProof(
                "a question to a client of a handshake revision",
                "\(LimitText.seconds(limits.inputTimeout)); the request's own time rests", question),
            LimitProof("open questions of one request", "\(limits.maxOpenQuestions)") {
                for setting in Setting.all where setting.leg == .inMemory {
                    try await AskingFailureTests().tooManyQuestions(setting)
                }
            },
            LimitProof(
                "a round of questions (2026-07-28)", LimitText.seconds(ServerOptions().stateLifetime), round),
            LimitProof(
                "`requestState`, with the answers and the handler's state",
                LimitText.bytes(RequestState.maxBytes)
            ) {
                try RequestStateTests().boundedSize()
                try await RoundsInteractionTests().tooMuchState(.inMemory())
            },
            LimitProof(
                "completed calls whose state is remembered as used",
                LimitText.grouped(StateLedger.defaultCapacity)
            ) { StateLedgerTests().bounded() },
            LimitProof(
                "those of one caller, while all are taken", LimitText.grouped(StateLedger.defaultShare)
            ) { StateLedgerTests().shares() },
            LimitProof(
                "callers of whom some were forgotten", LimitText.grouped(StateLedger.defaultCallers)
            ) { StateLedgerTests().manyCallers() },
            LimitProof(
                "answers waiting for a reader, per HTTP connection", LimitText.bytes(limits.maxOutputBytes),
                output
            ),
            LimitProof(
                "answers waiting for a reader over stdio", LimitText.bytes(LineServer.backlogBytes)
            ) { try await LineServerTests().aClientThatDoesNotRead() },
            LimitProof(
                "messages of a batch that is still being read", LimitText.bytes(limits.maxOutputBytes),
                earlyMessages),
            LimitProof("log messages of one request", LimitText.grouped(limits.maxLogMessages)) {
                for setting in [Setting.inMemory(), .inMemory("2025-11-25")] {
                    try await LoggingInteractionTests().limit(setting)
                }
            },
            LimitProof("values of one completion", "\(CompletionResult.maxValues)", completion),
        ]
    }()

    @Sendable private static func requestsInFlight() async throws {
        InFlightTableTests().limitPerScope()
        for setting in [
            Setting.inMemory(), Setting(leg: .stdio, version: "2026-07-28"),
            Setting(leg: .http, version: "2025-11-25"),
        ] { try await LongRequestTests().tooManyInFlight(setting) }
    }

    @Sendable private static func oneRequest() async throws {
        // Up to the last moment, and over real time.
        try DeadlineWatchTests().endsWhatIsLate()
        for setting in [Setting.inMemory(), Setting(leg: .http, version: "2026-07-28")] {
            try await LongRequestTests().deadline(setting)
        }
    }

    @Sendable private static func question() async throws {
        for setting in [Setting.inMemory("2025-11-25"), Setting(leg: .http, version: "2025-11-25")] {
            try await AskingFailureTests().unansweredQuestion(setting)
            try await AskingFailureTests().deadlineRestsWhileAsking(setting)
        }
    }

    @Sendable private static func round() async throws {
        try RequestStateTests().expiry()
        try await RoundsInteractionTests().expiredState(.inMemory())
    }

    /// Whoever does not read is not read from; what waits for it is answered once it reads again.
    @Sendable private static func output() async throws {
        var options = ServerOptions()
        options.limits.maxOutputBytes = 64 << 10
        let test = try TestServer(options)
        let calls = Counter()
        let large = String(repeating: "x", count: 32 << 10)
        test.server.addTool("large", "", schema: #"{"type":"object"}"#) { _, _, out in
            calls.increment()
            out.text(large)
        }
        try await test.server.withPort { port in
            let count = 1_500
            let call = HTTPServerTests.post(
                HTTPServerTests.body("tools/call", #""name":"large","arguments":{}"#), method: "tools/call",
                more: "Mcp-Name: large\r\n")
            let socket = try WireSocket(port: port, isRecorded: false)
            TestThread.run { for _ in 0 ..< count { socket.send(call) } }
            // The loop serves somebody else as often as it likes: the calls come no further.
            var (before, quiet) = (-1, 0)
            while quiet < 20 {
                _ = try await answers(port, [HTTPServerTests.post(HTTPServerTests.body("server/discover"))])
                quiet = calls.value == before && before > 0 ? quiet + 1 : 0
                before = calls.value
            }
            // Systems hold some megabytes on their own before a writer has to wait.
            #expect(before < count, "\(before)")
            let answered = await onThread { () -> Int in
                var reader = WireReader(socket)
                return (0 ..< count).count { _ in reader.response()?.status == 200 }
            }
            #expect(answered == count)
        }
        try await HandlerResponseTests().slowReader()
    }

    private final class Heard: ResponseSink {
        let messages = Counter()
        var executor: (any TaskExecutor)? { nil }
        func notify(_ message: ByteSlice) { messages.increment() }
        func finish(_ answer: Answer?) {}
    }

    /// What handlers say before the batch was read to its end is told behind it, as far as it is kept.
    @Sendable private static func earlyMessages() async throws {
        let limit = ServerLimits().maxOutputBytes
        let message = ByteSlice(String(repeating: "m", count: limit / 16))
        for (count, kept) in [(15, 15), (16, 16), (17, 16)] {
            let batch = BatchSink(limit: limit)
            for _ in 0 ..< count { batch.notify(message) }
            let heard = Heard()
            batch.expectOne()
            batch.complete(into: heard)
            #expect(heard.messages.value == kept)
            // Then they are passed on as they come.
            batch.notify(message)
            #expect(heard.messages.value == kept + 1)
        }
    }

    @Sendable private static func completion() async throws {
        let limit = CompletionResult.maxValues
        for (count, hasMore) in [(limit, false), (limit + 1, true)] {
            let result = CompletionResult((0 ..< count).map { "n\($0)" })
            #expect(result.values.count == limit && (result.hasMore ?? false) == hasMore)
        }
        try await CompletionInteractionTests().atMostAHundred(.inMemory())
    }
}
