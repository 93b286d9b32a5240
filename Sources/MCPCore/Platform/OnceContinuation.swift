import Synchronization

/// A continuation that several may want to resume; the first does.
final class OnceContinuation<Value: Sendable>: Sendable {
    private let continuation = Mutex<CheckedContinuation<Value, Never>?>(nil)

    func set(_ continuation: CheckedContinuation<Value, Never>) {
        self.continuation.withLock { $0 = continuation }
    }

    func resume(_ value: Value) {
        let waiting = continuation.withLock { current in
            let waiting = current
            current = nil
            return waiting
        }
        waiting?.resume(returning: value)
    }
}
