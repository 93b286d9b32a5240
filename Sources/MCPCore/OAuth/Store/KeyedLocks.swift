import Synchronization

/// Locks that tasks hold across suspensions, one for each key; whoever waits longest is next.
final class KeyedLocks<Key: Hashable & Sendable>: Sendable {
    /// The tasks that wait for each key that is held.
    private let waiting = Mutex<[Key: [OneShot<Bool>]]>([:])

    /// Runs `body` while no other task holds the key.
    ///
    /// - Throws: `AuthorizationError` of the kind `.cancelled` if the task is cancelled while it waits.
    func hold<Result: Sendable>(
        _ key: Key, _ body: () async throws(AuthorizationError) -> Result
    ) async throws(AuthorizationError) -> Result {
        try await acquire(key)
        defer { release(key) }
        return try await body()
    }

    private func acquire(_ key: Key) async throws(AuthorizationError) {
        let turn = OneShot<Bool>()
        let isFree = waiting.withLock { waiting in
            guard waiting[key] != nil else {
                waiting[key] = []
                return true
            }
            waiting[key]?.append(turn)
            return false
        }
        if isFree { return }
        if await turn.value(ifCancelled: false) { return }
        // The lock may have been handed over at the same moment; then it goes on to the next task.
        if !turn.finish(false) { release(key) }
        throw AuthorizationError(.cancelled, "cancelled while the stored authorization was in use")
    }

    private func release(_ key: Key) {
        waiting.withLock { waiting in
            while let next = waiting[key]?.first {
                waiting[key]?.removeFirst()
                if next.finish(true) { return }
            }
            waiting[key] = nil
        }
    }
}
