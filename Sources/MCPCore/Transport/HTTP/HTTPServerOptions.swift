/// How a server is offered over HTTP; every limit has one documented outcome.
public struct HTTPServerOptions: Sendable {
    /// The path of the MCP endpoint: `/mcp`. Anything else is 404, but for what the side door serves. Nil:
    /// there is no MCP endpoint, everything goes to the side door.
    public var endpoint: String? = "/mcp"
    /// Limits of one message.
    public var limits = HTTPLimits()
    /// Connections at a time: 10,000. One more is answered 503 and closed.
    public var connections = 10_000
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
    /// What is served besides the endpoint; nil: nothing.
    public var sideDoor: (any HTTPSideDoor)?
    /// Event loops: one for two cores, so that handlers and the rest of the machine have the others.
    public var loops: Int

    /// The defaults.
    public init() { loops = max(1, EventLoopGroup.availableCores / 2) }
}
