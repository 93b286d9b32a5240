import Synchronization

/// What clients have found out about servers: the next connection to the same place needs no probe
/// (basic/versioning "Backward Compatibility").
///
/// Give the same cache to several clients by `ClientOptions.profiles`. It lives in memory; being `Codable`,
/// it can be kept in a file. A verdict that turns out wrong is dropped and the server probed again. With a
/// stateless server `MCPClient.connect` then sends nothing at all, so that a server which is down is only
/// noticed by the first call.
public final class ServerProfileCache: Sendable, Codable {
    /// Servers that are remembered; the one that was probed longest ago makes room: 256.
    public static let maxServers = 256
    /// What a server says of itself is kept up to this size: 64 KiB of JSON.
    static let maxDiscoveryBytes = 64 << 10

    /// What is known of one server.
    struct Verdict: Sendable, Hashable, Codable {
        /// The revision that was negotiated.
        let version: String
        /// The DiscoverResult; nil for a server from before 2026-07-28.
        let discovery: JSONValue?
        let probedAt: Int64
    }

    private struct Archive: Codable {
        let lifetimeSeconds: Int64
        let includesCommands: Bool
        let servers: [String: Verdict]
    }

    /// How long a verdict is used: 24 h. One about an old server never fails by itself, since an upgraded
    /// server still answers the old way.
    public let lifetime: Duration
    /// Programs are remembered too. Off, because a program is mostly another one after an update, and an old
    /// one may run a call that it should have refused.
    public let includesCommands: Bool
    /// In the order of their probes.
    private let servers: Mutex<BoundedTable<String, Verdict>>
    private let clock: any TimeSource

    /// An empty cache.
    public convenience init(lifetime: Duration = .seconds(86_400), includesCommands: Bool = false) {
        self.init(lifetime: lifetime, includesCommands: includesCommands, clock: SystemClock())
    }

    init(
        lifetime: Duration = .seconds(86_400), includesCommands: Bool = false,
        servers: [String: Verdict] = [:], clock: any TimeSource
    ) {
        self.lifetime = lifetime
        self.includesCommands = includesCommands
        var table = BoundedTable<String, Verdict>(capacity: Self.maxServers, policy: .evictLeastRecentlyUsed)
        for (name, verdict) in servers.sorted(by: { $0.value.probedAt < $1.value.probedAt }) {
            table.insert(verdict, for: name)
        }
        self.servers = Mutex(table)
        self.clock = clock
    }

    /// How many servers are remembered.
    public var count: Int { servers.withLock { $0.count } }

    /// Forgets all servers.
    public func removeAll() { servers.withLock { $0.removeAll() } }

    // MARK: Codable

    /// Reads a cache that was written by `encode(to:)`; of too many servers the newest are kept.
    /// - Throws: `DecodingError` when it is something else.
    public convenience init(from decoder: any Decoder) throws {
        let archive = try Archive(from: decoder)
        self.init(
            lifetime: .seconds(archive.lifetimeSeconds), includesCommands: archive.includesCommands,
            servers: archive.servers, clock: SystemClock())
    }

    /// Writes everything. It holds no credentials, but what servers said to their bearers.
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
        guard includesCommands || !key.isCommand else { return nil }
        let now = clock.wallTime.secondsSinceEpoch
        return servers.withLock { servers in
            for name in key.names {
                guard let found = servers[name] else { continue }
                // A verdict from the future: the clock was set back, and nothing says how old it is.
                let (age, overflow) = now.subtractingReportingOverflow(found.probedAt)
                if !overflow, age >= 0, age < lifetime.components.seconds { return found }
                servers.remove(name)
            }
            return nil
        }
    }

    /// Remembers what a probe has shown. `discovery` is a DiscoverResult, `isShared` whether it is meant for
    /// everybody.
    func record(_ key: ServerKey, version: String, discovery: JSONValue?, isShared: Bool) {
        guard includesCommands || !key.isCommand else { return }
        let name = (isShared ? key.names.last : key.names.first) ?? key.place
        let verdict = Verdict(
            version: version, discovery: discovery, probedAt: clock.wallTime.secondsSinceEpoch)
        servers.withLock { _ = $0.insert(verdict, for: name) }
    }

    /// A verdict was wrong.
    func forget(_ key: ServerKey) {
        servers.withLock { servers in for name in key.names { servers.remove(name) } }
    }
}

/// Under which name a server is remembered.
struct ServerKey: Sendable, Hashable {
    /// The origin and the path, or a digest of the command line.
    let place: String
    /// Tells apart who asks, without saying it; nil for anonymous clients.
    var principal: String?
    var isCommand = false

    /// What is known to this client alone comes first.
    var names: [String] { principal.map { ["\(place) \($0)", place] } ?? [place] }
}
