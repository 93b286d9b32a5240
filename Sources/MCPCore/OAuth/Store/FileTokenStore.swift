import Dispatch

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A store that keeps registrations and tokens in files that only their owner can read.
///
/// The directory has one JSON file for each authorization and `servers.json` for the servers; it is created
/// by the first write. Files are replaced as a whole, so that a process that is killed leaves the old one.
/// Several processes may share the directory. Files that others can read, that belong to another user, that
/// are symbolic links, or that cannot be understood are refused and never overwritten.
public final class FileTokenStore: TokenStore {
    /// The directory, with the permissions 0700.
    public let directory: String

    private let place: PrivateDirectory
    private let locks = KeyedLocks<String>()
    private let clock: any TimeSource

    /// The longest time to wait for a process that is using the same entry.
    static let lockTimeout: Duration = .seconds(60)
    /// The largest size of the file of an authorization, in bytes.
    static let maxEntryBytes = 256 << 10
    /// The largest size of `servers.json`, in bytes.
    static let maxServersBytes = 1 << 20
    /// The largest number of remembered servers.
    static let maxServers = 1_000

    /// Creates a store in a directory, which need not exist.
    public convenience init(directory: String) {
        self.init(directory: directory, user: geteuid(), clock: SystemClock())
    }

    /// - Parameter user: the user to whom the files must belong.
    package init(directory: String, user: UInt32, clock: any TimeSource) {
        self.directory = directory
        self.clock = clock
        place = PrivateDirectory(path: directory, user: user)
    }

    /// Returns the store that the environment names: the directory or `memory` in `MCP_AUTH_STORE`, else
    /// `$XDG_STATE_HOME/mcpcore/auth`, else `~/.local/state/mcpcore/auth`.
    ///
    /// - Throws: `AuthorizationError` of the kind `.store` if none of the variables is set.
    public static func standard() throws(AuthorizationError) -> any TokenStore {
        try named(nil) { Environment.value($0) }
    }

    /// Returns the store with a name as in `MCP_AUTH_STORE`; nil for the one that the environment names.
    package static func named(
        _ name: String?, _ variable: (String) -> String?
    ) throws(AuthorizationError) -> any TokenStore {
        if let name = name ?? variable("MCP_AUTH_STORE"), !name.isEmpty {
            return name == "memory" ? MemoryTokenStore() : FileTokenStore(directory: name)
        }
        if let state = PrivateDirectory.statePath(variable) {
            return FileTokenStore(directory: state + "/auth")
        }
        throw AuthorizationError(
            .store, "no place for logins: neither XDG_STATE_HOME nor HOME is set",
            hint: "MCP_AUTH_STORE=DIR names a directory, MCP_AUTH_STORE=memory keeps nothing",
            remedy: .store)
    }

    // MARK: Authorizations

    /// Returns what is stored under a key; nil if nothing is.
    ///
    /// - Throws: `AuthorizationError` of the kind `.store`.
    public func read(_ key: TokenKey) async throws(AuthorizationError) -> StoredAuthorization? {
        try stored(key)?.authorization
    }

    /// Runs `body` with what is stored under a key, and stores what it leaves there, also if it throws.
    ///
    /// It waits up to 60 seconds for another process that is updating the same entry. Where the entry cannot
    /// be written, `body` does not run.
    ///
    /// - Throws: `AuthorizationError` of the kinds `.store` and `.cancelled`, and that of `body`.
    public func update<Result: Sendable>(
        _ key: TokenKey,
        _ body: @Sendable (inout StoredAuthorization?) async throws(AuthorizationError) -> Result
    ) async throws(AuthorizationError) -> Result {
        try await locked(Self.name(of: key)) { () async throws(AuthorizationError) -> Result in
            let before = try stored(key)
            var entry = before?.authorization
            // A refresh token is used once: where its successor cannot be stored, it is not used.
            if let before { try rewrite(before) }
            let outcome: Swift.Result<Result, AuthorizationError>
            do throws(AuthorizationError) { outcome = .success(try await body(&entry)) } catch {
                outcome = .failure(error)
            }
            do throws(AuthorizationError) { try store(entry, key, replacing: before) } catch {
                guard case .failure(var first) = outcome else { throw error }
                first.details.append(error.message)
                throw first
            }
            return try outcome.get()
        }
    }

    private func stored(_ key: TokenKey) throws(AuthorizationError) -> StoredEntry? {
        let name = Self.name(of: key) + ".json"
        guard let bytes = try place.read(name, maxBytes: Self.maxEntryBytes) else { return nil }
        let entry: StoredEntry = try place.decode(bytes, name, version: StoredEntry.currentVersion)
        guard entry.key == key else {
            throw place.problem(
                name, "is about another authorization; it was not used",
                hint: "move it away, and log in again")
        }
        return entry
    }

    private func rewrite(_ entry: StoredEntry) throws(AuthorizationError) {
        let name = Self.name(of: entry.key) + ".json"
        try place.replace(name, try place.encode(entry, name))
    }

    private func store(
        _ entry: StoredAuthorization?, _ key: TokenKey, replacing before: StoredEntry?
    ) throws(AuthorizationError) {
        let name = Self.name(of: key) + ".json"
        guard let entry else {
            if before != nil { try place.remove(name) }
            return
        }
        let bytes = try place.encode(StoredEntry(key: key, authorization: entry), name)
        if let before, try place.encode(before, name) == bytes { return }
        guard bytes.count <= Self.maxEntryBytes else {
            throw place.problem(
                name, "would be larger than \(Self.maxEntryBytes >> 10) KiB; it was not written")
        }
        try place.replace(name, bytes)
    }

