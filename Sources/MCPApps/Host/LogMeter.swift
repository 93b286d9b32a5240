import Synchronization

/// A meter for the lines that one server and its views add to the log of a host. A flood of lines would keep
/// a front end from everything else.
final class LogMeter: Sendable {
    /// The number of lines in a second: 100. Further ones are left out, and counted.
    static let maxLines = 100
    static let window = Duration.seconds(1)

    private struct State {
        var lines = RateWindow(LogMeter.window)
        var leftOut = 0
    }

    private let state = Mutex(State())

    /// Counts a line and returns whether it is shown.
    ///
    /// - Parameter telling: begins to report what is left out; called for the first line that is, and not
    ///   again before `takeLeftOut`.
    func admits(at now: ContinuousClock.Instant = .now, orBegin telling: () -> Void) -> Bool {
        let (isAdmitted, isFirst) = state.withLock { state -> (Bool, Bool) in
            if state.lines.add(at: now) <= Self.maxLines { return (true, false) }
            state.leftOut += 1
            return (false, state.leftOut == 1)
        }
        if isFirst { telling() }
        return isAdmitted
    }

    /// Returns the number of lines left out since the last time.
    func takeLeftOut() -> Int {
        state.withLock { state in
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
