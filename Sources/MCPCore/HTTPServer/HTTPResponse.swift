/// The response to an `HTTPRequest`.
public struct HTTPResponse: Sendable {
    /// The status code; one outside the range 200 to 599 is sent as 500.
    public var status: Int
    /// The header fields, without those that frame the message (Content-Length, Transfer-Encoding,
    /// Connection).
    public var headers: HeaderFields
    /// The body.
    public var body: HTTPBody

    /// Creates a response from its parts.
    public init(status: Int, headers: HeaderFields = HeaderFields(), body: HTTPBody = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns a response of plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        let headers = (try? HeaderFields(["Content-Type": "text/plain; charset=utf-8"])) ?? HeaderFields()
        return HTTPResponse(status: status, headers: headers, body: .bytes(Array(text.utf8)))
    }

    /// Returns a response of type `text/event-stream` that lasts until the stream ends, with a comment every
    /// `HTTPServerOptions.keepAliveInterval`. Header fields may be added to it.
    ///
    /// The stream is terminated when the client disconnects, when it leaves more than
    /// `HTTPServerResources.maxOutputBytes` unread, and when the server stops.
    public static func events(_ events: AsyncStream<SSEEvent>) -> HTTPResponse {
        HTTPResponse(status: 200, headers: eventStreamHeaders, body: HTTPBody(content: .events(events)))
    }

    /// Returns a 101 response, after which the connection belongs to `take`.
    ///
    /// `take` is called on the connection's thread and must not block.
    ///
    /// If the request does not ask to upgrade to this protocol, the response is 426 instead. The socket no
    /// longer counts towards `HTTPServerOptions.maxConnections`, and stopping the server does not close it.
    /// When a different HTTP server runs the handler, the response is 501.
    public static func upgrade(
        to name: String, take: @escaping @Sendable (consuming UpgradedSocket) -> Void
    ) -> HTTPResponse {
        HTTPResponse(status: 101, body: HTTPBody(content: .upgrade(name, take)))
    }

    /// The fields of every event stream. A stream must not be stored: a browser that stores responses lets
    /// other requests for the same address wait for it, and sends a DELETE again that it had to give up.
    static let eventStreamHeaders =
        (try? HeaderFields([
            "Content-Type": "text/event-stream", "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
        ])) ?? HeaderFields()
}
