import Synchronization

/// The reason why the work was cancelled from outside, to be reported at the end.
final class StopReason: Sendable {
    private let state = Mutex<Failure?>(nil)
    private let isReported = Mutex(false)

    /// Sets the reason; only the first one counts.
    func set(_ failure: Failure) {
        state.withLock { if $0 == nil { $0 = failure } }
    }

    var failure: Failure? { state.withLock { $0 } }

    /// Returns whether the caller is the one that prints the reason: the command, or whoever ends the process
    /// without waiting for it.
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
