import Synchronization

/// Answers of a server that stay true for a while: lists, resources and what it says of itself, each for as
/// long as the server allows (server/utilities/caching).
///
/// A cache belongs to one client, and so to one principal: whom an answer may be shared with does not matter
/// (CACHE-08, CACHE-14).
final class ResultCache: Sendable {
    /// Answers that are kept; the oldest makes room.
    static let maxEntries = 1_000
    /// All answers together.
    static let maxBytes = 16 << 20
    /// One answer; a larger one is not kept.
    static let maxEntryBytes = 4 << 20
    /// An answer is kept no longer, whatever the server says.
    static let maxLifetime = Duration.seconds(86_400)

    /// The methods whose answers can be kept (CACHE-01).
    static let methods: Set<String> = [
        "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
        "resources/read",
    ]

    /// The whole question, apart from what it says of its asker (CACHE-03).
    struct Key: Hashable, Sendable {
        let method: String
        let params: String
        /// Of `resources/read`.
        let uri: String?

        /// Nil for a question whose answer is not kept: of another method, or one that says more than what
        /// it asks for, as the second round of questions does (CACHE-04).
        init?(_ method: String, _ params: JSONObject) {
            guard ResultCache.methods.contains(method),
                !params.keys.contains(where: { ["inputResponses", "requestState", "_meta"].contains($0) })
            else { return nil }
            self.method = method
            self.params = JSONValue.object(params).serialized()
            uri = method == "resources/read" ? params["uri"]?.stringValue : nil
        }
    }

    /// What an answer is compared with before it is kept: a change that was told meanwhile makes it an old
    /// one.
    struct Ticket: Sendable {
        fileprivate let key: Key
        fileprivate let changes: Int
    }

    private struct Entry {
        let result: RawJSON
        let expires: MonotonicInstant
        let size: Int
    }

    private struct State {
        var entries = BoundedTable<Key, Entry>(capacity: maxEntries, policy: .evictOldest)
        var bytes = 0
        var changes = 0

        mutating func remove(_ key: Key) {
            if let entry = entries.remove(key) { bytes -= entry.size }
        }

        mutating func remove(where isStale: (Key) -> Bool) {
            changes += 1
            for (key, _) in entries where isStale(key) { remove(key) }
        }
    }

    private let state = Mutex(State())
    private let clock: any TimeSource

    init(clock: any TimeSource) { self.clock = clock }

    var count: Int { state.withLock { $0.entries.count } }
    var bytes: Int { state.withLock { $0.bytes } }

    // MARK: Asking

    /// An answer that is still fresh (CACHE-05).
    func result(for key: Key) -> RawJSON? {
        let now = clock.now
        return state.withLock { state in
            guard let entry = state.entries[key] else { return nil }
            if now < entry.expires { return entry.result }
            state.remove(key)
            return nil
        }
    }

    /// Before the question leaves.
    func ticket(for key: Key) -> Ticket { Ticket(key: key, changes: state.withLock { $0.changes }) }

    /// Keeps a complete answer, if the server allows it and nothing has changed since the question left.
    func keep(_ result: RawJSON, _ ticket: Ticket) {
        let ttl = result["ttlMs"]?.int64 ?? 0
        let size = result.bytes.count + ticket.key.params.utf8.count
        guard ttl > 0, size <= Self.maxEntryBytes else { return remove(ticket.key) }
        let lifetime = min(.milliseconds(ttl), Self.maxLifetime)
        // A copy: the answer is a part of a buffer that would be kept with it.
        let copy = RawJSON(unchecked: result.bytes.copy())
        let expires = clock.now + lifetime
        state.withLock { state in
            state.remove(ticket.key)
            guard state.changes == ticket.changes else { return }
            while state.entries.isFull || state.bytes + size > Self.maxBytes,
                let oldest = state.entries.oldest?.key
            {
                state.remove(oldest)
            }
            state.bytes += size
            state.entries.insert(Entry(result: copy, expires: expires, size: size), for: ticket.key)
        }
    }

    private func remove(_ key: Key) { state.withLock { $0.remove(key) } }

    // MARK: Changes

    /// The server has told of a change (CACHE-10).
    func drop(_ change: ServerChange) {
        switch change {
        case .toolsListChanged: drop("tools/list")
        case .promptsListChanged: drop("prompts/list")
        case .resourcesListChanged:
            state.withLock { state in
                state.remove { $0.method == "resources/list" || $0.method == "resources/templates/list" }
            }
        case .resourceUpdated(let uri):
            state.withLock { state in
                state.remove { $0.uri.map { Self.concerns(uri, $0) } ?? false }
            }
        case .resubscribed: dropAll()
        case .task: break
        }
    }

    /// A change of a part is a change of the whole, and the other way round (RES-14).
    private static func concerns(_ changed: String, _ kept: String) -> Bool {
        kept == changed || changed.hasPrefix(kept + "/") || kept.hasPrefix(changed + "/")
    }

    /// All pages of a list (CACHE-12).
    func drop(_ method: String) { state.withLock { state in state.remove { $0.method == method } } }

    /// The server may be another one, or changes may have been missed.
    func dropAll() { state.withLock { state in state.remove { _ in true } } }
}
