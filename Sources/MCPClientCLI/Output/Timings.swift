import Synchronization

/// The durations of the steps of a command, for `--timings`.
final class Timings: Sendable {
    private let start = ContinuousClock.now
    private let steps = Mutex<[Step]>([])

    private struct Step {
        let name: String
        let duration: Duration
        let requests: Int
    }

    /// Adds a step that sent this many requests; without any, a response was already known.
    func add(_ name: String, _ duration: Duration, requests: Int) {
        steps.withLock { $0.append(Step(name: name, duration: duration, requests: requests)) }
    }

    var elapsed: Duration { ContinuousClock.now - start }

    /// `connect 0.4 · tools/list 0.8 · tools/call 2.1 · total 3.4 ms · 2 requests`
    var line: String {
        let steps = steps.withLock { $0 }
        var parts = steps.prefix(12).map { step -> String in
            let time = TimeSpan.decimal(TimeSpan.milliseconds(step.duration))
            let isCached = step.requests == 0 && step.name != "connect"
            return inlineText(step.name) + (isCached ? " – (cached)" : " \(time)")
        }
        if steps.count > 12 { parts.append("…") }
        parts.append("total \(TimeSpan.decimal(TimeSpan.milliseconds(elapsed))) ms")
        let count = steps.reduce(0) { $0 + $1.requests }
        parts.append("\(count) request\(count == 1 ? "" : "s")")
        return parts.joined(separator: " · ")
    }
}
