import Synchronization

/// The durations of the steps of a command, for `--timings`.
final class Timings: Sendable {
    private let start = ContinuousClock.now
    private let steps = Mutex<[Step]>([])

    private struct Step {
        let name: String
        let duration: Duration
        let isRequest: Bool
    }

    func add(_ name: String, _ duration: Duration, isRequest: Bool) {
        steps.withLock { $0.append(Step(name: name, duration: duration, isRequest: isRequest)) }
    }

    var elapsed: Duration { ContinuousClock.now - start }

    /// `connect 0.4 · tools/list 0.8 · tools/call 2.1 · total 3.4 ms · 2 requests`
    var line: String {
        let steps = steps.withLock { $0 }
        var parts = steps.prefix(12).map { step in
            "\(inlineText(step.name)) \(TimeSpan.decimal(TimeSpan.milliseconds(step.duration)))"
        }
        if steps.count > 12 { parts.append("…") }
        parts.append("total \(TimeSpan.decimal(TimeSpan.milliseconds(elapsed))) ms")
        let count = steps.count(where: \.isRequest)
        parts.append("\(count) request\(count == 1 ? "" : "s")")
        return parts.joined(separator: " · ")
    }
}
