import Dispatch
import Synchronization

/// An alarm that wakes its owner at the earliest of the moments it was set for.
///
/// Moments are mostly set in ascending order, so setting the alarm usually costs one comparison and no
/// additional timer.
package final class Alarm: Sendable {
    private let clock: any TimeSource
    private let next = Mutex(MonotonicInstant.never)
    private let queue: DispatchQueue

    package init(label: String, clock: any TimeSource) {
        self.clock = clock
        queue = DispatchQueue(label: label)
    }

    /// Calls `wake` at `moment`, unless the alarm is set for an earlier moment; the owner sets it again when
    /// it is woken. The owner is not kept alive.
    package func set<Owner: AnyObject & Sendable>(
        for moment: MonotonicInstant, waking owner: Owner, _ wake: @escaping @Sendable (Owner) -> Void
    ) {
        let isEarlier = next.withLock { next in
            guard moment < next else { return false }
            next = moment
            return true
        }
        guard isEarlier else { return }
        clock.schedule(at: moment, on: queue) { [weak self, weak owner] in
            if self?.claim(moment) == true, let owner { wake(owner) }
        }
    }

    /// Returns false if an earlier moment was set in the meantime: that one has its own wake-up.
    private func claim(_ moment: MonotonicInstant) -> Bool {
        next.withLock { next in
            guard next == moment else { return false }
            next = .never
            return true
        }
    }
}
