/// Who may talk to an HTTP listener. Every listener has one: there is no way to serve without it.
public struct AccessPolicy: Sendable {
    /// Which `Host` is allowed.
    public var hosts: HostPolicy
    /// Which `Origin` is allowed.
    public var origins: OriginPolicy

    /// A policy of these parts.
    public init(hosts: HostPolicy, origins: OriginPolicy = OriginPolicy()) {
        self.hosts = hosts
        self.origins = origins
    }

    /// For 127.0.0.1 and ::1.
    public static let loopback = AccessPolicy(hosts: .loopback)

    /// For unix sockets: the file's permissions decide who connects.
    public static let unixSocket = AccessPolicy(hosts: .any)

    /// Why a request is refused, or nil.
    func refusal(of head: RequestHead, in bytes: ByteSlice) -> String? {
        let host = head.value(.host, in: bytes)
        if let host, !hosts.allows(host) { return "Host not allowed" }
        guard head.range(.origin) != nil else { return nil }
        guard !head.isRepeated(.origin), let origin = head.value(.origin, in: bytes),
            origins.allows(origin, host: host)
        else { return "Origin not allowed" }
        return nil
    }

    /// Refuses a request that may not be sent here, whatever its path.
    @inline(__always)
    func check(_ head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) {
        if let text = refusal(of: head, in: bytes) { throw EarlyResponse(status: 403, text: text) }
        if Self.hasToken(head, in: bytes) {
            throw EarlyResponse(
                status: 400, text: "Do not put a token in the URL; send it in the Authorization header")
        }
    }

    /// Tokens in the query string end up in logs (fault 104).
    private static func hasToken(_ head: RequestHead, in bytes: ByteSlice) -> Bool {
        guard let query = head.query(in: bytes) else { return false }
        return String(query).split(separator: "&").contains { $0.hasPrefix("access_token=") }
    }
}
