/// A policy on the `Host` that requests may name: the defence against DNS rebinding (HTTP-06, fault 55).
public struct HostPolicy: Sendable, Hashable {
    /// The names that are allowed, in lower case and without a port; nil allows any.
    private let names: [ByteSlice]?
    /// The suffixes that are allowed after any additional labels, each beginning with a dot.
    private let suffixes: [ByteSlice]

    /// Returns a policy that allows only these names, with any port. `*.localhost` matches every name below
    /// `localhost`, but not `localhost` itself.
    public static func names(_ names: [String]) -> HostPolicy {
        let isPattern: (String) -> Bool = { $0.hasPrefix("*.") }
        return HostPolicy(
            names: names.filter { !isPattern($0) }.map { ByteSlice($0.lowercased()) },
            suffixes: names.filter(isPattern).map { ByteSlice($0.dropFirst().lowercased()) })
    }

    /// The policy that allows `localhost`, `127.0.0.1` and `[::1]`, the names used by clients on the same
    /// machine.
    public static let loopback = HostPolicy.names(["127.0.0.1", "localhost", "[::1]"])

    /// The policy that allows any name, for unix sockets, which no web page can reach, and for servers behind
    /// a proxy that checks the name itself.
    public static let any = HostPolicy(names: nil)

    private init(names: [ByteSlice]?, suffixes: [ByteSlice] = []) {
        self.names = names
        self.suffixes = suffixes
    }

    /// Returns whether the value of a `Host` field, or the authority of an origin, is allowed.
    @inline(__always)
    func allows(_ host: ByteSlice) -> Bool {
        guard let names else { return true }
        let name = Self.withoutPort(host)
        for allowed in names where allowed.count == name.count && ASCII.equalsIgnoringCase(allowed, name) {
            return true
        }
        for suffix in suffixes where name.count > suffix.count {
            if ASCII.equalsIgnoringCase(suffix, name[(name.count - suffix.count)...]) { return true }
        }
        return false
    }

    /// Returns the `HOST` part of `HOST:PORT`; an IPv6 address keeps its brackets.
    static func withoutPort(_ host: ByteSlice) -> ByteSlice {
        if host.first == UInt8(ascii: "[") {
            guard let close = host.firstIndex(of: UInt8(ascii: "]")) else { return host }
            return host[0 ..< close + 1]
        }
        guard let colon = host.firstIndex(of: UInt8(ascii: ":")) else { return host }
        return host[0 ..< colon]
    }
}
