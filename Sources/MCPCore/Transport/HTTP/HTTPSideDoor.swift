/// What a listener serves besides its MCP endpoint: further MCP servers, and requests that are not MCP.
///
/// Give it to `HTTPServerOptions.sideDoor`. It is asked only for paths that the main endpoint does not have,
/// and only after the host and the origin of the request were found to be allowed; size limits and time-outs
/// are those of the endpoint. One door may serve several listeners.
public protocol HTTPSideDoor: Sendable {
    /// The MCP server at this path (percent-decoded, without query), or nil. Called for each request of a
    /// path that neither the main endpoint nor `handles` has and that `admits` lets pass, on the connection's
    /// own thread: it must not wait.
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

    /// Whether requests of this path (percent-decoded, without query) are for `answer`. Asked first; must not
    /// wait.
    func handles(path: String) -> Bool

    /// Answers one request. Begun on the connection's own thread, which it must not block.
    ///
    /// The task is cancelled when the connection breaks, and after `ServerLimits.requestDeadline`, which the
    /// client learns of with 504. A client that has only stopped writing still gets its answer.
    func answer(_ request: HTTPSideRequest) async -> HTTPSideAnswer
}

extension HTTPSideDoor {
    /// All may.
    public func admits(path: String, isFromOwnUser: () -> Bool, authorization: () -> String?) -> Bool { true }
}

/// The answer of an `HTTPSideDoor`.
public enum HTTPSideAnswer: Sendable {
    /// An answer with a status; one outside of 200 to 599 is sent as 500. Content-Length and
    /// Transfer-Encoding are left to the connection.
    case response(HTTPResponse)

    /// `text/event-stream` until the stream ends, with a comment every
    /// `HTTPServerOptions.keepAliveInterval`.
    ///
    /// The stream is terminated when the client goes away, when it lets more than
    /// `ServerLimits.outputBytes` pile up unread, and when the server stops.
    case events(AsyncStream<HTTPSideEvent>)

    /// 101, and from then on the connection belongs to `take`, which is called on the connection's thread and
    /// must not block.
    ///
    /// 426 instead when the request does not ask to upgrade to this protocol. The socket no longer counts
    /// among `HTTPServerOptions.connections`, and a stop of the server does not close it.
    case upgrade(to: String, take: @Sendable (consuming UpgradedSocket) -> Void)
}

/// One server-sent event.
public struct HTTPSideEvent: Sendable, Hashable {
    /// What a client sends as `Last-Event-ID` when it comes back; nil: none.
    public var id: String?
    /// The data, split into lines by the encoder.
    public var data: ByteSlice

    /// An event with these parts.
    public init(id: String? = nil, data: ByteSlice) {
        self.id = id
        self.data = data
    }
}
