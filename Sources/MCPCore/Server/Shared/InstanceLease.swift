import Synchronization

/// The sign of life of an instance in the store that it shares with others: what it has begun and not
/// finished is lost when the lease ends.
final class InstanceLease: Sendable {
    /// The time for which an instance is believed to live after it renewed its lease.
    static let lifetime = Duration.seconds(10)
    /// The interval at which an instance with unfinished work renews it.
    static let interval = Duration.seconds(1)

    /// The name of this instance.
    let instance = Hex.encode(SystemRandom().bytes(16))
    private let keys: StateKeys
    private let clock: any TimeSource
    /// The time before which the lease needs no renewal.
    private let due = Mutex(MonotonicInstant(nanoseconds: 0))

    init(keys: StateKeys, clock: any TimeSource) {
        self.keys = keys
        self.clock = clock
    }

    /// Renews the lease of this instance, at most once in `interval`.
    func renew(in store: any StateStore) async throws {
        let now = clock.now
        let isDue = due.withLock { due in
            guard now >= due else { return false }
            due = now + Self.interval / 2
            return true
        }
        guard isDue else { return }
        let end = clock.wallTime.secondsSinceEpoch + Self.lifetime.components.seconds
        let sealed = keys.seal(Array("\(end)".utf8), Self.context(instance))
        do {
            try await store.set(sealed, for: "instance:\(instance)", lifetime: Self.lifetime)
        } catch {
            due.withLock { $0 = now }
            throw error
        }
    }

    /// Whether an instance lives. A lease names its end, so that one that was written back does not count for
    /// long.
    func lives(_ instance: String, in store: any StateStore) async throws -> Bool {
        if instance == self.instance { return true }
        guard let value = try await store.value(for: "instance:\(instance)"),
            let text = keys.open(value, Self.context(instance)),
            let end = Int64(String(decoding: text, as: UTF8.self))
        else { return false }
        return clock.wallTime.secondsSinceEpoch - RequestState.skew <= end
    }

    private static func context(_ instance: String) -> (inout HMACSHA256) -> Void {
        { $0.update("shared instance \(instance)\0".utf8) }
    }
}
