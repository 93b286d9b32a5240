import Synchronization

/// A cache of a server's responses: lists, resources and its description of itself, each for as long as the
/// server allows (server/utilities/caching).
///
/// A cache belongs to one client and therefore to one principal, so it does not matter with whom a response
/// may be shared (CACHE-08, CACHE-14).
final class ResultCache: Sendable {
    /// The maximum number of cached responses; the oldest is evicted to make room for a new one.
    static let maxEntries = 1_000
    /// The maximum size of all responses together.
    static let maxBytes = 16 << 20
    /// The maximum size of one response; a larger one is not cached.
    static let maxEntryBytes = 4 << 20
    /// The maximum lifetime of a response, whatever the server specifies.
    static let maxLifetime = Duration.seconds(86_400)

    /// The methods whose responses can be cached (CACHE-01).
    static let methods: Set<String> = [
        "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
        "resources/read",
    ]

    /// The whole request, except for what it states about the client (CACHE-03).
    struct Key: Hashable, Sendable {
        let method: String
        let params: String
        /// The address of a `resources/read` request.
        let uri: String?

        /// Fails for a request whose response is not cached: one of another method, or one that carries more
        /// than its query, such as the retry with input responses (CACHE-04).
        init?(_ method: String, _ params: JSONObject) {
            guard ResultCache.methods.contains(method),
                !params.keys.contains(where: { ["inputResponses", "requestState", "_meta"].contains($0) })
            else { return nil }
            self.method = method
            self.params = JSONValue.object(params).serialized()
            uri = method == "resources/read" ? params["uri"]?.stringValue : nil
        }

        /// Creates the key of a list that an earlier connection received.
        fileprivate init(restored method: String, _ params: String) {
            self.method = method
            self.params = params
            uri = nil
        }
    }

    /// A token that a response is checked against before it is cached: a change reported in the meantime
    /// makes the response stale.
    struct Ticket: Sendable {
        fileprivate let key: Key
        fileprivate let changes: Int
    }

    private struct Entry {
        let result: RawJSON
        let expires: MonotonicInstant
        let size: Int
        /// The time at which the response arrived, in seconds since 1970.
        let keptAt: Int64
        /// Whether an earlier connection received it, and this one has not used it yet.
        var isRestored = false
        /// Whether it is only passed on to later connections.
        var isDormant = false
    }

    /// A response that is still fresh.
    struct Found {
        let result: RawJSON
        /// Whether an earlier connection received it, and this is its first use.
        let isRestored: Bool
    }

    private struct State {
        var entries = BoundedTable<Key, Entry>(capacity: maxEntries, policy: .evictOldest)
        var bytes = 0
        var changes = 0
        /// Whether the responses differ from those that were restored.
        var isModified = false

        mutating func remove(_ key: Key) {
            guard let entry = entries.remove(key) else { return }
            bytes -= entry.size
            isModified = true
        }

