/// A policy on the requests that an HTTP listener accepts. Every listener has one; serving without a policy
/// is not possible.
public struct AccessPolicy: Sendable {
    /// The policy on `Host`.
    public var hosts: HostPolicy
    /// The policy on `Origin`.
    public var origins: OriginPolicy

    /// Creates a policy from its parts.
    public init(hosts: HostPolicy, origins: OriginPolicy = OriginPolicy()) {
        self.hosts = hosts
        self.origins = origins
    }

    /// The policy for 127.0.0.1 and ::1.
    public static let loopback = AccessPolicy(hosts: .loopback)

    /// The policy for unix sockets: the file's permissions determine which processes can connect.
    public static let unixSocket = AccessPolicy(hosts: .any)

    /// Returns the reason why a request is refused, or nil.
    ///
    /// - Parameter admits: whether a page of an origin that this policy refuses may call the path.
    func refusal(
        of head: RequestHead, in bytes: ByteSlice, admits: ((ByteSlice) -> Bool)? = nil
    ) -> String? {
        let host = head.value(.host, in: bytes)
        if let host, !hosts.allows(host) { return "Host not allowed" }
        guard head.range(.origin) != nil else { return nil }
        guard !head.isRepeated(.origin), let origin = head.value(.origin, in: bytes),
            origins.allows(origin, host: host) || admits?(origin) == true
        else { return "Origin not allowed" }
        return nil
    }

    /// Refuses a request that is not allowed here, regardless of its path.
    @inline(__always)
    func check(
        _ head: RequestHead, in bytes: ByteSlice, admits: ((ByteSlice) -> Bool)? = nil
    ) throws(EarlyResponse) {
        if let text = refusal(of: head, in: bytes, admits: admits) {
            var response = EarlyResponse(status: 403, text: text)
            let isHost = head.value(.host, in: bytes).map { !hosts.allows($0) } ?? false
            response.reason = isHost ? .host : .origin
            response.detail = head.value(isHost ? .host : .origin, in: bytes).map {
                String($0[0 ..< min($0.count, HTTPRefusal.maxDetailBytes)])
            }
            throw response
        }
        if Self.hasToken(head, in: bytes) {
            throw EarlyResponse(
                status: 400, text: "Do not put a token in the URL; send it in the Authorization header")
        }
    }

    /// Returns whether the query string contains a token, which would end up in logs (fault 104).
    private static func hasToken(_ head: RequestHead, in bytes: ByteSlice) -> Bool {
        guard let query = head.query(in: bytes) else { return false }
        // Decoded like a form, because a name can be written in many ways: access%5Ftoken.
        return query.split(separator: UInt8(ascii: "&")).contains { member in
            let name = PercentCoding.decode(member.prefix { $0 != UInt8(ascii: "=") })
            return name.map { ASCII.equalsIgnoringCase($0.utf8, "access_token".utf8) } == true
        }
    }
}
