import Synchronization

/// The reason why the work was cancelled from outside, to be reported at the end.
final class StopReason: Sendable {
    private let state = Mutex<Failure?>(nil)

    /// Sets the reason; only the first one counts.
    func set(_ failure: Failure) {
        state.withLock { if $0 == nil { $0 = failure } }
    }

    var failure: Failure? { state.withLock { $0 } }

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
