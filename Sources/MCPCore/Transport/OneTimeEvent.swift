import Synchronization

/// Something that happens once. Any number of tasks may wait for it, before and after.
final class OneTimeEvent: Sendable {
    private enum State {
        case awaited([CheckedContinuation<Void, Never>])
        case happened
    }

    private let state = Mutex(State.awaited([]))

    /// Lets it happen. False when it had happened before.
    @discardableResult
    func happen() -> Bool {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            guard case .awaited(let waiting) = state else { return nil }
            state = .happened
            return waiting
        }
        for continuation in waiting ?? [] { continuation.resume() }
        return waiting != nil
    }

    /// Returns when it has happened.
    func wait() async {
        await withCheckedContinuation { continuation in
            let hasHappened = state.withLock { state in
                guard case .awaited(let waiting) = state else { return true }
                state = .awaited(waiting + [continuation])
                return false
            }
            if hasHappened { continuation.resume() }
        }
    }
}
