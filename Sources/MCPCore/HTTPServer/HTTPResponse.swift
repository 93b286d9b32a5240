/// The response to an `HTTPRequest`.
public struct HTTPResponse: Sendable {
    /// The status code; one outside of 200 to 599 is sent as 500.
    public var status: Int
    /// The header fields, without those that frame the message (Content-Length, Transfer-Encoding,
    /// Connection).
    public var headers: HeaderFields
    /// The body.
    public var body: HTTPBody

    /// A response with the given parts.
    public init(status: Int, headers: HeaderFields = HeaderFields(), body: HTTPBody = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A response of plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        let headers = (try? HeaderFields(["Content-Type": "text/plain; charset=utf-8"])) ?? HeaderFields()
        return HTTPResponse(status: status, headers: headers, body: .bytes(Array(text.utf8)))
    }

    /// `text/event-stream` until the stream ends, with a comment every
    /// `HTTPServerOptions.keepAliveInterval`.
    ///
    /// The stream is terminated when the client goes away, when it lets more than
    /// `HTTPServerResources.maxOutputBytes` pile up unread, and when the server stops.
    public static func events(_ events: AsyncStream<SSEEvent>) -> HTTPResponse {
        HTTPResponse(status: 200, headers: eventStreamHeaders, body: HTTPBody(content: .events(events)))
    }

    /// 101, and from then on the connection belongs to `take`, which is called on the connection's thread and
    /// must not block.
    ///
    /// 426 instead when the request does not ask to upgrade to this protocol. The socket no longer counts
    /// among `HTTPServerOptions.maxConnections`, and a stop of the server does not close it. Behind somebody
    /// else's HTTP server it is 501.
    public static func upgrade(
        to name: String, take: @escaping @Sendable (consuming UpgradedSocket) -> Void
    ) -> HTTPResponse {
        HTTPResponse(status: 101, body: HTTPBody(content: .upgrade(name, take)))
    }

    static let eventStreamHeaders =
        (try? HeaderFields([
            "Content-Type": "text/event-stream", "Cache-Control": "no-cache",
            "X-Accel-Buffering": "no",
        ])) ?? HeaderFields()
}
