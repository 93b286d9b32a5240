/// A request, or a connection, that was refused before a handler saw it.
public struct HTTPRefusal: Sendable {
    /// The reason for a refusal.
    public enum Reason: Sendable, Hashable, CaseIterable {
        /// `Host` names a host that is not served.
        case host
        /// A web page of another origin.
        case origin
        /// No credential, or a wrong one (401).
        case unauthenticated
        /// The caller may not do this (403).
        case forbidden
        /// A process of another user (403).
        case user
        /// Too many wrong credentials (429).
        case rateLimited
        /// No room for the connection, the body or the work (503).
        case overloaded
        /// The head or the body is larger than the limit (413, 431).
        case tooLarge
        /// The request did not arrive in time: its connection was closed without a response (408).
        case timeout
        /// Nothing is served at this path (404).
        case notFound
        /// Everything else.
        case malformed

        init(status: Int) {
            switch status {
            case 401: self = .unauthenticated
            case 403: self = .forbidden
            case 404: self = .notFound
            case 408: self = .timeout
            case 413, 414, 431: self = .tooLarge
            case 429: self = .rateLimited
            case 503: self = .overloaded
            default: self = .malformed
            }
        }
    }

    /// The longest `detail`, in bytes.
    static let maxDetailBytes = 256

    /// The reason.
    public let reason: Reason
    /// The status of the response, or the one that describes why there was none.
    public let status: Int
    /// The text of the response, or what happened; nil if there is neither.
    public let text: String?
    /// The value that was refused, such as that of `Host`, as it was sent; at most 256 bytes.
    public let detail: String?
    /// The address of the client, such as `192.0.2.7:51234` or `unix:uid=1000,pid=4711`.
    public let peer: String?
    /// The authenticated caller, such as `token:ci`; nil if none was authenticated.
    public let caller: String?
}

extension ConnectionContext {
    /// Reports a response that refuses something.
    @inline(never)
    func report(_ response: EarlyResponse, peer: String?) {
        resources.onRefusal?(
            HTTPRefusal(
                reason: response.reason ?? .init(status: response.status), status: response.status,
                text: response.text, detail: response.detail, peer: peer,
                caller: response.caller))
    }
}

extension Syscalls {
    /// Returns the address of the other end of a connected socket, for logs; nil if it is not known.
    static func peerText(_ fd: Int32) -> String? {
        guard let address = try? peerAddress(fd) else { return nil }
        guard address.family == .unix else { return address.description }
        guard let peer = try? peerCredentials(fd) else { return "unix" }
        return "unix:uid=\(peer.user)" + (peer.pid.map { ",pid=\($0)" } ?? "")
    }
}
