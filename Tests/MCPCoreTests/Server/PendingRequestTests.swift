import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Remembers what an exchange says.
final class RecordingSink: ResponseSink {
    enum Event: Equatable, Sendable {
        case notification(String)
        case answer(String)
        case end
    }

    private let log = Mutex<[Event]>([])
    let executor: (any TaskExecutor)? = nil

    var events: [Event] { log.withLock { $0 } }

    func notify(_ message: ByteSlice) { log.withLock { $0.append(.notification(String(message))) } }

    func finish(_ answer: Answer?) {
        log.withLock { $0.append(answer.map { .answer(String($0.bytes)) } ?? .end) }
    }
}

@Suite(.timeLimit(.minutes(5))) struct PendingRequestTests {
    static func exchange(_ sink: RecordingSink, id: Int64 = 1, deadline: Int64 = .max) -> PendingRequest {
        PendingRequest(
            key: .init(channelID: 1, id: RequestID(id)), revision: .newest, progressToken: nil,
            deadline: deadline, sink: sink)
    }

    private static func answer(_ text: String) -> Answer { Answer(bytes: ByteSlice(text), status: 200) }

    @Test func answeredOnce() {
        let sink = RecordingSink()
        let exchange = Self.exchange(sink)
        exchange.notify(ByteSlice("n"))
        #expect(!exchange.isOver)
        #expect(exchange.finish(Self.answer("a")))
        #expect(exchange.isOver)
        #expect(!exchange.finish(Self.answer("b")))
        #expect(!exchange.fail(Self.answer("c")))
        #expect(!exchange.cancel())
        // JRPC-30: nothing after the answer.
        exchange.notify(ByteSlice("late"))
        #expect(sink.events == [.notification("n"), .answer("a")])
    }

    /// What is open, and what is asked later, when no answer can arrive any more.
    @Test func questionsThatCannotBeAnswered() async throws {
        let sink = RecordingSink()
        let exchange = Self.exchange(sink)
        let question = ServerRequest(method: "elicitation/create", params: ByteSlice("{}"))
        try exchange.open([question], limit: 2, now: 0, timeout: 1)
        exchange.endAsking()
        let error = await #expect(throws: MCPError.self) { try await question.result() }
        #expect(error == .unheard)
        #expect(throws: PendingRequest.QuestionRefusal.unheard) {
            try exchange.open([question], limit: 2, now: 0, timeout: 1)
        }
        #expect(sink.events == [.notification(String(question.cancellation))])
        #expect(exchange.finish(Self.answer("a")))
    }

    // CANC-03, HTTP-25
    @Test func cancelledBeforeItsTaskIsKnown() async {
        let sink = RecordingSink()
        let exchange = Self.exchange(sink)
        #expect(exchange.cancel())
        let task = Task { while !Task.isCancelled { await pause() } }
        exchange.attach(task)
        await task.value
        #expect(sink.events == [.end])
    }

    @Test(arguments: ["cancel", "fail"]) func theHandlerIsCancelled(_ way: String) async {
        let sink = RecordingSink()
        let exchange = Self.exchange(sink)
        let task = Task { while !Task.isCancelled { await pause() } }
        exchange.attach(task)
        if way == "cancel" { exchange.cancel() } else { exchange.fail(Self.answer("late")) }
        await task.value
        #expect(sink.events == [way == "cancel" ? .end : .answer("late")])
    }

    // PROG-03
    @Test func progressIncreases() {
        let exchange = Self.exchange(RecordingSink())
        let offered: [Double] = [0, 0, -1, 0.5, 0.5, .nan, .infinity, 0.25, 1, 2]
        #expect(offered.filter { exchange.accepts(progress: $0) } == [0, 0.5, 1, 2])
    }

    /// Handler, deadline and cancellation come at once, from threads of their own, in an order that the
    /// seed chooses.
    @Test(arguments: 0 ..< 8) func whoeverIsFirstEndsIt(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for round in 0 ..< 150 {
            let sink = RecordingSink()
            let exchange = Self.exchange(sink, id: Int64(round))
            let winners = Mutex<[Int]>([])
            let order = Array(0 ..< 6).shuffled(using: &random)
            let spins = order.map { _ in Int.random(in: 0 ... 40, using: &random) }
            DispatchQueue.concurrentPerform(iterations: order.count) { worker in
                for _ in 0 ..< spins[worker] { _ = exchange.isOver }
                let won =
                    switch order[worker] {
                    case 0, 1: exchange.finish(Self.answer("\(order[worker])"))
                    case 2, 3: exchange.cancel()
                    case 4: exchange.fail(Self.answer("4"))
                    default:
                        {
                            exchange.attach(Task {}); return false
                        }()
                    }
                if won { winners.withLock { $0.append(order[worker]) } }
            }
            let winner = winners.withLock { $0 }
            #expect(winner.count == 1)
            let expected: RecordingSink.Event =
                winner.first.map { [2, 3].contains($0) ? .end : .answer("\($0)") } ?? .end
            #expect(sink.events == [expected])
        }
    }

    // While its client is asked a request's own time rests.
    @Test func deadlineRests() throws {
        let exchange = Self.exchange(RecordingSink(), deadline: 100)
        let (a, b) = (
            ServerRequest(method: "a", params: ByteSlice("{}")),
            ServerRequest(method: "b", params: ByteSlice("{}"))
        )
        try exchange.open([a], limit: 2, now: 60, timeout: 1000)
        #expect(exchange.deadline == 1060)
        #expect(exchange.isAsking)
        try exchange.open([b], limit: 2, now: 70, timeout: 1000)
        #expect(exchange.deadline == 1070)
        #expect(throws: PendingRequest.QuestionRefusal.tooMany) {
            try exchange.open(
                [ServerRequest(method: "c", params: ByteSlice("{}"))], limit: 2, now: 70, timeout: 1000)
        }
        exchange.close([a], now: 500)
        #expect(exchange.deadline == 1070)
        exchange.close([b], now: 600)
        #expect(exchange.deadline == 640)
        #expect(!exchange.isAsking)
        try exchange.open([a], limit: 2, now: 700, timeout: .max)
        #expect(exchange.deadline == .max)
        exchange.close([a], now: 800)
        // It was late already: it is over at once.
        #expect(exchange.deadline == 800)
    }

    // CANC-11: what is asked is taken back before the end, once, unless it is answered.
    @Test func questionsEndWithTheirRequest() async throws {
        let sink = RecordingSink()
        let exchange = Self.exchange(sink)
        let (open, answered) = (
            ServerRequest(method: "a", params: ByteSlice("{}")),
            ServerRequest(method: "b", params: ByteSlice("{}"))
        )
        try exchange.open([open, answered], limit: 2, now: 0, timeout: 10)
        #expect(answered.settle(.success(1)))
        #expect(!answered.settle(.success(2)))
        #expect(exchange.finish(Self.answer("a")))
        #expect(sink.events == [.notification(String(open.cancellation)), .answer("a")])
        await #expect(throws: CancellationError.self) { try await open.result() }
        #expect(try await answered.result() == 1)
        #expect(throws: PendingRequest.QuestionRefusal.over) {
            try exchange.open([open], limit: 2, now: 0, timeout: 10)
        }
    }
}