    /// The name of the files of an entry: SHA-256 over the parts of the key, each with its length.
    static func name(of key: TokenKey) -> String {
        var text: [UInt8] = []
        for part in [key.issuer, key.resource, key.client] {
            text += Array("\(part.utf8.count):".utf8) + Array(part.utf8)
        }
        return Hex.encode(SHA256.hash(text).bytes)
    }

    /// Returns the keys of all that is stored.
    ///
    /// - Throws: `AuthorizationError` of the kind `.store`, also if one of the files cannot be understood.
    public func keys() async throws(AuthorizationError) -> [TokenKey] {
        var keys: [TokenKey] = []
        for name in try place.names() where name.hasSuffix(".json") && name != Self.serversName {
            guard let bytes = try place.read(name, maxBytes: Self.maxEntryBytes) else { continue }
            let entry: StoredEntry = try place.decode(bytes, name, version: StoredEntry.currentVersion)
            keys.append(entry.key)
        }
        return keys
    }

    // MARK: Servers

    /// Returns the key of the authorization that a server's URL was last used with; nil if there is none.
    ///
    /// - Throws: `AuthorizationError` of the kind `.store`.
    public func key(forServer url: String) async throws(AuthorizationError) -> TokenKey? {
        try storedServers()?.servers[url]
    }

    /// Remembers the key for a server's URL; nil forgets it. At most 1,000 servers are remembered.
    ///
    /// - Throws: `AuthorizationError` of the kinds `.store` and `.cancelled`.
    public func setKey(_ key: TokenKey?, forServer url: String) async throws(AuthorizationError) {
        if key == nil, try storedServers()?.servers[url] == nil { return }
        try await locked("servers") { () async throws(AuthorizationError) in
            var all = try storedServers() ?? StoredServers()
            guard all.servers[url] != key else { return }
            all.servers[url] = key
            guard all.servers.count <= Self.maxServers else {
                throw place.problem(
                    Self.serversName, "has \(Self.maxServers) servers already; \(url) was not remembered",
                    hint: "log out of servers that are no longer used")
            }
            let bytes = try place.encode(all, Self.serversName)
            guard bytes.count <= Self.maxServersBytes else {
                throw place.problem(
                    Self.serversName,
                    "would be larger than \(Self.maxServersBytes >> 20) MiB; "
                        + "it was not written")
            }
            try place.replace(Self.serversName, bytes)
        }
    }

    /// Returns all remembered servers with their keys, sorted by URL.
    ///
    /// - Throws: `AuthorizationError` of the kind `.store`.
    public func servers() async throws(AuthorizationError) -> [(url: String, key: TokenKey)] {
        let servers = try storedServers()?.servers ?? [:]
        return servers.sorted { $0.key < $1.key }.map { (url: $0.key, key: $0.value) }
    }

    private static let serversName = "servers.json"

    private func storedServers() throws(AuthorizationError) -> StoredServers? {
        guard let bytes = try place.read(Self.serversName, maxBytes: Self.maxServersBytes) else { return nil }
        return try place.decode(bytes, Self.serversName, version: StoredServers.currentVersion)
    }

    // MARK: Locks

    /// Runs `body` while no other task and no other process holds the lock of an entry.
    private func locked<Result: Sendable>(
        _ name: String, _ body: () async throws(AuthorizationError) -> Result
    ) async throws(AuthorizationError) -> Result {
        try await locks.hold(name) { () async throws(AuthorizationError) -> Result in
            try place.create()
            let lock = try await lock(name + ".lock")
            let outcome: Swift.Result<Result, AuthorizationError>
            do throws(AuthorizationError) { outcome = .success(try await body()) } catch {
                outcome = .failure(error)
            }
            // Closing the file releases its lock.
            _ = consume lock
            return try outcome.get()
        }
    }

    /// The time between two attempts to lock a file that another process holds.
    private static let lockInterval: Duration = .milliseconds(10)

    /// Opens and locks a file.
    ///
    /// It looks again and again, because a call that waits would hold a thread of the tasks.
    private func lock(_ name: String) async throws(AuthorizationError) -> ProcessLock {
        let lock = try place.openLock(name)
        let limit = clock.now + Self.lockTimeout
        while true {
            do throws(IOError) {
                if try lock.take() { return lock }
            } catch { throw place.failed("cannot lock", name, error) }
            guard clock.now < limit else {
                throw place.problem(
                    name, "is locked by another process; nothing was changed",
                    hint: "wait for the other program, or end it")
            }
            if Task.isCancelled {
                throw AuthorizationError(.cancelled, "cancelled while the stored authorization was in use")
            }
            await clock.wait(until: clock.now + Self.lockInterval)
        }
    }
}

/// The content of the file of an authorization.
private struct StoredEntry: Codable {
    static let currentVersion = 1

    var version = Self.currentVersion
    let issuer: String
    let resource: String
    let client: String
    let authorization: StoredAuthorization

    var key: TokenKey { TokenKey(issuer: issuer, resource: resource, client: client) }

    init(key: TokenKey, authorization: StoredAuthorization) {
        issuer = key.issuer
        resource = key.resource
        client = key.client
        self.authorization = authorization
    }
}

/// The content of `servers.json`.
private struct StoredServers: Codable {
    static let currentVersion = 1

    var version = Self.currentVersion
    var servers: [String: TokenKey] = [:]
}

extension TimeSource {
    /// Waits until a moment has come or the task is cancelled.
    package func wait(until instant: MonotonicInstant) async {
        let event = OneTimeEvent()
        schedule(at: instant, on: .global()) { event.happen() }
        await event.wait()
    }
}
