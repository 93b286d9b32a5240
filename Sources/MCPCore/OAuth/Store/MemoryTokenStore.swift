import Synchronization

/// A store that keeps registrations and tokens in memory, until it is released.
public final class MemoryTokenStore: TokenStore {
    private struct State {
        var entries: [TokenKey: StoredAuthorization] = [:]
        var servers: [String: TokenKey] = [:]
    }

    private let state = Mutex(State())
    private let locks = KeyedLocks<TokenKey>()

    /// Creates an empty store.
    public init() {}

    /// Returns what is stored under a key; nil if nothing is.
    public func read(_ key: TokenKey) async throws(AuthorizationError) -> StoredAuthorization? {
        state.withLock { $0.entries[key] }
    }

    /// Runs `body` with what is stored under a key, and stores what it leaves there, also if it throws.
    public func update<Result: Sendable>(
        _ key: TokenKey,
        _ body: @Sendable (inout StoredAuthorization?) async throws(AuthorizationError) -> Result
    ) async throws(AuthorizationError) -> Result {
        try await locks.hold(key) { () async throws(AuthorizationError) -> Result in
            var entry = state.withLock { $0.entries[key] }
            defer { state.withLock { $0.entries[key] = entry } }
            return try await body(&entry)
        }
    }

    /// Returns the keys of all that is stored.
    public func keys() async throws(AuthorizationError) -> [TokenKey] {
        state.withLock { Array($0.entries.keys) }
    }

    /// Returns the key of the authorization that a server's URL was last used with; nil if there is none.
    public func key(forServer url: String) async throws(AuthorizationError) -> TokenKey? {
        state.withLock { $0.servers[url] }
    }

    /// Remembers the key for a server's URL; nil forgets it.
    public func setKey(_ key: TokenKey?, forServer url: String) async throws(AuthorizationError) {
        state.withLock { $0.servers[url] = key }
    }

    /// Returns all remembered servers with their keys, sorted by URL.
    public func servers() async throws(AuthorizationError) -> [(url: String, key: TokenKey)] {
        state.withLock { state in
            state.servers.sorted { $0.key < $1.key }.map { (url: $0.key, key: $0.value) }
        }
    }
}
