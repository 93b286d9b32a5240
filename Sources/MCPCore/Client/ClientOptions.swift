/// How a client connects and behaves.
public struct ClientOptions: Sendable {
    /// Which revision of the protocol is spoken.
    public enum ProtocolChoice: Sendable, Hashable {
        /// The newest one that the server has: `server/discover`, then `initialize` (basic/versioning).
        case auto
        /// This one and no other. A revision before 2026-07-28 is opened by `initialize` without a probe.
        case exactly(ProtocolVersion)
    }

    /// The program's name, sent as `clientInfo`.
    public var name: String
    /// The program's version, sent as `clientInfo`.
    public var version: String
    /// Which revision is spoken: `.auto`.
    public var `protocol`: ProtocolChoice
    /// How long the server may be silent during a call: 60 s. Nil: for ever.
    public var timeout: Duration?
    /// How long each step of connecting may take (the socket, the answer to `server/discover`, to
    /// `initialize`): 10 s.
    public var connectTimeout: Duration
    /// How long a program may be silent to `server/discover` before `initialize` is tried: 10 s, and never
    /// more than `connectTimeout`.
    public var probeTimeout: Duration
    /// Further HTTP header fields of each request, such as `Authorization`.
    public var headers: [(String, String)]
    /// The longest line (stdio) or body (HTTP) that is taken: 64 MiB. A longer one fails the calls that wait
    /// for it.
    public var maxMessageBytes: Int
    /// The longest server-sent event that is taken: 64 MiB.
    public var maxEventBytes: Int
    /// Whether a program that ended by itself is started again: `.never`.
    public var restart: RestartPolicy
    /// What is known of servers, to be shared between clients: no cache. It spares the probe.
    public var profiles: ServerProfileCache?
    /// Takes what happens on the connection, on a thread of the client.
    public var trace: (@Sendable (TraceEvent) -> Void)?
    /// Takes the lines that a program writes to stderr, on a thread of the client.
    public var onServerStderr: (@Sendable (String) -> Void)?
    /// Takes notifications other than progress: the method and the params, on a thread of the client.
    public var onNotification: (@Sendable (_ method: String, _ params: RawJSON?) -> Void)?

    /// The defaults.
    public init(name: String = "swift-mcp-core", version: String = "0.1.0") {
        self.name = name
        self.version = version
        self.protocol = .auto
        timeout = .seconds(60)
        connectTimeout = .seconds(10)
        probeTimeout = .seconds(10)
        headers = []
        maxMessageBytes = 64 << 20
        maxEventBytes = 64 << 20
        restart = .never
    }
}
