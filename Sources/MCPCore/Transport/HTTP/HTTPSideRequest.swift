/// A request for an `HTTPSideDoor`.
public struct HTTPSideRequest: Sendable {
    /// The method as it was sent: `POST`.
    public let method: String
    /// The path, percent-decoded and without query.
    public let path: String
    /// The members of the query in order, decoded as forms are.
    public let query: [(name: String, value: String)]
    /// The header fields.
    public let headers: HeaderFields
    /// The whole body, with transfer codings removed.
    public let body: ByteSlice
    /// Whether the client is a process of our own user on this machine, at a unix socket: the kernel says so
    /// (SO_PEERCRED, getpeereid), no token is needed for that.
    public let isFromOwnUser: Bool

    /// A request with these parts.
    public init(
        method: String, path: String, query: [(name: String, value: String)] = [],
        headers: HeaderFields = HeaderFields(), body: ByteSlice = ByteSlice(), isFromOwnUser: Bool = false
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.isFromOwnUser = isFromOwnUser
    }

    /// The value of the first member of the query called `name`, or nil.
    public func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Whether the client wants to speak this protocol from now on (RFC 9110, section 7.8).
    public func asksToUpgrade(to name: String) -> Bool {
        Self.lists(headers.values(of: "Connection"), "upgrade")
            && Self.lists(headers.values(of: "Upgrade"), name)
    }

    private static func lists(_ values: [String], _ token: String) -> Bool {
        values.contains { value in
            value.utf8.split(separator: 0x2C).contains { element in
                let first = element.drop(while: ASCII.isBlank)
                let end = first.lastIndex { !ASCII.isBlank($0) }.map { first.index(after: $0) }
                return ASCII.equalsIgnoringCase(first[..<(end ?? first.startIndex)], token.utf8)
            }
        }
    }
}

extension HTTPSideRequest {
    /// Nil when the target cannot be decoded.
    init?(_ head: RequestHead, in bytes: ByteSlice, _ body: ByteSlice, isFromOwnUser: Bool) {
        guard let target = DecodedTarget(head, in: bytes) else { return nil }
        var headers = head.headerFields(in: bytes)
        // RFC 9110, section 7.8: ignored in HTTP/1.0.
        if head.version == .http10 { headers.removeAll("Upgrade") }
        self.init(
            method: String(bytes[head.methodRange.range]), path: target.path, query: target.query,
            headers: headers, body: body, isFromOwnUser: isFromOwnUser)
    }
}

/// The path and the query of a request, decoded.
struct DecodedTarget {
    let path: String
    let query: [(name: String, value: String)]

    /// Nil when the percent-encoding is broken, or stands for bytes that are no text.
    init?(_ head: RequestHead, in bytes: ByteSlice) {
        guard let path = PercentCoding.decode(head.path(in: bytes)) else { return nil }
        self.path = path
        var query: [(name: String, value: String)] = []
        for member in (head.query(in: bytes) ?? ByteSlice()).split(separator: UInt8(ascii: "&")) {
            let parts = member.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decodeForm(parts[0]),
                let value = parts.count > 1 ? Self.decodeForm(parts[1]) : ""
            else { return nil }
            query.append((name, value))
        }
        self.query = query
    }

    /// In a query a space may be written as a plus sign (WHATWG URL, section 5.1).
    private static func decodeForm(_ bytes: some Collection<UInt8>) -> String? {
        PercentCoding.decode(bytes.map { $0 == UInt8(ascii: "+") ? ASCII.space : $0 })
    }
}
