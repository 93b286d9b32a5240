import Synchronization

/// The wrong credentials that clients have presented a moment ago, by their address.
///
/// The time comes from outside.
final class FailedAttempts: Sendable {
    /// The maximum number of failures of one address in `period`; then its credentials are not looked at.
    static let maxFailures = 10
    static let period = Duration.seconds(1)
    /// The maximum number of addresses that are remembered; the oldest one is forgotten.
    static let maxAddresses = 1_024

    private struct Entry: Sendable {
        var count: Int
        let began: MonotonicInstant
    }

    private let entries = Mutex(
        BoundedTable<[UInt8], Entry>(capacity: maxAddresses, policy: .evictOldest))
    private let active = Atomic<Bool>(false)

    /// Whether there was any failure: nothing else is asked for until then.
    var isActive: Bool { active.load(ordering: .relaxed) }

    /// The number of addresses that are remembered.
    var addresses: Int { entries.withLock { $0.count } }

    /// Returns whether an address has failed so often that it has to wait.
    func areTooMany(from address: [UInt8], at now: MonotonicInstant) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[address], now < entry.began + Self.period else { return false }
            return entry.count >= Self.maxFailures
        }
    }

    /// Counts a failure. Returns whether there are too many.
    func add(_ address: [UInt8], at now: MonotonicInstant) -> Bool {
        active.store(true, ordering: .relaxed)
        return entries.withLock { entries in
            guard var entry = entries[address], now < entry.began + Self.period else {
                entries.remove(address)
                entries.insert(Entry(count: 1, began: now), for: address)
                return false
            }
            entry.count += 1
            entries.replace(entry, for: address)
            return entry.count > Self.maxFailures
        }
    }
}
