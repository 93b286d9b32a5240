import Dispatch
import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A canceller that ends the work on Ctrl-C or at the deadline.
///
/// It first ends the work gracefully, so that the server is notified, and later, if necessary, at once.
final class Canceller: Sendable {
    private static let grace = DispatchTimeInterval.seconds(2)
    /// The time allowed for printing the final message: a busy machine needs more than a moment.
    private static let reportTime = DispatchTimeInterval.seconds(2)

    private let stop: StopReason
    private let cancel: @Sendable () -> Void
    /// Prints why the command ends, because the command cannot do so itself.
    private let report: @Sendable (Failure) -> Void
    /// Leaves nothing that was typed for this program to the next one.
    private let leaveTerminal: @Sendable () -> Void
    private let count = Mutex(0)
    private let queue = DispatchQueue(label: "mcp-client.cancel")

    init(
        stop: StopReason, report: @escaping @Sendable (Failure) -> Void,
        leaveTerminal: @escaping @Sendable () -> Void,
        cancel: @escaping @Sendable () -> Void
    ) {
        self.stop = stop
        self.report = report
        self.leaveTerminal = leaveTerminal
        self.cancel = cancel
    }

    /// Watches signals, from the moment it returns. Keep the watch while they are to be watched; without a
    /// descriptor for it, they keep their usual effect.
    func watch(_ signals: [Int32]) -> SignalWatch? {
        try? SignalWatch(signals) { [self] signal in queue.async { self.signalled(signal) } }
    }

    private func signalled(_ signal: Int32) {
        if signal == SIGQUIT { quit() }
        if signal == SIGINT, stop.takesInterrupt() { return }
        let times = count.withLock { count in
            count += 1
            return count
        }
        if times > 1 { leave(StopReason.interrupted) }
        end(StopReason.interrupted)
    }

    /// Ends the process at once, as SIGQUIT does, but leaves nothing behind.
    private func quit() -> Never {
        cleanUp()
        signal(SIGQUIT, SIG_DFL)
        // This thread may block the signal; the process does not.
        kill(getpid(), SIGQUIT)
        sleep(1)
        _exit(128 + SIGQUIT)
    }

    private func cleanUp() {
        leaveTerminal()
        TerminalMode.restore()
        ChildPrograms.killAll()
        OutputFile.removeUnfinished()
    }

    /// Ends the work after `duration`.
    func arm(_ duration: Duration) {
        let nanoseconds = Int(clamping: Int64(TimeSpan.milliseconds(duration) * 1_000_000))
        queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
            self.end(StopReason.deadline(duration))
        }
    }

    private func end(_ failure: Failure) {
        TerminalMode.end()
        stop.set(failure)
        cancel()
        queue.asyncAfter(deadline: .now() + Self.grace) { self.leave(failure) }
    }

    /// Exits without waiting for anything, because the command did not end when it was cancelled.
    private func leave(_ failure: Failure) {
        // First, because the end of the children may end the command.
        let isReporting = stop.claimReport()
        cleanUp()
        let code = failure.code.rawValue
        // If nothing reads standard error, writing there would take forever.
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.reportTime) { _exit(code) }
        guard isReporting else { return }
        report(failure)
        _exit(code)
    }
}
