import Synchronization

/// The requests in progress, by connection and id.
///
/// The key includes the connection (or legacy session), so that equal ids of different clients never collide
/// (CVE-2026-25536). The table contains only requests whose response is sent later: a request with an
/// immediate response cannot be cancelled and cannot collide.
final class InFlightTable<Entry: AnyObject & Sendable>: Sendable {
    struct Key: Hashable, Sendable {
        let channelID: UInt64
        let id: RequestID
    }

    enum Refusal: Sendable {
        /// The id is already in flight.
        case duplicate
        /// The connection has reached its maximum number of requests in flight.
        case full
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var perScope: [UInt64: Int] = [:]
    }

    private let state = Mutex(State())
    private let entryCount = Atomic<Int>(0)

    /// The number of requests in flight; reading it takes no lock, so that the usual case of zero is cheap.
    var count: Int { entryCount.load(ordering: .acquiring) }

    func insert(_ entry: Entry, at key: Key, limit: Int) -> Refusal? {
        let refusal = state.withLock { state -> Refusal? in
            if state.entries[key] != nil { return .duplicate }
            let open = state.perScope[key.channelID, default: 0]
            if open >= limit { return .full }
            state.entries[key] = entry
            state.perScope[key.channelID] = open + 1
            return nil
        }
        if refusal == nil { entryCount.add(1, ordering: .acquiringAndReleasing) }
        return refusal
    }

    func remove(_ key: Key) {
        let removed = state.withLock { state -> Entry? in
            guard let entry = state.entries.removeValue(forKey: key) else { return nil }
            let open = state.perScope[key.channelID, default: 1] - 1
            state.perScope[key.channelID] = open > 0 ? open : nil
            return entry
        }
        if removed != nil { entryCount.subtract(1, ordering: .acquiringAndReleasing) }
    }

    func entry(at key: Key) -> Entry? {
        count == 0 ? nil : state.withLock { $0.entries[key] }
    }

    func contains(_ key: Key) -> Bool { entry(at: key) != nil }

    /// Returns all requests in flight, of one connection or of all connections.
    func entries(in channelID: UInt64? = nil) -> [Entry] {
        guard count > 0 else { return [] }
        return state.withLock { state in
            guard let channelID else { return Array(state.entries.values) }
            return state.entries.compactMap { $0.key.channelID == channelID ? $0.value : nil }
        }
    }
}
