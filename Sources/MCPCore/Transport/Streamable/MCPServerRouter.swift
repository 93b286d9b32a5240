/// A router that finds MCP servers by the path of a request: the servers that a listener has in addition to
/// its main endpoint.
///
/// Pass it to `ServerTransport.http`. One router may serve several listeners.
public protocol MCPServerRouter: Sendable {
    /// Returns the MCP server at this path (percent-decoded, without query), or nil. Called for each request
    /// with a path that neither the main endpoint nor the `HTTPRequestHandler` serves and that `admits`
    /// allows, on the connection's own thread: it must not block.
    ///
    /// A session of the handshake revisions belongs to the path on which it began.
    func server(atPath path: String) -> MCPServer?

    /// Returns whether a request may reach the server at this path; otherwise it is answered with 401. Called
    /// before `server(atPath:)`, so that nothing is created for clients without access; it must not block. By
    /// default, every request may.
    ///
    /// - Parameters:
    ///   - isFromOwnUser: whether the client is a process of our own user on this machine, connected
    ///     to a unix socket.
    ///   - authorization: the value of the Authorization field; nil when there is none.
    func admits(path: String, isFromOwnUser: () -> Bool, authorization: () -> String?) -> Bool
}

extension MCPServerRouter {
    /// Admits every request.
    public func admits(path: String, isFromOwnUser: () -> Bool, authorization: () -> String?) -> Bool { true }
}
