/// One complete request.
public struct HTTPRequest: Sendable, Hashable {
    /// The method as it was sent: `POST`.
    public var method: String
    /// The target as it stood in the request line: a path, perhaps with a query.
    public var target: String
    /// The header fields.
    public var headers: HeaderFields
    /// The whole body, with transfer codings removed.
    public var body: ByteSlice
    /// Whether the client is a process of our own user on this machine, at a unix socket: the kernel says so
    /// (SO_PEERCRED, getpeereid), no token is needed for that. False behind somebody else's HTTP server.
    public var isFromOwnUser: Bool

    /// A request with the given parts.
    public init(
        method: String, target: String, headers: HeaderFields = HeaderFields(),
        body: ByteSlice = ByteSlice(), isFromOwnUser: Bool = false
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.isFromOwnUser = isFromOwnUser
    }

    /// A request with the given parts.
    public init(method: String, target: String, headers: HeaderFields = HeaderFields(), body: [UInt8]) {
        self.init(method: method, target: target, headers: headers, body: ByteSlice(body))
    }

    /// The target up to its query, percent-decoded; as it was sent when it cannot be decoded, which
    /// `HTTPServer` refuses before.
    public var path: String {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        return PercentCoding.decode(path) ?? String(decoding: path, as: UTF8.self)
    }

    /// The members of the query in order, decoded as forms are (WHATWG URL, section 5.1); empty when they
    /// cannot be decoded.
    public var query: [(name: String, value: String)] {
        let query = target.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        return QueryMembers.decode(query) ?? []
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

extension HTTPRequest {
    /// The request behind a parsed head.
    init(_ head: RequestHead, in bytes: ByteSlice, _ body: ByteSlice, isFromOwnUser: Bool) {
        var headers = head.headerFields(in: bytes)
        // RFC 9110, section 7.8: ignored in HTTP/1.0.
        if head.version == .http10 { headers.removeAll("Upgrade") }
        // In origin form: without the authority that a target may begin with.
        let target = head.target.range
        let start = head.path.isPresent ? head.path.range.lowerBound : target.lowerBound
        self.init(
            method: String(bytes[head.methodRange.range]), target: String(bytes[start ..< target.upperBound]),
            headers: headers, body: body, isFromOwnUser: isFromOwnUser)
    }
}

extension RequestHead {
    /// The path, percent-decoded; nil when it or the query cannot be decoded to text.
    func decodedPath(in bytes: ByteSlice) -> String? {
        guard let path = PercentCoding.decode(path(in: bytes)),
            QueryMembers.decode(query(in: bytes) ?? ByteSlice()) != nil
        else { return nil }
        return path
    }
}

/// The members of a query.
private enum QueryMembers {
    /// Nil when the percent-encoding is broken, or stands for bytes that are no text.
    static func decode(_ query: some Collection<UInt8>) -> [(name: String, value: String)]? {
        var members: [(name: String, value: String)] = []
        for member in query.split(separator: UInt8(ascii: "&")) {
            let parts = member.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = text(parts[0]), let value = parts.count > 1 ? text(parts[1]) : "" else {
                return nil
            }
            members.append((name, value))
        }
        return members
    }

    /// A space may be written as a plus sign.
    private static func text(_ bytes: some Collection<UInt8>) -> String? {
        PercentCoding.decode(bytes.map { $0 == UInt8(ascii: "+") ? ASCII.space : $0 })
    }
}
