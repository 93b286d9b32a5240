import Synchronization

/// A router for the requests of a listener that are not for its main endpoint.
final class EndpointRouter: Sendable {
    /// The maximum number of endpoints whose sessions and streams are remembered; the least recently
    /// used one is evicted.
    static let maxEndpoints = 1_024

    private let handler: AsyncRequestHandler?
    private let servers: (any MCPServerRouter)?
    private let known = Mutex(
        BoundedTable<String, StreamableEndpoint>(capacity: maxEndpoints, policy: .evictLeastRecentlyUsed))

    init(handler: (any HTTPRequestHandler)?, servers: (any MCPServerRouter)?) {
        self.handler = handler.map(AsyncRequestHandler.init)
        self.servers = servers
    }

    /// Returns the handler that serves a request; nil when no handler here has its path.
    func route(
        _ head: RequestHead, in bytes: ByteSlice, isFromOwnUser: () -> Bool, beside home: StreamableEndpoint
    ) throws(EarlyResponse) -> RequestHandler? {
        guard let path = head.decodedPath(in: bytes) else { throw .undecodableTarget }
        if let handler, handler.handler.handles(path: path) { return handler }
        return try server(at: path, head, in: bytes, isFromOwnUser: isFromOwnUser, beside: home)
    }

    /// Returns the handler of requests that are not MCP, if it handles this one.
    func handler(of head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) -> RequestHandler? {
        guard let path = head.decodedPath(in: bytes) else { throw .undecodableTarget }
        return handler.flatMap { $0.handler.handles(path: path) ? $0 : nil }
    }

    /// Whether the handler admits a page that the policy of the listener refuses; MCP servers admit none.
    func admits(_ origin: ByteSlice, _ head: RequestHead, in bytes: ByteSlice) -> Bool {
        handler?.handler.admits(origin, head, in: bytes) == true
    }

    /// Whether a request is for a handler, which checks its clients itself, or for a server with a token of
    /// its own.
    func asksForToken(_ head: RequestHead, in bytes: ByteSlice) -> Bool {
        guard let path = head.decodedPath(in: bytes) else { return false }
        if let handler, handler.handler.handles(path: path) { return true }
        return servers?.admits(path: path, isFromOwnUser: { false }, authorization: { nil }) == false
    }

    /// Whether the listener has MCP servers in addition to its main one.
    var hasServers: Bool { servers != nil }

    private func server(
        at path: String, _ head: RequestHead, in bytes: ByteSlice, isFromOwnUser: () -> Bool,
        beside home: StreamableEndpoint
    ) throws(EarlyResponse) -> RequestHandler? {
        guard let servers else { return nil }
        // Checked before the router may create a server for it: a client without a token causes
        // none to be created.
        let isAdmitted = servers.admits(path: path, isFromOwnUser: isFromOwnUser) {
            head.value(named: "authorization", in: bytes).map { String($0) }
        }
        guard isAdmitted else { throw .missingToken }
        guard let server = servers.server(atPath: path) else { return nil }
        let endpoint = endpoint(of: server, at: path, beside: home)
        try endpoint.checkPurpose(of: head, in: bytes)
        return endpoint
    }

    /// Returns the endpoint of one of the router's servers.
    ///
    /// - Parameter home: the main endpoint of the listener.
    func endpoint(
        of server: MCPServer, at path: String, beside home: StreamableEndpoint
    ) -> StreamableEndpoint {
        known.withLock { known in
            if let endpoint = known.use(path), endpoint.server === server { return endpoint }
            let endpoint = home.beside(with: server, at: path)
            known.insert(endpoint, for: path)
            return endpoint
        }
    }

    /// The endpoints that were used and are remembered.
    var endpoints: [StreamableEndpoint] { known.withLock { $0.map(\.value) } }
}

extension EarlyResponse {
    fileprivate static var missingToken: Self {
        var fields = HeaderFields()
        fields.append(sanitizing: "WWW-Authenticate", "Bearer")
        return Self(status: 401, text: tokenIsRequired, fields: fields)
    }
}
