import Dispatch
import Synchronization

/// Wakes up when the earliest deadline of the waiting calls has come.
///
/// A call costs one comparison here and no timer of its own: later calls mostly have later deadlines.
final class CallWatch: Sendable {
    private let next = Mutex(MonotonicInstant.never)
    private let queue = DispatchQueue(label: "mcp.client.deadlines")
    private let clock: any TimeSource
    /// Looks at all calls and returns the earliest deadline that is left.
    private let expire: @Sendable (_ now: MonotonicInstant) -> MonotonicInstant

    init(clock: any TimeSource, expire: @escaping @Sendable (MonotonicInstant) -> MonotonicInstant) {
        self.clock = clock
        self.expire = expire
    }

    func watch(_ deadline: MonotonicInstant) {
        let isEarlier = next.withLock { next in
            guard deadline < next else { return false }
            next = deadline
            return true
        }
        guard isEarlier else { return }
        let delay = (deadline - clock.now).dispatchInterval
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.wake(for: deadline) }
    }

    private func wake(for deadline: MonotonicInstant) {
        // An earlier deadline came meanwhile and has its own wake-up.
        let isMine = next.withLock { next in
            guard next == deadline else { return false }
            next = .never
            return true
        }
        if isMine { watch(expire(clock.now)) }
    }
}
