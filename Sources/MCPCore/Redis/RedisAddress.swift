/// The place of a store: `redis://[USER@]HOST[:PORT][/DATABASE]`, `rediss://` with TLS, or
/// `unix:///PATH[?db=DATABASE]`.
struct RedisAddress: Sendable, Hashable {
    enum Place: Sendable, Hashable {
        case tcp(host: String, port: UInt16)
        case unix(SocketAddress, path: String)
    }

    static let defaultPort: UInt16 = 6379
    /// The greatest number of a database.
    static let maxDatabase = 65_535

    let place: Place
    /// Whether the connection is encrypted (`rediss://`).
    let isEncrypted: Bool
    let user: String?
    let database: Int

    init(_ text: String) throws(RedisStore.AddressError) {
        guard text.utf8.count <= 1024, text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { throw RedisStore.AddressError("is too long or contains spaces") }
        isEncrypted = text.hasPrefix("rediss://")
        if let rest = Self.rest(of: text, after: "unix://") {
            (place, user, database) = try Self.unix(rest)
        } else if let rest = Self.rest(of: text, after: isEncrypted ? "rediss://" : "redis://") {
            (place, user, database) = try Self.tcp(rest)
        } else {
            throw RedisStore.AddressError(
                "must be redis://HOST:PORT/DATABASE, rediss://HOST:PORT/DATABASE with TLS, or "
                    + "unix:///PATH?db=DATABASE")
        }
    }

    private static func unix(_ rest: String) throws(RedisStore.AddressError) -> (Place, String?, Int) {
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts[0])
        guard path.hasPrefix("/"), let address = SocketAddress(unixPath: path) else {
            throw RedisStore.AddressError(
                "must name an absolute path of at most \(SocketAddress.maxUnixPathBytes) bytes")
        }
        guard parts.count == 2 else { return (.unix(address, path: path), nil, 0) }
        guard let number = Self.rest(of: String(parts[1]), after: "db=") else {
            throw RedisStore.AddressError("has a part after \"?\" other than db=DATABASE")
        }
        return (.unix(address, path: path), nil, try Self.database(number))
    }

    private static func tcp(_ rest: String) throws(RedisStore.AddressError) -> (Place, String?, Int) {
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let database = parts.count == 2 && !parts[1].isEmpty ? try Self.database(String(parts[1])) : 0
        var authority = parts[0]
        var user: String?
        if let at = authority.lastIndex(of: "@") {
            let name = authority[..<at]
            if name.contains(":") {
                throw RedisStore.AddressError(
                    "contains a password, which logs and listings would show: give it separately")
            }
            user = name.isEmpty ? nil : PercentCoding.decode(name.utf8)
            authority = authority[authority.index(after: at)...]
        }
        let (host, port) = try split(authority)
        return (.tcp(host: host, port: port), user, database)
    }

    private static func split(_ authority: Substring) throws(RedisStore.AddressError) -> (String, UInt16) {
        var host = authority
        var port = defaultPort
        if let colon = authority.lastIndex(of: ":"), authority.last != "]" {
            guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else {
                throw RedisStore.AddressError("has a port that is not a number from 1 to 65535")
            }
            (host, port) = (authority[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains("["), !host.contains("?"), !host.contains("#") else {
            throw RedisStore.AddressError("names no host")
        }
        return (String(host), port)
    }

    private static func database(_ text: String) throws(RedisStore.AddressError) -> Int {
        guard let number = Int(text), (0 ... maxDatabase).contains(number) else {
            throw RedisStore.AddressError("has a database that is not a number from 0 to \(maxDatabase)")
        }
        return number
    }

    private static func rest(of text: String, after prefix: String) -> String? {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }

    /// The place without the user, for messages.
    var description: String {
        switch place {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(_, let path): path
        }
    }

    /// Whether what is sent stays on this machine.
    var isLocal: Bool {
        switch place {
        case .unix: true
        case .tcp(let host, _):
            host == "localhost" || host == "::1"
                || (host.hasPrefix("127.") && SocketAddress(numeric: host, port: 1) != nil)
        }
    }
}
