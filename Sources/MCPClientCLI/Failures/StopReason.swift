import MCPCore
import Synchronization

/// The reason why the work was cancelled from outside, to be reported at the end.
final class StopReason: Sendable {
    private let state = Mutex<Failure?>(nil)
    private let isReported = Mutex(false)
    private let interruption = Callback<@Sendable () -> Bool>()

    /// Sets the reason; only the first one counts.
    func set(_ failure: Failure) {
        state.withLock { if $0 == nil { $0 = failure } }
    }

    /// Sets what an interrupt by Ctrl-C does first; it returns whether that was enough. Nil: it ends the
    /// command.
    func onInterrupt(_ handler: (@Sendable () -> Bool)?) { interruption.set(handler) }

    /// Passes an interrupt to the command; returns false if it has to end.
    func takesInterrupt() -> Bool { interruption.current?() ?? false }

    var failure: Failure? { state.withLock { $0 } }

    /// Claims the printing of the reason, which only the first caller gets: the command, or the canceller
    /// that ends the process without waiting for it.
    func claimReport() -> Bool {
        isReported.withLock { isReported in
            defer { isReported = true }
            return !isReported
        }
    }

    static var interrupted: Failure {
        Failure(
            code: .interrupted, kind: .interrupted, message: "interrupted", hasPrefix: false)
    }

    static func deadline(_ duration: Duration) -> Failure {
        Failure(
            code: .timeout, kind: .timeout,
            message: "the deadline of \(TimeSpan.text(duration)) has passed",
            hint: "--deadline sets the limit of the whole command")
    }
}
