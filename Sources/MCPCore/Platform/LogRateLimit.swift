import Synchronization

/// Lets one log line of a kind through per interval and counts the others.
final class LogRateLimit: Sendable {
    private struct State {
        var next = MonotonicInstant(nanoseconds: .min)
        var suppressed = 0
    }

    private let interval: Duration
    private let state = Mutex(State())

    init(interval: Duration = .seconds(1)) { self.interval = interval }

    /// Nil: say nothing now. Otherwise the number of lines that were held back since the last one.
    func admit(at now: MonotonicInstant) -> Int? {
        state.withLock { state in
            if now < state.next {
                state.suppressed += 1
                return nil
            }
            state.next = now + interval
            defer { state.suppressed = 0 }
            return state.suppressed
        }
    }
}