        mutating func insert(_ entry: Entry, _ key: Key) {
            while entries.isFull || bytes + entry.size > maxBytes, let oldest = entries.oldest?.key {
                remove(oldest)
            }
            bytes += entry.size
            entries.insert(entry, for: key)
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

    // MARK: Reading and writing

    /// Returns a response that is still fresh (CACHE-05).
    func result(for key: Key) -> Found? {
        let now = clock.now
        return state.withLock { state in
            guard var entry = state.entries[key], !entry.isDormant else { return nil }
            guard now < entry.expires else {
                state.remove(key)
                return nil
            }
            let found = Found(result: entry.result, isRestored: entry.isRestored)
            if entry.isRestored {
                entry.isRestored = false
                state.entries.insert(entry, for: key)
            }
            return found
        }
    }

    /// Returns a ticket; call it before the request is sent.
    func ticket(for key: Key) -> Ticket { Ticket(key: key, changes: state.withLock { $0.changes }) }

    /// Caches a complete response if the server allows it and nothing has changed since the request was sent.
    func keep(_ result: RawJSON, _ ticket: Ticket) {
        let ttl = result["ttlMs"]?.int64 ?? 0
        let size = result.bytes.count + ticket.key.params.utf8.count
        guard ttl > 0, size <= Self.maxEntryBytes else { return remove(ticket.key) }
        let lifetime = min(.milliseconds(ttl), Self.maxLifetime)
        // Copied, because the response is a slice of a buffer that would be retained with it.
        let copy = RawJSON(unchecked: result.bytes.copy())
        let entry = Entry(
            result: copy, expires: clock.now + lifetime, size: size,
            keptAt: clock.wallTime.secondsSinceEpoch)
        state.withLock { state in
            state.remove(ticket.key)
            guard state.changes == ticket.changes else { return }
            state.insert(entry, ticket.key)
            state.isModified = true
        }
    }

    private func remove(_ key: Key) { state.withLock { $0.remove(key) } }

    // MARK: Changes

    /// Drops the responses that a change reported by the server makes stale (CACHE-10).
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

    /// Returns whether a change concerns a cached resource: a change of a part is a change of the whole, and
    /// vice versa (RES-14).
    private static func concerns(_ changed: String, _ kept: String) -> Bool {
        kept == changed || changed.hasPrefix(kept + "/") || kept.hasPrefix(changed + "/")
    }

    /// Drops all pages of a list (CACHE-12).
    func drop(_ method: String) { state.withLock { state in state.remove { $0.method == method } } }

    /// Drops everything: the server may be a different one, or changes may have been missed.
    func dropAll() { state.withLock { state in state.remove { _ in true } } }
}

// MARK: Between connections

extension ResultCache {
    /// A response with the time until which it is fresh.
    struct Kept: Sendable, Hashable {
        let method: String
        let params: String
        let result: RawJSON
        /// Seconds since 1970.
        let keptAt: Int64
        let expiresAt: Int64

        /// Whether it may be used for another principal (CACHE-09, CACHE-14).
        var isPublic: Bool { result["cacheScope"]?.string == "public" }
    }

    /// The methods whose responses outlive a connection; contents of resources do not.
    private static let lasting = methods.subtracting(["resources/read", "server/discover"])

    var isModified: Bool { state.withLock { $0.isModified } }

    /// The fresh responses that a later connection may use.
    var lasting: [Kept] {
        let (now, wall) = (clock.now, clock.wallTime.secondsSinceEpoch)
        return state.withLock { state in
            state.entries.compactMap { key, entry in
                let left = entry.expires - now
                guard left > .zero, Self.lasting.contains(key.method) else { return nil }
                return Kept(
                    method: key.method, params: key.params, result: entry.result, keptAt: entry.keptAt,
                    expiresAt: wall &+ left.components.seconds)
            }
        }
    }

    /// Takes over the responses of an earlier connection that are still fresh.
    ///
    /// - Parameter isDormant: whether they are only passed on to later connections.
    func restore(_ responses: [Kept], isDormant: Bool) {
        let (now, wall) = (clock.now, clock.wallTime.secondsSinceEpoch)
        for response in responses where Self.lasting.contains(response.method) {
            // From the future: the clock was set back, so the age is unknown.
            let (left, overflow) = response.expiresAt.subtractingReportingOverflow(wall)
            let size = response.result.bytes.count + response.params.utf8.count
            guard !overflow, left > 0, left <= Self.maxLifetime.components.seconds, response.keptAt <= wall,
                size <= Self.maxEntryBytes
            else { continue }
            let key = Key(restored: response.method, response.params)
            let entry = Entry(
                result: response.result, expires: now + .seconds(left), size: size,
                keptAt: response.keptAt, isRestored: true, isDormant: isDormant)
            state.withLock { state in if state.entries[key] == nil { state.insert(entry, key) } }
        }
        state.withLock { $0.isModified = false }
    }
}
