/// One complete request.
public struct HTTPRequest: Sendable, Hashable {
    /// The method as it was sent, such as `POST`.
    public var method: String
    /// The target as it appears in the request line: a path, optionally with a query.
    public var target: String
    /// The header fields.
    public var headers: HeaderFields
    /// The whole body, with transfer codings removed.
    public var body: ByteSlice
    /// Whether the client is a process of the same user on this machine, connected through a Unix socket.
    ///
    /// The kernel confirms this (SO_PEERCRED, getpeereid), so no token is needed. False behind another HTTP
    /// server.
    public var isFromOwnUser: Bool

    /// Creates a request with the given parts.
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

    /// Creates a request with the given parts.
    public init(method: String, target: String, headers: HeaderFields = HeaderFields(), body: [UInt8]) {
        self.init(method: method, target: target, headers: headers, body: ByteSlice(body))
    }

    /// The percent-decoded target up to its query, or the path as sent if it cannot be decoded.
    ///
    /// `HTTPServer` refuses a request whose path cannot be decoded.
    public var path: String {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        return PercentCoding.decode(path) ?? String(decoding: path, as: UTF8.self)
    }

    /// The members of the query in order, decoded like a form (WHATWG URL, section 5.1); empty if they cannot
    /// be decoded.
    public var query: [(name: String, value: String)] {
        let query = target.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        return QueryMembers.decode(query) ?? []
    }

    /// Returns the value of the first query member called `name`, or nil.
    public func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// Whether the client requests to switch to this protocol (RFC 9110, section 7.8).
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
    /// Creates a request from a parsed head.
    init(_ head: RequestHead, in bytes: ByteSlice, _ body: ByteSlice, isFromOwnUser: Bool) {
        var headers = head.headerFields(in: bytes)
        // RFC 9110, section 7.8: Upgrade is ignored in HTTP/1.0.
        if head.version == .http10 { headers.removeAll("Upgrade") }
        // In origin form, that is, without the authority that a target may begin with.
        let target = head.target.range
        let start = head.path.isPresent ? head.path.range.lowerBound : target.lowerBound
        self.init(
            method: String(bytes[head.methodRange.range]), target: String(bytes[start ..< target.upperBound]),
            headers: headers, body: body, isFromOwnUser: isFromOwnUser)
    }
}

extension RequestHead {
    /// Returns the percent-decoded path, or nil if the path or the query cannot be decoded to text.
    func decodedPath(in bytes: ByteSlice) -> String? {
        guard let path = PercentCoding.decode(path(in: bytes)),
            QueryMembers.decode(query(in: bytes) ?? ByteSlice()) != nil
        else { return nil }
        return path
    }
}

/// The members of a query.
enum QueryMembers {
    /// Returns the members, or nil if the percent-encoding is malformed or represents bytes that are not
    /// text.
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

    /// Returns the decoded text of a name or a value, in which a plus sign represents a space.
    private static func text(_ bytes: some Collection<UInt8>) -> String? {
        PercentCoding.decode(bytes.map { $0 == UInt8(ascii: "+") ? ASCII.space : $0 })
    }
}
