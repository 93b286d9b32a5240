/// An observer of a run, which sees the output while the process writes it.
///
/// It is called on the thread of the run, one call at a time, and must not block.
package protocol ProcessObserver: AnyObject {
    /// The next time at which `wake` has to be called.
    var wakeTime: MonotonicInstant { get }

    /// Called at `wakeTime`, or somewhat later.
    func wake(at now: MonotonicInstant)

    /// Receives bytes that the process wrote; returns those that belong to its output.
    func take(_ bytes: [UInt8], from stream: ProcessRunner.OutputStream, at now: MonotonicInstant) -> [UInt8]

    /// Called when nothing more will be read; returns the bytes that were held back and belong to the output.
    func end(of stream: ProcessRunner.OutputStream) -> [UInt8]
}

extension ProcessRunner {
    /// One of the two streams that a process writes to.
    package enum OutputStream: Sendable, Hashable {
        case output, errors
    }

    /// What happens to standard output beyond the limit.
    package enum Excess: Sendable, Hashable {
        /// The process is killed.
        case ends
        /// The process continues, and what it writes is counted and dropped.
        case isDropped
    }
}
