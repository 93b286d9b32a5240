import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Ends the work on Ctrl-C or at the deadline: first politely, so that the server hears of it, then at once.
final class Canceller: Sendable {
    private static let grace = DispatchTimeInterval.seconds(2)
    /// How long the last words may take.
    private static let reportTime = DispatchTimeInterval.milliseconds(200)

    private let stop: StopReason
    private let cancel: @Sendable () -> Void
    /// Prints why the command ends, which cannot do so itself.
    private let report: @Sendable (Failure) -> Void
    private let count = Mutex(0)
    private let queue = DispatchQueue(label: "mcp-client.cancel")

    init(
        stop: StopReason, report: @escaping @Sendable (Failure) -> Void,
        cancel: @escaping @Sendable () -> Void
    ) {
        self.stop = stop
        self.report = report
        self.cancel = cancel
    }

    /// The source must live as long as the signal is to be watched.
    func watch(_ signalNumber: Int32) -> any DispatchSourceSignal {
        // Before the source starts: set afterwards, it would lose a signal that is already pending.
        signal(signalNumber, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: signalNumber, queue: queue)
        source.setEventHandler { self.signalled() }
        source.resume()
        return source
    }

    private func signalled() {
        let times = count.withLock { count in
            count += 1
            return count
        }
        if times > 1 { leave(StopReason.interrupted) }
        end(StopReason.interrupted)
    }

    /// Ends the work after `duration`.
    func arm(_ duration: Duration) {
        let nanoseconds = Int(clamping: Int64(TimeSpan.milliseconds(duration) * 1_000_000))
        queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
            self.end(StopReason.deadline(duration))
        }
    }

    private func end(_ failure: Failure) {
        stop.set(failure)
        cancel()
        queue.asyncAfter(deadline: .now() + Self.grace) { self.leave(failure) }
    }

    /// Without waiting for anything; the command did not end although it was asked to.
    private func leave(_ failure: Failure) {
        ChildPrograms.killAll()
        OutputFile.removeUnfinished()
        let code = failure.code.rawValue
        // Nobody may read standard error, and then writing there would take for ever.
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.reportTime) { _exit(code) }
        report(failure)
        _exit(code)
    }
}
