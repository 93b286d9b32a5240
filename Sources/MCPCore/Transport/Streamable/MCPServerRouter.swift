/// Finds MCP servers by the path of a request: what a listener serves beside its main endpoint.
///
/// Give it to `ServerTransport.http`. One router may serve several listeners.
public protocol MCPServerRouter: Sendable {
    /// The MCP server at this path (percent-decoded, without query), or nil. Called for each request of a
    /// path that neither the main endpoint nor the `HTTPRequestHandler` has and that `admits` lets pass, on
    /// the connection's own thread: it must not wait.
    ///
    /// A session of the handshake revisions belongs to the path it began at.
    func server(atPath path: String) -> MCPServer?

    /// Whether a request may go to the server at this path; otherwise it is answered with 401. Asked before
    /// `server(atPath:)`, so that nothing is made for those who may not; must not wait. By default all may.
    ///
    /// - Parameters:
    ///   - isFromOwnUser: whether the client is a process of our own user on this machine, at a unix socket.
    ///   - authorization: the value of the Authorization field, nil when there is none.
    func admits(path: String, isFromOwnUser: () -> Bool, authorization: () -> String?) -> Bool
}

extension MCPServerRouter {
    /// All may.
    public func admits(path: String, isFromOwnUser: () -> Bool, authorization: () -> String?) -> Bool { true }
}
