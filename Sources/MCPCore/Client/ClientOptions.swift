/// The settings of a client.
public struct ClientOptions: Sendable {
    /// The revision of the protocol to use.
    public enum ProtocolChoice: Sendable, Hashable {
        /// The newest one that the server supports: `server/discover`, then `initialize` (basic/versioning).
        case auto
        /// Exactly this one. A revision before 2026-07-28 is opened by `initialize` without a probe.
        case exactly(ProtocolVersion)
    }

    /// The program's name, sent as `clientInfo`.
    public var name: String
    /// The program's version, sent as `clientInfo`.
    public var version: String
    /// The revision to use; the default is `.auto`.
    public var `protocol`: ProtocolChoice
    /// The longest time that the server may be silent during a call: 60 s by default; nil for no limit.
    public var timeout: Duration?
    /// The longest time that connecting may take in total: the socket, the TLS handshake, the responses to
    /// `server/discover` and `initialize`, and any fallback to an older transport; 10 s by default. It also
    /// limits a connection that is opened later, and each restart of a program. Until it is set, the limit
    /// for a program that the client starts is 60 s: it may have to be downloaded first.
    public var connectTimeout: Duration {
        get { chosenConnectTimeout ?? Self.connectTimeout }
        set { chosenConnectTimeout = newValue }
    }
    private var chosenConnectTimeout: Duration?
    /// The longest time that a program may be silent after it has read `server/discover`, before `initialize`
    /// is sent as well: 3 s by default, and never more than a quarter of `connectTimeout`. After three times
    /// as long, a silent program is started afresh, without a probe. A program that has read nothing is still
    /// starting.
    public var probeTimeout: Duration
    /// Additional HTTP header fields of each request, such as `Authorization`.
    public var headers: [(String, String)]
    /// The source of the credentials of each request over HTTP; none by default. It cannot be combined with
    /// an `Authorization` header. Credentials are sent over https, to a loopback address and over a unix
    /// socket only; the time that obtaining them takes counts towards the deadline of a call, and towards
    /// neither `timeout` nor `connectTimeout`.
    public var authorizer: (any RequestAuthorizer)?
    /// The longest line (stdio) or body (HTTP) that is accepted: 64 MiB by default. A longer one fails the
    /// calls that wait for it.
    public var maxMessageBytes: Int
    /// The longest server-sent event that is accepted: 64 MiB by default.
    public var maxEventBytes: Int
    /// Whether a program that ended on its own is restarted: `.never` by default.
    public var restart: RestartPolicy
    /// A cache of facts about servers that clients can share, which saves the probe; none by default.
    public var profiles: ServerProfileCache?
    /// Where what is known about servers is kept between connections; nowhere by default.
    package var records: (any ServerRecordStore)?
    /// Whether what is kept is used. Otherwise it is only renewed; a program that does not survive a probe is
    /// opened by `initialize` in any case.
    package var usesRecords = true
    /// Receives the events of the connection, on a thread of the client. What the server repeats of the
    /// credentials in `headers` and of `authorizer` is masked.
    public var trace: (@Sendable (TraceEvent) -> Void)?
    /// Receives the lines that a program writes to stderr, on a thread of the client.
    public var onServerStderr: (@Sendable (String) -> Void)?
    /// Answers questions to the user. If it is set, `elicitation` is declared; if it is nil, servers are told
    /// that no user can be asked. Accepted content is checked against the form before it is sent (ELIC-24).
    public var onElicit: (@Sendable (ElicitRequest) async throws -> ElicitResult)?
    /// Whether `onElicit` also shows pages (`ElicitRequest.url`); false by default.
    public var supportsElicitationURL: Bool
    /// Samples the model. If it is set, `sampling` is declared; throwing means that the request was refused
    /// (SAMP-15).
    public var onSample: (@Sendable (CreateMessageRequest) async throws -> CreateMessageResult)?
    /// Whether `onSample` supports tools; false by default.
    public var supportsSamplingTools: Bool
    /// Returns the locations that servers may work in. If it is set, `roots` is declared.
    public var onRoots: (@Sendable () async throws -> [Root])?
    /// Receives log messages from the server, on a thread of the client.
    public var onLog: (@Sendable (LogMessage) -> Void)?
    /// The minimum severity of the log messages that are wanted. In 2026-07-28 it is sent with each request,
    /// and nil requests none. In earlier revisions it is sent by `logging/setLevel` after the handshake, and
    /// nil leaves the choice to the server.
    public var logLevel: LoggingLevel?
    /// The maximum number of rounds of input that one call may take: 10 by default. A further round makes the
    /// call fail with `.inputRequired`.
    public var maxRounds: Int
    /// Whether lists and resources are cached for as long as the server allows (2026-07-28, `ttlMs`); true by
    /// default. The cache holds at most 1,000 responses, 16 MiB in total, 4 MiB each, for 24 hours.
    public var cache: Bool
    /// Whether structured results are checked against the tool's output schema if the tool was listed; true
    /// by default.
    public var checksOutput: Bool
    /// The extensions to declare, with their settings (CAP-04).
    public var extensions: JSONObject
    /// Whether the tasks extension is declared: a call that becomes a task is followed to its end (TASK-05).
    public var followsTasks: Bool
    /// Receives notifications other than progress: the method and the params, on a thread of the client.
    public var onNotification: (@Sendable (_ method: String, _ params: RawJSON?) -> Void)?
    /// Receives the reason why changes cannot be received for now, on a thread of the client: after
    /// `outageAttempts` in vain, once for each time that the stream of changes is lost; and at once
    /// for each new subscription during the outage.
    package var onOutage: (@Sendable (any Error) -> Void)?
    /// Receives the reason why an answer of `onElicit` did not reach the server, on a thread of the client.
    package var onLostAnswer: (@Sendable (any Error) -> Void)?
    /// The credentials to remove from texts; nil without any.
    var secrets: ClientSecrets?
    /// Removes what is secret in the configuration that these options come from, also in its address and its
    /// program; nil if nothing is.
    var maskConfigured: (@Sendable (String) -> String)?

    /// The capabilities to declare instead of those of the handlers, for a client whose calls answer the
    /// questions of the server themselves (`CallOptions.onInput`).
    var declared: ClientCapabilities?
    /// Whether all calls are of one person, who may see a question of any of them.
    var isOfOnePerson = false

    /// Creates options with the default values.
    public init(name: String = "swift-mcp-core", version: String = PackageVersion.current) {
        self.name = name
        self.version = version
        self.protocol = .auto
        timeout = .seconds(60)
        probeTimeout = .seconds(3)
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

extension ClientOptions {
    /// How often in a row a lost stream of changes is opened again in vain before that is reported.
    package static let outageAttempts = 3

    private static let connectTimeout = Duration.seconds(10)
    private static let startTimeout = Duration.seconds(60)

    /// Makes the limit for connecting what is left of it.
    mutating func shortenConnectTimeout(by elapsed: Duration) {
        connectTimeout = max(.milliseconds(1), connectTimeout - elapsed)
    }

    /// Returns the limit for connecting.
    func connectLimit(forProgram isProgram: Bool) -> Duration {
        chosenConnectTimeout ?? (isProgram ? Self.startTimeout : Self.connectTimeout)
    }
}
