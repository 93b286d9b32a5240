/// What one server may use; every limit has one documented outcome.
public struct ServerLimits: Sendable, Hashable {
    /// How deep JSON may be nested: 64, at most 128. Deeper is a parse error.
    public var maxJSONDepth = 64
    /// Requests in flight per connection or session: 64. One more gets an overload error (code 503).
    public var maxRequestsInFlight = 64
    /// How long a handler may take: 60 s. Then the request is cancelled and answered with an error, once.
    public var requestDeadline: Duration = .seconds(60)
    /// Log messages of one request: 1,000. More are held back, and the last message says how many.
    public var maxLogMessages = 1000
    /// How long a client of the handshake revisions may take to answer a question: 5 min. The deadline of the
    /// request rests in the meantime; then the request is cancelled and answered with an error, once.
    public var inputTimeout: Duration = .seconds(300)
    /// Questions of one request that are open at the same time: 16. One more fails with -32603.
    public var maxOpenQuestions = 16
    /// Messages in one batch of 2025-03-26: 64. More is an invalid request.
    public var maxBatchMessages = 64
    /// Entries on one page of a list: 100.
    public var pageSize = 100
    /// The longest line over stdio: 64 MiB. A longer line is skipped and answered with -32600.
    public var maxLineBytes = 64 * 1024 * 1024
    /// Answers waiting for a reader on one connection: 1 MiB; then reading stops until it has caught up.
    public var maxOutputBytes = 1024 * 1024
    /// Memory of all HTTP connections together for bodies, what is read ahead and answers that wait, beyond
    /// 32 KiB of each connection: 256 MiB. A body that does not fit is refused with 503 and Retry-After; a
    /// client that leaves more than 32 KiB of its answer unread is disconnected.
    public var maxMemoryBytes = 256 * 1024 * 1024

    /// The defaults.
    public init() {}
}

/// Kinds of what a server offers.
public struct OfferedKinds: OptionSet, Sendable, Hashable {
    /// One bit for each kind.
    public let rawValue: Int

    /// The kinds of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Tools.
    public static let tools = OfferedKinds(rawValue: 1)
    /// Resources and resource templates.
    public static let resources = OfferedKinds(rawValue: 2)
    /// Prompts.
    public static let prompts = OfferedKinds(rawValue: 4)
    /// All of them.
    public static let all: OfferedKinds = [.tools, .resources, .prompts]
}

/// How one server behaves.
public struct ServerOptions: Sendable {
    /// The limits.
    public var limits = ServerLimits()
    /// How long clients may keep lists, in milliseconds (`ttlMs`, CACHE-01): 0.
    public var listTTL: Duration = .zero
    /// How long clients may keep what they read: 0.
    public var readTTL: Duration = .zero
    /// Kinds that are declared even while there are none of them, because they may come later: none.
    ///
    /// A client that was told nothing of a kind asks for no list of it, and hears of no change (VER-13).
    public var declaredKinds: OfferedKinds = []
    /// Turns the tasks extension on (CAP-06); nil leaves it off.
    public var tasks: TaskOptions?
    /// Signs cursors, session ids and `requestState`; instances that share it accept each other's. Nil: 32
    /// random bytes.
    public var stateKey: [UInt8]?
    /// How long a client of 2026-07-28 may take to answer a round of questions: 10 min. Later it has to begin
    /// again.
    public var stateLifetime: Duration = .seconds(600)
    /// Sees every request before and after its handler: none.
    public var middleware: [any ServerMiddleware] = []
    /// Takes a line about something worth knowing, such as a handler that failed; nil drops it.
    public var log: (@Sendable (String) -> Void)?

    /// The defaults.
    public init() {}
}
