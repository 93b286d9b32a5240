/// A request, or a message, that was refused before any middleware was called for it.
public struct RefusedRequest: Sendable {
    /// The reason for a refusal; the raw values are those of logs and metrics.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// `Host` names a host that is not served (DNS rebinding).
        case host
        /// A web page of another origin.
        case origin
        /// No access token, or a wrong one.
        case unauthenticated
        /// The caller may not do this.
        case forbidden
        /// A process of another user, where only the server's own is served.
        case user
        /// Too many wrong access tokens from this address, or more messages than the rate of the caller.
        case rateLimited = "rate_limited"
        /// The server has no room: for a connection, for a body, for a verification.
        case overloaded
        /// The head or the body is larger than the limit.
        case tooLarge = "too_large"
        /// The request did not arrive in time: its connection was closed without a response (408).
        case timeout
        /// Nothing is served at this path, or the session does not exist.
        case notFound = "not_found"
        /// The request is not HTTP, not JSON, or not a message that can be served.
        case malformed
    }

    /// The reason.
    public let reason: Reason
    /// The status of the HTTP response, or the one that describes why there was none; nil for a message that
    /// was refused on its own.
    public let status: Int?
    /// The code of the JSON-RPC error; nil if no message was read.
    public let code: Int?
    /// The text that the client received, or what happened; nil if there is neither.
    public let text: String?
    /// The value that was refused, such as that of `Host`, as it was sent; at most 256 bytes.
    public let detail: String?
    /// The address of the client as its transport gives it; nil if it is not known.
    public let peer: String?
    /// The kind and the subject of the authenticated principal, such as `token:ci`; nil if none was
    /// authenticated.
    public let principal: String?

    init(
        _ reason: Reason, status: Int? = nil, code: Int? = nil, text: String? = nil, detail: String? = nil,
        peer: String? = nil, principal: String? = nil
    ) {
        self.reason = reason
        self.status = status
        self.code = code
        self.text = text
        self.detail = detail
        self.peer = peer
        self.principal = principal
    }
}

extension Dispatcher {
    /// Whether middleware sees the requests.
    var isObserved: Bool { @inline(__always) get { !options.middleware.isEmpty } }

    /// Reports a refusal.
    @inline(never)
    func report(_ refusal: RefusedRequest) {
        options.onRefusal?(refusal)
        for each in options.middleware { each.didRefuse(refusal) }
    }

    /// Reports a message that was answered with an error before any middleware was called for it.
    func report(refused error: MCPError, from channel: ServerChannel) {
        guard isObserved else { return }
        let reason: RefusedRequest.Reason =
            switch error.code {
            case MCPError.overloadedCode: .overloaded
            case MCPError.rateExceededCode: .rateLimited
            default: .malformed
            }
        report(
            RefusedRequest(
                reason, code: error.code, text: error.message, peer: channel.peer?.address,
                principal: channel.caller?.identity.principal.shown))
    }
}
