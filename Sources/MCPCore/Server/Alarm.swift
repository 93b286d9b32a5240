import Dispatch
import Synchronization

/// Wakes somebody at the earliest of the moments it was told.
///
/// Since later things mostly have later moments, setting it costs one comparison and no timer of its own.
final class Alarm: Sendable {
    private let clock: any TimeSource
    private let next = Mutex(Int64.max)
    private let queue: DispatchQueue

    init(label: String, clock: any TimeSource) {
        self.clock = clock
        queue = DispatchQueue(label: label)
    }

    /// Calls `wake` at `moment`, in nanoseconds of the monotonic clock, unless it is set for an earlier one:
    /// whoever is woken then sets it anew.
    func set(for moment: Int64, _ wake: @escaping @Sendable () -> Void) {
        let isEarlier = next.withLock { next in
            guard moment < next else { return false }
            next = moment
            return true
        }
        guard isEarlier else { return }
        clock.schedule(at: MonotonicInstant(nanoseconds: moment), on: queue) { [weak self] in
            if self?.claim(moment) == true { wake() }
        }
    }

    /// False when an earlier moment came meanwhile: that one has its own wake-up.
    private func claim(_ moment: Int64) -> Bool {
        next.withLock { next in
            guard next == moment else { return false }
            next = .max
            return true
        }
    }
}
