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
    /// How long connecting may take in all: the socket, the TLS handshake, the answers to `server/discover`
    /// and `initialize`, and whatever older way is tried: 10 s. It also limits a connection that is opened
    /// later, and each new start of a program.
    public var connectTimeout: Duration
    /// How long a program may be silent to `server/discover` before `initialize` is tried: 10 s, and never
    /// more than half of `connectTimeout`.
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
    /// Answers questions to the user. Set, it declares `elicitation`; nil, servers are told that nobody can
    /// be asked. What is accepted is checked against the form before it leaves (ELIC-24).
    public var onElicit: (@Sendable (ElicitRequest) async throws -> ElicitResult)?
    /// Whether `onElicit` also shows pages (`ElicitRequest.url`): false.
    public var supportsElicitationURL: Bool
    /// Asks the model. Set, it declares `sampling`; throwing means that it was refused (SAMP-15).
    public var onSample: (@Sendable (CreateMessageRequest) async throws -> CreateMessageResult)?
    /// Whether `onSample` knows tools: false.
    public var supportsSamplingTools: Bool
    /// Tells the places that servers may work in. Set, it declares `roots`.
    public var onRoots: (@Sendable () async throws -> [Root])?
    /// Takes log messages of the server, on a thread of the client.
    public var onLog: (@Sendable (LogMessage) -> Void)?
    /// The least grave log messages that are wanted. 2026-07-28: sent with each request, none is asked for
    /// when nil. Before: `logging/setLevel` after the handshake, the server's choice when nil.
    public var logLevel: LoggingLevel?
    /// Rounds of questions that one call may take: 10. One more fails it with `.inputRequired`.
    public var maxRounds: Int
    /// Whether lists and resources are kept for as long as the server allows (2026-07-28, `ttlMs`): true.
    /// At most 1,000 answers, 16 MiB in all, 4 MiB each, for 24 hours.
    public var cache: Bool
    /// Whether structured results are checked against the tool's output schema, when the tool was listed:
    /// true.
    public var checksOutput: Bool
    /// Extensions that are declared, with their settings (CAP-04).
    public var extensions: JSONObject
    /// Declares the tasks extension: a call that becomes a task is followed to its end (TASK-05).
    public var followsTasks: Bool
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
        supportsElicitationURL = false
        supportsSamplingTools = false
        maxRounds = 10
        cache = true
        checksOutput = true
        extensions = [:]
        followsTasks = false
        maxMessageBytes = 64 << 20
        maxEventBytes = 64 << 20
        restart = .never
    }
}
