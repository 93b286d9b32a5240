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
        if let host, !hosts.allows(host) { return "This Host is not served here" }
        guard head.range(.origin) != nil else { return nil }
        guard !head.isRepeated(.origin), let origin = head.value(.origin, in: bytes),
            origins.allows(origin, host: host)
        else { return "Requests from this Origin are not allowed" }
        return nil
    }
}
