/// An absolute http or https URL in its parts, read strictly: URLs of authorization come from peers.
struct WebURL: Sendable, Hashable, CustomStringConvertible {
    /// The longest URL that is read, in bytes.
    static let maxBytes = 8 << 10

    let isSecure: Bool
    /// The host in lower case, without brackets.
    let host: String
    let port: UInt16
    /// The path as written; it may be empty.
    let path: String
    let query: String?
    let fragment: String?

    /// Reads a URL; nil for another scheme, characters that are not printable ASCII, user information, an
    /// invalid host or port, and a backslash, which browsers read as a slash.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != ASCII.backslash })
        else { return nil }
        let parts = SchemaURI(text)
        switch parts.scheme?.lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        guard let authority = parts.authority, !authority.contains("@") else { return nil }
        let bytes = ByteSlice(authority)
        guard unsafe bytes.withBytes({ Authority.isValid(unsafe ByteView($0), 0 ..< bytes.count) }),
            let (host, port) = Authority.split(authority, defaultPort: isSecure ? 443 : 80)
        else { return nil }
        self.host = host.lowercased()
        self.port = port
        path = parts.path
        query = parts.query
        fragment = parts.fragment
    }

    /// The scheme, the host, and the port unless it is the default one.
    var origin: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let isDefault = port == (isSecure ? 443 : 80)
        return (isSecure ? "https://" : "http://") + name + (isDefault ? "" : ":\(port)")
    }

    /// Whether both have the same scheme, host and port.
    func hasSameOrigin(as other: WebURL) -> Bool {
        isSecure == other.isSecure && host == other.host && port == other.port
    }

    /// Whether the host is this machine by its name or address; nothing is looked up.
    var isLoopback: Bool { Loopback.contains(host) }

    /// Whether tokens and credentials may be sent there: https, or http on this machine (AUTH-10).
    var isConfidential: Bool { isSecure || isLoopback }

    /// The path and the query.
    var target: String { (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "") }

    /// The URL with a normalized origin.
    var description: String {
        origin + path + (query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "")
    }

    /// Returns the URL that a reference in a document or a field at this URL means; nil for an invalid one.
    func resolving(_ reference: String) -> WebURL? {
        WebURL(SchemaURI(reference).resolved(against: SchemaURI(description)).description)
    }
}
