import Synchronization

/// The requests that are being worked on, by connection and id.
///
/// The key holds the connection (or legacy session), so equal ids of different clients never meet
/// (CVE-2026-25536). Only requests whose answer comes later are here: one that is answered on the spot cannot
/// be cancelled and cannot collide.
final class InFlightTable<Entry: AnyObject & Sendable>: Sendable {
    struct Key: Hashable, Sendable {
        let channelID: UInt64
        let id: RequestID
    }

    enum Refusal: Sendable {
        /// The id is in flight already.
        case duplicate
        /// The connection has its maximum in flight.
        case full
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var perScope: [UInt64: Int] = [:]
    }

    private let state = Mutex(State())
    private let entryCount = Atomic<Int>(0)

    /// How many requests are in flight; costs no lock, so that the usual "none" is free.
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

    /// Everything in flight, of one connection or of all.
    func entries(in channelID: UInt64? = nil) -> [Entry] {
        guard count > 0 else { return [] }
        return state.withLock { state in
            guard let channelID else { return Array(state.entries.values) }
            return state.entries.compactMap { $0.key.channelID == channelID ? $0.value : nil }
        }
    }
}
