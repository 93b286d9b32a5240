import Synchronization

/// Counts what happened to commands, for the metrics.
final class CommandCounters: Sendable {
    private let busyCount = Atomic<Int>(0)
    private let timeoutCount = Atomic<Int>(0)
    private let runningCount = Atomic<Int>(0)

    /// The calls that found no free slot.
    var busy: Int { busyCount.load(ordering: .relaxed) }
    /// The commands that were stopped because their time was over.
    var timeouts: Int { timeoutCount.load(ordering: .relaxed) }

    /// The commands that are running.
    var running: Int { runningCount.load(ordering: .relaxed) }

    func countStart() { runningCount.add(1, ordering: .relaxed) }
    func countEnd() { runningCount.subtract(1, ordering: .relaxed) }
    func countBusy() { busyCount.add(1, ordering: .relaxed) }
    func countTimeout() { timeoutCount.add(1, ordering: .relaxed) }
}
