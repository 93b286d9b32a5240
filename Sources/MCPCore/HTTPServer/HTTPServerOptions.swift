/// Options of an HTTP server. Exceeding a limit always has one documented outcome.
public struct HTTPServerOptions: Sendable {
    /// The limits of one message.
    public var limits = HTTPLimits()
    /// The maximum number of simultaneous connections: 10,000. A further one takes the place of one that has
    /// waited for a request for longer than 1 s; without such, it receives 503 and is closed.
    public var maxConnections = 10_000
    /// The maximum time from the first byte of a head to its last: 10 s; then the connection is closed.
    public var headTimeout: Duration = .seconds(10)
    /// The maximum time from the head to the last byte of the body: 30 s, with at least 1 KiB/s after the
    /// first 5 s; then the connection is closed.
    public var bodyTimeout: Duration = .seconds(30)
    /// The maximum time between two requests: 60 s; then the connection is closed.
    public var idleTimeout: Duration = .seconds(60)
    /// The maximum time in which the client must read 32 KiB of its response, or the rest of it: 30 s; then
    /// the connection is closed.
    public var writeTimeout: Duration = .seconds(30)
    /// The interval between two comments on a quiet event stream: 15 s.
    public var keepAliveInterval: Duration = .seconds(15)
    /// The maximum time for requests in flight after a stop: 10 s; then they are cancelled.
    public var drainTimeout: Duration = .seconds(10)
    /// The users of this machine whose processes may call an MCP endpoint, or a server that has a handler
    /// alone, over TCP: by default all. A handler beside an MCP endpoint checks its clients itself.
    public var users = UserPolicy.any
    /// The proxies that name their clients: by default none.
    public var proxies = ProxyPolicy()
    /// The number of event loops: one for every two cores, which leaves the other cores to handlers and the
    /// rest of the machine.
    public var loops: Int

    /// Creates the default values.
    public init() { loops = EventLoopGroup.standardCount }
}

/// The resources that the connections of an `HTTPServer` may use. For those of an MCP server, its
/// `ServerLimits` apply.
public struct HTTPServerResources: Sendable {
    /// The maximum amount of a response that a client may leave unread: 1 MiB; a client that lets more of a
    /// stream accumulate is disconnected.
    public var maxOutputBytes = 1024 * 1024
    /// The memory of all connections together, beyond 32 KiB for each: 256 MiB. A body that does not fit is
    /// refused with 503 and Retry-After; a client that leaves more than 32 KiB of its response unread is
    /// disconnected.
    public var maxMemoryBytes = 256 * 1024 * 1024
    /// The maximum time until a handler responds: 60 s; then its task is cancelled and the client receives
    /// 504.
    public var requestTimeout: Duration = .seconds(60)
    /// A closure that receives log lines about noteworthy events; nil discards them.
    public var log: (@Sendable (String) -> Void)?
    /// A closure that receives each request and connection that is refused before a handler sees it, on any
    /// thread; it must not block.
    public var onRefusal: (@Sendable (HTTPRefusal) -> Void)?

    /// Creates the default values.
    public init() {}
}

/// The state shared by the connections of one listener.
final class ConnectionContext: Sendable {
    let handler: RequestHandler
    let policy: AccessPolicy
    let options: HTTPServerOptions
    let resources: HTTPServerResources
    let memory: MemoryBudget
    /// The counter of all connections of the server.
    let counter: ConnectionCounter
    /// The users who may call an MCP endpoint without authorization.
    let users: UserPolicy
    /// The time limits from `options`.
    let times: ConnectionTimes
    /// The wrong credentials that addresses have presented.
    let failedAttempts = FailedAttempts()

    init(
        handler: RequestHandler, policy: AccessPolicy, options: HTTPServerOptions = HTTPServerOptions(),
        resources: HTTPServerResources = HTTPServerResources(), memory: MemoryBudget? = nil,
        counter: ConnectionCounter? = nil, users: UserPolicy = .any
    ) {
        self.counter = counter ?? ConnectionCounter(limit: options.maxConnections)
        self.users = users
        self.handler = handler
        self.policy = policy
        self.options = options
        self.resources = resources
        times = ConnectionTimes(options)
        self.memory = memory ?? MemoryBudget(limit: resources.maxMemoryBytes)
    }
}
