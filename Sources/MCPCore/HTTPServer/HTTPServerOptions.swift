/// How an HTTP server behaves; every limit has one documented outcome.
public struct HTTPServerOptions: Sendable {
    /// Limits of one message.
    public var limits = HTTPLimits()
    /// Connections at a time: 10,000. One more is answered 503 and closed.
    public var maxConnections = 10_000
    /// From the first byte of a head to its last: 10 s, then the connection is closed.
    public var headTimeout: Duration = .seconds(10)
    /// From the head to the last byte of the body: 30 s, and at least 1 KiB/s after the first 5 s; then
    /// closed.
    public var bodyTimeout: Duration = .seconds(30)
    /// Between two requests: 60 s, then closed.
    public var idleTimeout: Duration = .seconds(60)
    /// Without the client taking 32 KiB of its answer, or the rest of it: 30 s, then closed.
    public var writeTimeout: Duration = .seconds(30)
    /// Between two comments on a quiet event stream: 15 s.
    public var keepAliveInterval: Duration = .seconds(15)
    /// How long requests in flight may take after a stop: 10 s; then they are cancelled.
    public var drainTimeout: Duration = .seconds(10)
    /// Event loops: one for two cores, so that handlers and the rest of the machine have the others.
    public var loops: Int

    /// The defaults.
    public init() { loops = max(1, EventLoopGroup.availableCores / 2) }
}

/// What the connections of an `HTTPServer` may use. Those of an MCP server use what its `ServerLimits` say.
public struct HTTPServerResources: Sendable {
    /// Of a response that a client leaves unread: 1 MiB; one that lets more of a stream pile up is
    /// disconnected.
    public var maxOutputBytes = 1024 * 1024
    /// Memory of all connections together, beyond 32 KiB of each: 256 MiB. A body that does not fit is
    /// refused with 503 and Retry-After; a client that leaves more than 32 KiB of its response unread is
    /// disconnected.
    public var maxMemoryBytes = 256 * 1024 * 1024
    /// Until a handler has responded: 60 s; then its task is cancelled and the client gets 504.
    public var requestTimeout: Duration = .seconds(60)
    /// Takes a line about something worth knowing; nil drops it.
    public var log: (@Sendable (String) -> Void)?

    /// The defaults.
    public init() {}
}

/// What the connections of one listener share.
final class ConnectionContext: Sendable {
    let handler: RequestHandler
    let policy: AccessPolicy
    let options: HTTPServerOptions
    let resources: HTTPServerResources
    let memory: MemoryBudget
    /// Those of `options`.
    let times: ConnectionTimes

    init(
        handler: RequestHandler, policy: AccessPolicy, options: HTTPServerOptions = HTTPServerOptions(),
        resources: HTTPServerResources = HTTPServerResources(), memory: MemoryBudget? = nil
    ) {
        self.handler = handler
        self.policy = policy
        self.options = options
        self.resources = resources
        times = ConnectionTimes(options)
        self.memory = memory ?? MemoryBudget(limit: resources.maxMemoryBytes)
    }
}
