/// A watch that ends requests whose handlers take too long: it sends one response, then cancels the handler.
///
/// It sleeps until the earliest deadline and then examines all requests. Since later requests usually have
/// later deadlines, a request costs one comparison here and needs no timer of its own.
final class DeadlineWatch: Sendable {
    private let table: InFlightTable<PendingRequest>
    private let clock: any TimeSource
    private let counters: ServerCounters
    private let alarm: Alarm

    init(table: InFlightTable<PendingRequest>, clock: any TimeSource, counters: ServerCounters) {
        self.table = table
        self.counters = counters
        self.clock = clock
        alarm = Alarm(label: "mcp.deadlines", clock: clock)
    }

    func watch(_ exchange: PendingRequest) { arm(for: exchange.deadline) }

    private func arm(for deadline: Int64) {
        alarm.set(for: MonotonicInstant(nanoseconds: deadline), waking: self) { $0.expire() }
    }

    /// Ends the requests that are past their deadline and sleeps until the next deadline.
    func expire() {
        let now = clock.now.nanoseconds
        var earliest = Int64.max
        for exchange in table.entries() where !exchange.isOver {
            if exchange.deadline <= now {
                if exchange.fail(Self.answer(for: exchange)) { counters.count(.deadlines) }
            } else {
                earliest = min(earliest, exchange.deadline)
            }
        }
        if earliest < .max { arm(for: earliest) }
    }

    private static func answer(for exchange: PendingRequest) -> Answer {
        var writer = JSONWriter()
        ResultEnvelope.error(
            MCPError(
                code: MCPError.deadlineExceededCode,
                message: exchange.isAsking
                    ? "The question to the client was not answered in time, and the request was cancelled"
                    : "The request took longer than the server allows and was cancelled"),
            id: exchange.key.id.json.bytes, to: &writer, for: exchange.revision)
        return Answer(bytes: writer.finish(), status: 200)
    }
}
