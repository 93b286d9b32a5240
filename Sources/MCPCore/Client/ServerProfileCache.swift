import Synchronization

/// The facts that clients have found out about servers, so that the next connection to the same address needs
/// no probe (basic/versioning "Backward Compatibility").
///
/// Give the same cache to several clients by `ClientOptions.profiles`. It lives in memory; since it is
/// `Codable`, it can be saved to a file. A verdict that turns out to be wrong is dropped, and the server is
/// probed again. With a stateless server, `MCPClient.connect` then sends nothing at all, so a server that is
/// down is only noticed by the first call.
public final class ServerProfileCache: Sendable, Codable {
    /// The maximum number of servers that are remembered, 256; the one whose probe is the oldest is evicted
    /// to make room for a new one.
    public static let maxServers = 256
    /// The maximum size of a server's description of itself that is kept: 64 KiB of JSON.
    static let maxDiscoveryBytes = 64 << 10

    /// The known facts about one server.
    struct Verdict: Sendable, Hashable, Codable {
        /// The revision that was negotiated.
        let version: String
        /// The DiscoverResult; nil for a server from before 2026-07-28.
        let discovery: JSONValue?
        let probedAt: Int64
        /// Whether the server does not survive a probe and has to be opened by `initialize`.
        var needsHandshake: Bool?
    }

    private struct Archive: Codable {
        let lifetimeSeconds: Int64
        let includesCommands: Bool
        let servers: [String: Verdict]
    }

    /// The lifetime of a verdict: 24 h by default. A verdict about an old server never turns out to be wrong
    /// on its own, since an upgraded server still responds in the old way.
    public let lifetime: Duration
    /// Whether all programs are remembered too. Off by default, because a program has often changed after an
    /// update, and an old one may run a call that it should have refused. A program that does not survive a
    /// probe is remembered in any case.
    public let includesCommands: Bool
    /// Whether only servers that do not survive a probe are remembered.
    private let onlyHandshakes: Bool
    /// The verdicts, in the order of their probes.
    fileprivate let servers: Mutex<BoundedTable<String, Verdict>>
    private let clock: any TimeSource

    /// Creates an empty cache.
    public convenience init(lifetime: Duration = .seconds(86_400), includesCommands: Bool = false) {
        self.init(lifetime: lifetime, includesCommands: includesCommands, clock: SystemClock())
    }

    init(
        lifetime: Duration = .seconds(86_400), includesCommands: Bool = false,
        onlyHandshakes: Bool = false, servers: [String: Verdict] = [:], clock: any TimeSource
    ) {
        self.lifetime = lifetime
        self.onlyHandshakes = onlyHandshakes
        self.includesCommands = includesCommands
        var table = BoundedTable<String, Verdict>(capacity: Self.maxServers, policy: .evictLeastRecentlyUsed)
        for (name, verdict) in servers.sorted(by: { $0.value.probedAt < $1.value.probedAt }) {
            table.insert(verdict, for: name)
        }
        self.servers = Mutex(table)
        self.clock = clock
    }

    /// The number of servers that are remembered.
    public var count: Int { servers.withLock { $0.count } }

    /// Forgets all servers.
    public func removeAll() { servers.withLock { $0.removeAll() } }

    // MARK: Codable

    /// Reads a cache that was written by `encode(to:)`; if it has too many servers, the newest are kept.
    /// - Throws: `DecodingError` when the data is not a cache.
    public convenience init(from decoder: any Decoder) throws {
        let archive = try Archive(from: decoder)
        self.init(
            lifetime: .seconds(archive.lifetimeSeconds), includesCommands: archive.includesCommands,
            servers: archive.servers, clock: SystemClock())
    }

    /// Writes everything. The data contains no credentials, but it contains what servers sent to clients that
    /// presented them.
    public func encode(to encoder: any Encoder) throws {
        let archive = Archive(
            lifetimeSeconds: lifetime.components.seconds, includesCommands: includesCommands,
            servers: servers.withLock { servers in
                Dictionary(uniqueKeysWithValues: servers.map { ($0.key, $0.value) })
            })
        try archive.encode(to: encoder)
    }

    // MARK: Verdicts

    func verdict(_ key: ServerKey) -> Verdict? {
        let now = clock.wallTime.secondsSinceEpoch
        return servers.withLock { servers in
            for name in key.names {
                guard let found = servers[name] else { continue }
                guard includesCommands || !key.isCommand || found.needsHandshake == true else { continue }
                // What the server told one client about itself is not for another one (CACHE-08).
                if name != key.names.first, found.discovery?["cacheScope"]?.stringValue == "private" {
                    continue
                }
                // A verdict from the future: the clock was set back, so its age is unknown.
                let (age, overflow) = now.subtractingReportingOverflow(found.probedAt)
                if !overflow, age >= 0, age < lifetime.components.seconds { return found }
                servers.remove(name)
            }
            return nil
        }
    }

    /// Records the result of a probe. `discovery` is a DiscoverResult; `isShared` is true when it is valid
    /// for all clients.
    func record(
        _ key: ServerKey, version: String, discovery: JSONValue?, isShared: Bool, isNecessary: Bool = false
    ) {
        guard isNecessary || !onlyHandshakes && (includesCommands || !key.isCommand) else { return }
        let name = (isShared ? key.names.last : key.names.first) ?? key.place
        let verdict = Verdict(
            version: version, discovery: discovery, probedAt: clock.wallTime.secondsSinceEpoch,
            needsHandshake: isNecessary ? true : nil)
        servers.withLock { _ = $0.insert(verdict, for: name) }
    }

    /// Removes a verdict that was wrong.
    func forget(_ key: ServerKey) {
        servers.withLock { servers in for name in key.names { servers.remove(name) } }
    }
}

extension ServerProfileCache {
    /// Creates a cache that remembers nothing but the servers that do not survive a probe.
    package static func handshakes() -> ServerProfileCache {
        ServerProfileCache(onlyHandshakes: true, clock: SystemClock())
    }

    /// Returns the verdict under one of the names of a server, whatever its age.
    func verdict(named name: String) -> Verdict? { servers.withLock { $0[name] } }

    /// Takes over the verdict of an earlier connection.
    func restore(_ verdict: Verdict, named name: String) {
        servers.withLock { _ = $0.insert(verdict, for: name) }
    }
}

/// The key under which a server is remembered.
struct ServerKey: Sendable, Hashable {
    /// The origin and the path, or a digest of the command line.
    let place: String
    /// A value that distinguishes clients without revealing who they are; nil for anonymous clients.
    var principal: String?
    var isCommand = false
    /// Changes when the program changes, or what it inherits; empty for others.
    var stamp = ""

    /// The names to look up; facts known only to this client come first.
    var names: [String] { principal.map { ["\(place) \($0)", place] } ?? [place] }
}
