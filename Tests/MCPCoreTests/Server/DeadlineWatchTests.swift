import TestSupport
import Testing

@testable import MCPCore

@Suite(.timeLimit(.minutes(5))) struct DeadlineWatchTests {
    private let clock = ManualClock()
    private let table = InFlightTable<PendingRequest>()

    private func exchange(_ id: Int64, seconds: Int, _ sink: RecordingSink) -> PendingRequest {
        let exchange = PendingRequestTests.exchange(
            sink, id: id, deadline: (clock.now + .seconds(seconds)).nanoseconds)
        #expect(table.insert(exchange, at: exchange.key, limit: 100) == nil)
        return exchange
    }

    private func code(_ sink: RecordingSink) throws -> Int? {
        guard case .answer(let text)? = sink.events.first else { return nil }
        return try RawJSON(validating: text)["error"]?["code"]?.int
    }

    // CANC-08
    @Test func endsWhatIsLate() throws {
        let watch = DeadlineWatch(table: table, clock: clock, counters: ServerCounters())
        let sinks = (0 ..< 3).map { _ in RecordingSink() }
        // A later request may have the earlier deadline.
        let exchanges = [(1, 3600), (2, 60), (3, 7200)].enumerated().map { place, plan in
            exchange(Int64(plan.0), seconds: plan.1, sinks[place])
        }
        for exchange in exchanges { watch.watch(exchange) }
        watch.expire()
        #expect(sinks.allSatisfy { $0.events.isEmpty })

        clock.advance(by: .seconds(60))
        watch.expire()
        #expect(sinks.map(\.events.count) == [0, 1, 0])
        #expect(try code(sinks[1]) == MCPError.deadlineExceededCode)
        #expect(exchanges[1].isOver)

        clock.advance(by: .seconds(3540))
        watch.expire()
        watch.expire()
        #expect(sinks.map(\.events.count) == [1, 1, 0])
    }

    @Test func whatIsOverIsLeftAlone() {
        let watch = DeadlineWatch(table: table, clock: clock, counters: ServerCounters())
        let sink = RecordingSink()
        let exchange = exchange(1, seconds: 5, sink)
        watch.watch(exchange)
        exchange.finish(Answer(bytes: ByteSlice("done"), status: 200))
        clock.advance(by: .seconds(10))
        watch.expire()
        #expect(sink.events == [.answer("done")])
    }

    /// The answer has the id of the request and the form of its revision.
    @Test func theAnswer() throws {
        let watch = DeadlineWatch(table: table, clock: clock, counters: ServerCounters())
        let sink = RecordingSink()
        _ = exchange(77, seconds: 0, sink)
        watch.expire()
        guard case .answer(let text)? = sink.events.first else { throw NothingThere() }
        let answer = try JSONValue(parsing: text)
        #expect(answer["id"] == 77)
        #expect(answer["jsonrpc"] == "2.0")
        #expect(answer["error"]?["message"]?.stringValue?.isEmpty == false)
    }

    /// The watch wakes up by itself for a deadline that comes.
    @Test func wakesUp() async {
        let watch = DeadlineWatch(table: table, clock: SystemClock(), counters: ServerCounters())
        let gate = Gate()
        let sink = GateSink(gate)
        let exchange = PendingRequest(
            key: .init(channelID: 1, id: RequestID(1)), revision: .newest, progressToken: nil,
            deadline: (SystemClock().now + .milliseconds(5)).nanoseconds, sink: sink)
        #expect(table.insert(exchange, at: exchange.key, limit: 1) == nil)
        watch.watch(exchange)
        #expect(await gate.wait())
    }

    private final class GateSink: ResponseSink {
        private let gate: Gate
        let executor: (any TaskExecutor)? = nil

        init(_ gate: Gate) { self.gate = gate }
        func notify(_ message: ByteSlice) {}
        func finish(_ answer: Answer?) { gate.open() }
    }
}
