import Synchronization

/// The requests that one principal may still send. Each message of a batch is one.
///
/// The time comes from outside.
final class RateMeter: Sendable {
    private struct State {
        /// The requests that are left, in parts of one.
        var left: Double
        var moment: MonotonicInstant
        var reports = LogThrottle(.seconds(1))
    }

    /// The outcome of a request beyond the limit.
    struct Excess: Sendable {
        let limit: RateLimit
        /// The time until the next request is possible, in seconds, rounded up.
        let retryAfter: Int
        /// The number of refusals to report, with this one; 0 within a second of the last report.
        let reported: Int

        /// The text for the caller.
        var text: String { "More than the \(limit) requests that this caller may send" }

        /// The reason for the audit log, where a flood of requests must not become a flood of lines; nil when
        /// there is nothing to report.
        var reason: String? {
            guard reported > 0 else { return nil }
            let more = reported > 1 ? ", \(reported) times since the last report" : ""
            return "beyond its rate of \(limit)\(more)"
        }
    }

    let limit: RateLimit
    private let state: Mutex<State>

    init(_ limit: RateLimit, at now: MonotonicInstant) {
        self.limit = limit
        state = Mutex(State(left: Double(limit.count), moment: now))
    }

    /// Takes one request; returns nil if it is within the limit.
    func take(at now: MonotonicInstant) -> Excess? {
        state.withLock { state in
            let perSecond = Double(limit.count) / Double(limit.seconds)
            let passed = Double(max(0, now.nanoseconds &- state.moment.nanoseconds)) / 1e9
            state.moment = now
            state.left = min(Double(limit.count), state.left + passed * perSecond)
            guard state.left < 1 else {
                state.left -= 1
                return nil
            }
            let wait = Int(((1 - state.left) / perSecond).rounded(.up))
            return Excess(
                limit: limit, retryAfter: max(1, wait), reported: state.reports.count(at: now) ?? 0)
        }
    }
}
