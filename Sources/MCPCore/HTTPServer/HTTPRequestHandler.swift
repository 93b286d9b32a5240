/// Responds to HTTP requests.
///
/// Give it to `HTTPServer.start(_:)`, or to `ServerTransport.http` for the paths beside an MCP endpoint. It
/// is asked only after the host and the origin of a request were found to be allowed; size limits and
/// time-outs are those of the server. One handler may serve several servers.
public protocol HTTPRequestHandler: Sendable {
    /// Whether requests of this path (percent-decoded, without query) are for `respond`; the others are
    /// answered with 404, or go to the MCP servers beside it. Asked first; must not wait. By default all are.
    func handles(path: String) -> Bool

    /// Responds to one request. Begun on the connection's own thread, which it must not block.
    ///
    /// The task is cancelled when the connection breaks, and after `HTTPServerResources.requestTimeout`,
    /// which the client learns of with 504. A client that has only stopped writing still gets its response.
    func respond(to request: HTTPRequest) async -> HTTPResponse
}

extension HTTPRequestHandler {
    /// All are.
    public func handles(path: String) -> Bool { true }
}

/// Serves connections by an `HTTPRequestHandler`.
final class AsyncRequestHandler: RequestHandler, @unchecked Sendable {
    // SAFETY: constant.
    let handler: any HTTPRequestHandler

    init(_ handler: any HTTPRequestHandler) { self.handler = handler }

    override func check(
        _ head: RequestHead, in bytes: ByteSlice, context: ConnectionContext, isFromOwnUser: () -> Bool
    ) -> Decision {
        do throws(EarlyResponse) {
            try head.checkMethod()
            try context.policy.check(head, in: bytes)
            guard let path = head.decodedPath(in: bytes) else { throw .undecodableTarget }
            guard handler.handles(path: path) else { throw EarlyResponse(status: 404, text: "Not found") }
            return .serve(self)
        } catch {
            return .refuse(error)
        }
    }

    override func serve(
        _ head: RequestHead, _ bytes: ByteSlice, _ body: ByteSlice, on connection: HTTPConnection
    ) {
        // Copied: a stream may last long, and the block that its request was read into is needed.
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
        status: 400, text: "The target is not UTF-8 in percent-encoding")
}

extension RequestHead {
    /// Refuses a method that nobody here serves.
    @inline(__always)
    func checkMethod() throws(EarlyResponse) {
        switch method {
        case .trace, .connect, .other:
            throw EarlyResponse(status: 501, text: "Method not implemented")
        default: break
        }
    }
}
