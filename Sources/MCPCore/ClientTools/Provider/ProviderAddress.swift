/// The address at which the daemon, or a proxy in front of it, listens for programs that offer tools.
public struct ProviderAddress: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case unix(path: String)
        case tcp(host: String, port: UInt16)
        /// Over TLS, where a proxy may stand in front of the daemon.
        case https(host: String, port: UInt16)
    }

    let kind: Kind

    private init(kind: Kind) { self.kind = kind }

    /// Returns the address of a unix socket of the same user's daemon, which needs no token.
    public static func unix(path: String) -> ProviderAddress { ProviderAddress(kind: .unix(path: path)) }

    /// Returns the address of a daemon's HTTP port.
    public static func tcp(host: String = "127.0.0.1", port: UInt16) -> ProviderAddress {
        ProviderAddress(kind: .tcp(host: host, port: port))
    }

    /// Returns the address of a daemon behind a proxy with TLS.
    public static func https(host: String, port: UInt16 = 443) -> ProviderAddress {
        ProviderAddress(kind: .https(host: host, port: port))
    }

    /// Parses `/path`, `unix:///path`, `host:port`, `http://host:port` and `https://host[:port]`; nil for
    /// anything else. A path after the port is ignored.
    public init?(_ text: String) {
        if text.hasPrefix("/") || text.hasPrefix("unix://") {
            let path = text.hasPrefix("/") ? text : String(text.dropFirst(7).prefix { $0 != "#" })
            guard path.hasPrefix("/"), SocketAddress(unixPath: path) != nil else { return nil }
            self = .unix(path: path)
            return
        }
        if text.hasPrefix("https://") {
            guard let endpoint = try? HTTPEndpoint(url: text), case .host(let host, let port) = endpoint.place
            else { return nil }
            self = .https(host: host, port: port)
            return
        }
        let rest = text.hasPrefix("http://") ? text.dropFirst(7) : text[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let colon = authority.lastIndex(of: ":"), colon > authority.startIndex,
            let port = UInt16(authority[authority.index(after: colon)...]), port > 0,
            !rest.contains("@"), !text.contains("://") || text.hasPrefix("http://")
        else { return nil }
        var host = String(authority[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        self = .tcp(host: host, port: port)
    }

    /// The address in text form: `unix:///run/providers.sock`, `127.0.0.1:3001`.
    public var description: String {
        switch kind {
        case .unix(let path): "unix://\(path)"
        case .tcp: authority
        case .https: "https://\(authority)"
        }
    }

    /// The endpoint for programs that communicate by plain HTTP requests; nil for a unix socket.
    func endpoint(_ target: String) throws(ClientError) -> HTTPEndpoint? {
        switch kind {
        case .unix: nil
        case .tcp: try HTTPEndpoint(url: "http://\(authority)\(target)")
        case .https: try HTTPEndpoint(url: "https://\(authority)\(target)")
        }
    }

    var isSecure: Bool { if case .https = kind { true } else { false } }

    /// The value of `Host`.
    var authority: String {
        switch kind {
        case .unix: "localhost"
        case .tcp(let host, let port), .https(let host, let port):
            host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// Returns the addresses to try. May look up a name, which blocks.
    func resolved() throws -> [SocketAddress] {
        switch kind {
        case .unix(let path): SocketAddress(unixPath: path).map { [$0] } ?? []
        case .tcp(let host, let port), .https(let host, let port):
            try SocketAddress.resolve(host: host, port: port)
        }
    }
}
