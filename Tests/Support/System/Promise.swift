import Dispatch
import Synchronization

/// Something that happens once on another thread and is waited for, for 10 seconds at most.
package final class Promise<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    package init() {}

    package func fulfil(_ newValue: Value) {
        value.withLock { $0 = newValue }
        arrived.signal()
    }

    /// Nil when nothing came in time.
    package func wait(seconds: Int = 10) -> Value? {
        guard arrived.wait(timeout: .now() + .seconds(seconds)) == .success else { return nil }
        return value.withLock { $0 }
    }
}
