/// A handler that responds to HTTP requests.
///
/// Pass it to `HTTPServer.start(_:)`, or to `ServerTransport.http` for the paths next to an MCP endpoint. It
/// is called only after the host and origin of a request have been found to be allowed; size limits and
/// time-outs are those of the server. One handler may serve several servers.
public protocol HTTPRequestHandler: Sendable {
    /// Returns whether requests for this path (percent-decoded, without the query) go to `respond`.
    ///
    /// Other requests receive 404, or go to the MCP servers next to the handler. Called first; must not wait.
    /// By default all paths are handled.
    func handles(path: String) -> Bool

    /// Returns whether a web page may call a path although the server's `AccessPolicy` refuses its origin.
    ///
    /// A handler that admits pages of other origins responds to their preflight requests (OPTIONS), and adds
    /// `Access-Control-Allow-Origin` to its responses. By default no such page is admitted.
    func admits(origin: String, path: String) -> Bool

    /// Responds to one request. Starts on the connection's own thread, which it must not block.
    ///
    /// The task is cancelled when the connection breaks, and after `HTTPServerResources.requestTimeout`, when
    /// the client receives 504. A client that has only stopped writing still receives its response.
    func respond(to request: HTTPRequest) async -> HTTPResponse
}

extension HTTPRequestHandler {
    /// Returns true for all paths.
    public func handles(path: String) -> Bool { true }

    /// Returns false for all origins.
    public func admits(origin: String, path: String) -> Bool { false }
}

extension HTTPRequestHandler {
    /// Returns whether this handler admits a page, given by the origin of its request.
    func admits(_ origin: ByteSlice, _ head: RequestHead, in bytes: ByteSlice) -> Bool {
        guard let path = head.decodedPath(in: bytes), handles(path: path) else { return false }
        return admits(origin: String(origin), path: path)
    }
}

/// A request handler that serves connections with an `HTTPRequestHandler`.
final class AsyncRequestHandler: RequestHandler, @unchecked Sendable {
    // SAFETY: immutable.
    let handler: any HTTPRequestHandler

    init(_ handler: any HTTPRequestHandler) { self.handler = handler }

    override func check(
        _ head: RequestHead, in bytes: ByteSlice, context: ConnectionContext, isFromOwnUser: () -> Bool,
        peer: () -> PeerUser?, memory: inout ConnectionMemory?
    ) -> Decision {
        do throws(EarlyResponse) {
            try head.checkMethod()
            try context.policy.check(head, in: bytes) { self.handler.admits($0, head, in: bytes) }
            if context.users == .own { try checkUser(peer()) }
            guard let path = head.decodedPath(in: bytes) else { throw .undecodableTarget }
            guard handler.handles(path: path) else { throw EarlyResponse(status: 404, text: "Not found") }
            return .serve(self)
        } catch {
            return .refuse(error)
        }
    }

    /// Refuses a process of another user.
    private func checkUser(_ peer: PeerUser?) throws(EarlyResponse) {
        if peer?.isOwn == true { return }
        var response = EarlyResponse(
            status: 403, text: "This address serves only processes of the user that the server runs as")
        response.reason = .user
        response.detail = peer.map { "user id \($0.user)" } ?? "unknown user"
        throw response
    }

    override func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection
    ) {
        // Copied: a stream may last long, and the block that its request was read into is needed again.
        let request = HTTPRequest(head, in: bytes, body.copy(), isFromOwnUser: connection.isFromOwnUser)
        let response = HandlerResponse(
            connection: connection, version: head.version, isHead: connection.isHead)
        response.keep(request.body, of: connection.context.memory)
        connection.wait(for: response)
        response.begin(handler, request, atMost: connection.context.resources.requestTimeout)
    }
}

extension EarlyResponse {
    static let undecodableTarget = EarlyResponse(
        status: 400, text: "The request target is not percent-encoded UTF-8")
}

extension RequestHead {
    /// Refuses a method that this server does not implement.
    @inline(__always)
    func checkMethod() throws(EarlyResponse) {
        switch method {
        case .trace, .connect, .other:
            throw EarlyResponse(status: 501, text: "Method not implemented")
        default: break
        }
    }
}
