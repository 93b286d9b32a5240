/// The limits of one server; every limit has one documented outcome.
public struct ServerLimits: Sendable, Hashable {
    /// The maximum nesting depth of JSON: 64, at most 128. Deeper JSON is a parse error.
    public var maxJSONDepth = 64
    /// The maximum number of requests in flight per connection or session: 64. Another one receives an
    /// overload error (code 503).
    public var maxRequestsInFlight = 64
    /// The time limit of a handler: 60 s. After that, the request is cancelled and answered
    /// with an error, once.
    public var requestDeadline: Duration = .seconds(60)
    /// The maximum number of log messages of one request: 1,000. Further ones are held back, and the last
    /// message reports how many.
    public var maxLogMessages = 1000
    /// The time that a client of the handshake revisions has to answer a question: 5 min. The deadline
    /// of the request is paused in the meantime. After this time, the request is cancelled and answered
    /// with an error, once.
    public var inputTimeout: Duration = .seconds(300)
    /// The maximum number of questions of one request that are open at the same time: 16. Another one
    /// fails with -32603.
    public var maxOpenQuestions = 16
    /// The maximum number of messages in one batch of 2025-03-26: 64. A larger batch is an invalid request.
    public var maxBatchMessages = 64
    /// The number of entries on one page of a list: 100.
    public var pageSize = 100
    /// The maximum length of a line over stdio: 64 MiB. A longer line is skipped and answered with -32600.
    public var maxLineBytes = 64 * 1024 * 1024
    /// The maximum size of responses that wait for a reader on one connection: 1 MiB. Beyond it, reading
    /// stops until the reader has caught up.
    public var maxOutputBytes = 1024 * 1024
    /// The memory that all HTTP connections together may use for bodies, read-ahead data and waiting
    /// responses, beyond 32 KiB for each connection: 256 MiB. A body that does not fit is refused with 503
    /// and Retry-After; a client that leaves more than 32 KiB of its response unread is disconnected.
    public var maxMemoryBytes = 256 * 1024 * 1024

    /// Creates the default limits.
    public init() {}
}

/// The kinds of entries that a server offers.
public struct OfferedKinds: OptionSet, Sendable, Hashable {
    /// One bit for each kind.
    public let rawValue: Int

    /// Creates the set of the kinds with these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Tools.
    public static let tools = OfferedKinds(rawValue: 1)
    /// Resources and resource templates.
    public static let resources = OfferedKinds(rawValue: 2)
    /// Prompts.
    public static let prompts = OfferedKinds(rawValue: 4)
    /// All kinds.
    public static let all: OfferedKinds = [.tools, .resources, .prompts]
}

/// The options of one server.
public struct ServerOptions: Sendable {
    /// The limits.
    public var limits = ServerLimits()
    /// The time for which clients may cache lists, sent in milliseconds (`ttlMs`, CACHE-01): 0.
    public var listTTL: Duration = .zero
    /// The time for which clients may cache what they read: 0.
    public var readTTL: Duration = .zero
    /// The kinds that are declared even while they have no entries, because entries may be added later: none.
    ///
    /// A client does not request lists of a kind that was not declared to it, and is not notified about
    /// changes (VER-13).
    public var declaredKinds: OfferedKinds = []
    /// The options that turn the tasks extension on (CAP-06); nil leaves it off.
    public var tasks: TaskOptions?
    /// The key that signs cursors, session ids and `requestState`: 32 random bytes or more. Instances that
    /// share it accept each other's, and a restarted one those of the process before. Nil uses a random key
    /// that only this instance has.
    public var stateKey: [UInt8]?
    /// Further keys whose signatures are accepted, for the time in which a key is being replaced: none.
    public var acceptedStateKeys: [[UInt8]] = []
    /// The store that instances with the same `stateKey` share; nil keeps everything in this process.
    public var stateStore: (any StateStore)?
    /// The time that a client of 2026-07-28 has to answer a round of questions: 10 min. After that, it
    /// has to start again.
    public var stateLifetime: Duration = .seconds(600)
    /// Whether the server runs on the event loops of this process's clients: false. A call that is passed on
    /// to another server (`Upstream`) then changes no threads, which makes it cheaper.
    ///
    /// No synchronous handler may wait for a client of this process then: nothing would ever wake it.
    public var sharesLoops = false
    /// The middleware that sees every request before and after its handler: none.
    public var middleware: [any ServerMiddleware] = []
    /// Called for each request over HTTP that is refused before any middleware, on any thread; must not wait.
    package var onRefusal: (@Sendable (RefusedRequest) -> Void)?
    /// A closure that receives a line about anything noteworthy, such as a handler that failed; nil
    /// drops the lines.
    public var log: (@Sendable (String) -> Void)?

    /// Creates the default options.
    public init() {}
}
