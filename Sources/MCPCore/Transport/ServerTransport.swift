#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A way to reach a server.
public struct ServerTransport: Sendable {
    enum Kind: Sendable {
        case stdio
        case http(HTTPTransport)
    }

    let kind: Kind

    /// Standard input and output, one message per line. From then on, standard output is reserved for the
    /// protocol: whatever a handler prints goes to standard error.
    public static let stdio = ServerTransport(kind: .stdio)

    /// Returns a Streamable HTTP transport on 127.0.0.1; port 0 selects a free port.
    public static func http(port: UInt16) -> ServerTransport { .http(.tcp(port: port)) }

    /// Returns a Streamable HTTP transport on these addresses.
    ///
    /// - Parameters:
    ///   - path: the path of the MCP endpoint. Other paths are answered with 404, except those that `servers`
    ///     and `handler` serve.
    ///   - servers: further MCP servers, at other paths.
    ///   - handler: serves requests that are not MCP, at other paths; `authorization` is not asked there.
    ///   - policy: which hosts and origins are allowed; by default loopback names on TCP, any on unix
    ///     sockets.
    ///   - options: limits and time-outs.
    ///   - authorization: the authorization of callers at all MCP endpoints, also those of `servers`, whose
    ///     `admits` sees the same token; nil accepts all that the policy allows, on addresses of this machine
    ///     only.
    public static func http(
        _ addresses: ListenAddress..., path: String = "/mcp", servers: (any MCPServerRouter)? = nil,
        handler: (any HTTPRequestHandler)? = nil, policy: AccessPolicy? = nil,
        options: HTTPServerOptions = HTTPServerOptions(), authorization: ServerAuthorization? = nil
    ) -> ServerTransport {
        .http(
            addresses, path: path, servers: servers, handler: handler, policy: policy, options: options,
            authorization: authorization)
    }

    /// Returns a Streamable HTTP transport on these addresses.
    public static func http(
        _ addresses: [ListenAddress], path: String = "/mcp", servers: (any MCPServerRouter)? = nil,
        handler: (any HTTPRequestHandler)? = nil, policy: AccessPolicy? = nil,
        options: HTTPServerOptions = HTTPServerOptions(), authorization: ServerAuthorization? = nil
    ) -> ServerTransport {
        ServerTransport(
            kind: .http(
                HTTPTransport(
                    addresses: addresses, path: path, servers: servers, handler: handler, policy: policy,
                    options: options, authorization: authorization)))
    }
}

/// Streamable HTTP: the addresses, and what is served in addition to the MCP endpoint.
struct HTTPTransport: Sendable {
    let addresses: [ListenAddress]
    let path: String
    let servers: (any MCPServerRouter)?
    let handler: (any HTTPRequestHandler)?
    let policy: AccessPolicy?
    let options: HTTPServerOptions
    var authorization: ServerAuthorization?

    /// Starts to serve on all addresses, or on none.
    func start(_ server: MCPServer) throws(ListenError) -> HTTPServer {
        let dispatcher = server.dispatcher
        var resources = HTTPServerResources()
        resources.maxOutputBytes = dispatcher.options.limits.maxOutputBytes
        resources.requestTimeout = dispatcher.options.limits.requestDeadline
        resources.log = dispatcher.options.log
        if dispatcher.isObserved || dispatcher.options.onRefusal != nil {
            resources.onRefusal = { dispatcher.report(RefusedRequest($0)) }
        }
        let http = try HTTPServer(
            on: addresses, policy: policy, options: options, resources: resources,
            memory: dispatcher.memory, sharesLoops: dispatcher.options.sharesLoops,
            authenticates: authorization != nil)
        let router =
            servers == nil && handler == nil ? nil : EndpointRouter(handler: handler, servers: servers)
        try http.start(
            StreamableEndpoint(server: server, path: path, router: router, authorization: authorization))
        return http
    }
}

extension RefusedRequest {
    fileprivate init(_ refusal: HTTPRefusal) {
        let reason: Reason =
            switch refusal.reason {
            case .host: .host
            case .origin: .origin
            case .unauthenticated: .unauthenticated
            case .forbidden: .forbidden
            case .user: .user
            case .rateLimited: .rateLimited
            case .overloaded: .overloaded
            case .tooLarge: .tooLarge
            case .timeout: .timeout
            case .notFound: .notFound
            case .malformed: .malformed
            }
        self.init(
            reason, status: refusal.status, text: refusal.text, detail: refusal.detail, peer: refusal.peer,
            principal: refusal.caller)
    }
}

extension MCPServer {
    /// Serves until standard input ends, SIGTERM or SIGINT arrives, or the task is cancelled; then drains and
    /// returns.
    ///
    /// A second signal ends the process immediately, with 143 or 130.
    /// - Throws: `ListenError` when an address cannot be used, `IOError` when signals cannot be received.
    public func run(_ transports: ServerTransport...) async throws { try await run(transports) }

    /// Serves until standard input ends, SIGTERM or SIGINT arrives, or the task is cancelled; then drains and
    /// returns.
    public func run(_ transports: [ServerTransport]) async throws {
        let stop = StopRequest()
        // Before anything is served: a signal that arrives during the start must not be lost.
        let signals = try SignalWatch([SIGTERM, SIGINT]) { number in
            // Not `exit`: the loops still run, and it would destroy what they use. Nothing that this process
            // has written waits in a buffer of the C library.
            if !stop.request() { _exit(128 + number) }
        }
        defer { signals.cancel() }
        let running = try start(transports)
        stop.attach(running)
        await withTaskCancellationHandler {
            await running.waitUntilEnded()
        } onCancel: {
            running.requestStop()
        }
    }

    /// Starts to serve and returns at once, for programs that have other work to do.
    ///
    /// - Throws: `ListenError` when an address cannot be used.
    public func start(_ transports: [ServerTransport]) throws -> RunningServer {
        SignalWatch.ignoreBrokenPipes()
        return try RunningServer(self, transports)
    }
}
