/// The answer to an `HTTPRequest`.
public struct HTTPResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The header fields, without those that frame the message (Content-Length, Transfer-Encoding,
    /// Connection).
    public var headers: HeaderFields
    /// The body.
    public var body: HTTPBody

    /// An answer with the given parts.
    public init(status: Int, headers: HeaderFields = HeaderFields(), body: HTTPBody = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
