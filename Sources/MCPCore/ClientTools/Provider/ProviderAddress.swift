/// The address at which the daemon listens for programs that offer tools.
public struct ProviderAddress: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        case unix(path: String)
        case tcp(host: String, port: UInt16)
    }

    let kind: Kind

    private init(kind: Kind) { self.kind = kind }

    /// Returns the address of a unix socket of the same user's daemon, which needs no token.
    public static func unix(path: String) -> ProviderAddress { ProviderAddress(kind: .unix(path: path)) }

    /// Returns the address of a daemon's HTTP port.
    public static func tcp(host: String = "127.0.0.1", port: UInt16) -> ProviderAddress {
        ProviderAddress(kind: .tcp(host: host, port: port))
    }

    /// Parses `/path`, `unix:///path`, `host:port` and `http://host:port`; nil for anything else. A path
    /// after the port is ignored.
    public init?(_ text: String) {
        if text.hasPrefix("/") || text.hasPrefix("unix://") {
            let path = text.hasPrefix("/") ? text : String(text.dropFirst(7).prefix { $0 != "#" })
            guard path.hasPrefix("/"), SocketAddress(unixPath: path) != nil else { return nil }
            self = .unix(path: path)
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
        }
    }

    /// The value of `Host`.
    var authority: String {
        switch kind {
        case .unix: "localhost"
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// Returns the addresses to try. May look up a name, which blocks.
    func resolved() throws -> [SocketAddress] {
        switch kind {
        case .unix(let path): SocketAddress(unixPath: path).map { [$0] } ?? []
        case .tcp(let host, let port): try SocketAddress.resolve(host: host, port: port)
        }
    }
}
