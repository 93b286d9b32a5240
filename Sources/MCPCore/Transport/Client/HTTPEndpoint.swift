/// The location of an HTTP server, taken from a URL.
struct HTTPEndpoint: Sendable, Hashable {
    enum Place: Sendable, Hashable {
        case host(String, port: UInt16)
        case unix(SocketAddress)
    }

    let place: Place
    /// Whether the scheme is https.
    let isSecure: Bool
    /// The path and the query.
    let target: String
    /// The value of `Host`.
    let hostField: String
    /// The endpoint's name in messages: `127.0.0.1:8808`, or the path of the socket.
    let name: String

    /// Parses `http://HOST[:PORT][/PATH][?QUERY]`, or the same with `https://`.
    init(url: String) throws(ClientError) {
        guard let mark = Self.find("://", in: url) else {
            throw ClientError(.invalidRequest, "\(url) is not a URL", hint: "write http://\(url)")
        }
        switch url[..<mark.lowerBound].lowercased() {
        case "http": isSecure = false
        case "https": isSecure = true
        default: throw ClientError(.invalidRequest, "\(url): only http:// and https:// are supported")
        }
        let rest = url[mark.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let tail = rest[authority.endIndex...]
        target = tail.first == "/" ? String(tail) : "/" + tail
        if authority.contains("@") {
            throw ClientError(
                .invalidRequest, "a URL with a user name or a password is not supported",
                hint: "send credentials in the Authorization header")
        }
        let bytes = ByteSlice(String(authority))
        let isValid = unsafe bytes.withBytes { Authority.isValid(unsafe ByteView($0), 0 ..< bytes.count) }
        guard isValid, let (host, port) = Authority.split(String(authority), defaultPort: isSecure ? 443 : 80)
        else {
            let problem = authority.isEmpty ? "it has no host" : "\(authority) is not HOST or HOST:PORT"
            throw ClientError(.invalidRequest, "\(url): \(problem)")
        }
        place = .host(host, port: port)
        hostField = String(authority)
        name = "\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port)"
        try Self.check(target)
    }

    /// Creates the endpoint of a server behind a unix socket.
    init(unixPath path: String, target: String) throws(ClientError) {
        guard let address = SocketAddress(unixPath: path) else {
            throw ClientError(
                .invalidRequest,
                "\(path): a socket's path has 1 to \(SocketAddress.maxUnixPathBytes) bytes and no NUL")
        }
        place = .unix(address)
        isSecure = false
        self.target = target
        hostField = "localhost"
        name = path
        try Self.check(target)
    }

    /// The URL of the endpoint, or of another target at the same server.
    func url(_ target: String? = nil) -> String { "\(scheme)://\(hostField)\(target ?? self.target)" }

    /// Whether tokens may be sent there: over https, to this machine, or over a unix socket (AUTH-10).
    var isConfidential: Bool {
        if isSecure { return true }
        return switch place {
        case .unix: true
        case .host(let host, _): Loopback.contains(host)
        }
    }

    var scheme: String { isSecure ? "https" : "http" }

    /// The host that the certificate must be for; nil without TLS.
    var tlsHost: String? {
        guard isSecure, case .host(let host, _) = place else { return nil }
        return host
    }

    private static func check(_ target: String) throws(ClientError) {
        guard target.hasPrefix("/"), target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ClientError(
                .invalidRequest, "the path \(target) cannot be sent",
                hint: "a path starts with /, and other characters must be percent-encoded")
        }
    }

    private static func find(_ text: String, in whole: String) -> Range<String.Index>? {
        var start = whole.startIndex
        while start < whole.endIndex {
            if whole[start...].hasPrefix(text) {
                return start ..< whole.index(start, offsetBy: text.count)
            }
            start = whole.index(after: start)
        }
        return nil
    }
}

extension HTTPEndpoint {
    /// Returns the request target for `reference`, which this server itself has announced.
    ///
    /// - Throws: `.protocolViolation` when the reference is at another origin: nothing is sent there.
    func target(of reference: String) throws(ClientError) -> String {
        let base = SchemaURI(url())
        let found = SchemaURI(reference).resolved(against: base)
        if found.authority?.contains("@") == true {
            throw ClientError(
                .protocolViolation,
                "\(name) wants messages to be sent to a URL with a user name or a password")
        }
        guard found.scheme?.lowercased() == scheme, isSame(found.authority ?? "") else {
            throw ClientError(
                .protocolViolation,
                "\(name) wants messages to be sent to \(Self.withoutQuery(reference)), "
                    + "which is at another origin",
                hint: "nothing was sent there; a server behind a proxy announces a path, not a whole URL")
        }
        let target = (found.path.isEmpty ? "/" : found.path) + (found.query.map { "?" + $0 } ?? "")
        // With two slashes, of either kind, it would be another origin for those who resolve it once more.
        guard target.hasPrefix("/"), !target.hasPrefix("//"), !target.hasPrefix("/\\"),
            target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw ClientError(
                .protocolViolation,
                "\(name) wants messages to be sent to \(Self.withoutQuery(reference)), which is not a URL")
        }
        return target
    }

    private func isSame(_ authority: String) -> Bool {
        if case .unix = place { return authority == hostField }
        guard let other = try? HTTPEndpoint(url: "\(scheme)://\(authority)/"),
            case .host(let host, let port) = place, case .host(let otherHost, let otherPort) = other.place
        else { return false }
        return port == otherPort && ASCII.equalsIgnoringCase(host.utf8, otherHost.utf8)
    }

    /// Returns a text without what may be a secret; it may be anything, so that nothing else would mask it.
    private static func withoutQuery(_ text: String) -> String {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        return shortened(path.endIndex == text.endIndex ? text : path + "?…")
    }

    /// Returns a text, or of a long one the origin: a secret that is cut off is not recognized as one.
    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > 200 else { return text }
        let scheme = text.firstRange(of: "://").map { text[..<$0.upperBound] } ?? ""
        let origin = scheme + text.dropFirst(scheme.count).prefix { $0 != "/" }
        return scheme.isEmpty || origin.utf8.count > 200
            ? "a text of \(text.utf8.count) bytes" : "\(origin)/…"
    }
}
