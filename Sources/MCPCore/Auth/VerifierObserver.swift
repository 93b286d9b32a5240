/// Learns of tokens that may no longer be good, so that open streams end at once
/// (`TokenVerifier.observe(_:)`).
public final class VerifierObserver: Sendable {
    private let body: @Sendable () -> Void

    /// Creates an observer; `body` is called on any thread and must not wait.
    public init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Reports a change. A verifier calls it after its `generation` has changed, without holding a lock.
    public func notify() { body() }
}
