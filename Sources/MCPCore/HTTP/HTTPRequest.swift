/// One complete request, for programs that bring an HTTP stack of their own.
public struct HTTPRequest: Sendable, Hashable {
    /// The method, in upper case: `POST`.
    public var method: String
    /// The target as it stood in the request line: a path, perhaps with a query.
    public var target: String
    /// The header fields.
    public var headers: HeaderFields
    /// The whole body, with transfer codings removed.
    public var body: [UInt8]

    /// A request with the given parts.
    public init(method: String, target: String, headers: HeaderFields = HeaderFields(), body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// The target up to its query.
    public var path: Substring { target.prefix { $0 != "?" } }
}
