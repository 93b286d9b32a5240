/// The responses to requests of callers who may not send them, each with a report for the audit log.
final class AccessRefusals: Sendable {
    private let onAccess: (@Sendable (AccessEvent) -> Void)?
    private let challenge: BearerChallenge
    /// The identity of callers without a token; nil if there may be none.
    private let anonymous: Caller.Identity?

    init(_ authorization: ServerAuthorization) {
        onAccess = authorization.onAccess
        challenge = BearerChallenge(authorization)
        let rules = authorization.rules
        anonymous =
            rules?.anonymous.isEmpty == false
            ? Caller.Identity(
                Principal(kind: .anonymous, subject: "anonymous"), grantedScopes: [], rules: rules,
                onAccess: authorization.onAccess,
                reportsAllowedAccess: authorization.reportsAllowedAccess) : nil
    }

    /// Returns the identity of a caller without a token that no rule is about.
    ///
    /// - Parameter peer: the process, where rules were asked about it. Only the log names its user: behind a
    ///   proxy, it is that of the proxy.
    func nobody(_ peer: PeerUser?) throws(EarlyResponse) -> Caller.Identity {
        if let anonymous { return anonymous }
        report(peer.map { "no token, and no rule for the user id \($0.user)" } ?? "no token")
        throw refusal(401, EarlyResponse.tokenIsRequired, challenge: challenge.missing)
    }

    /// Refuses a caller who lacks a scope that each request requires.
    func withoutScopes(_ principal: Principal) -> EarlyResponse {
        report("lacks a required scope", of: principal)
        var response = refusal(
            403, "The token does not grant the scopes that are required", challenge: challenge.insufficient())
        response.caller = principal.shown
        return response
    }

    /// Refuses a request with two `Authorization` fields.
    func repeatedField() -> EarlyResponse {
        report("two Authorization fields")
        return refusal(400, "Send one Authorization header", challenge: nil)
    }

    /// The fields of a response to a request that lacks scopes.
    func challengeFields(for caller: Caller) -> HeaderFields {
        fields(challenge.insufficient(for: caller.requiredScopes))
    }

    func refusal(for fault: TokenRefusal.Fault) -> EarlyResponse {
        report(fault.rawValue)
        var response = refusal(
            401, "The token is refused: \(fault.rawValue)", challenge: challenge.invalid(fault))
        response.isFailedAttempt = true
        return response
    }

    func refusal(of principal: Principal, _ excess: RateMeter.Excess) -> EarlyResponse {
        if let reason = excess.reason { report(reason, of: principal) }
        var fields = fields(nil)
        fields.append(sanitizing: "Retry-After", "\(excess.retryAfter)")
        var response = EarlyResponse(status: 429, text: excess.text, fields: fields)
        response.caller = principal.shown
        return response
    }

    private func report(_ reason: String, of principal: Principal? = nil) {
        onAccess?(AccessEvent(isAllowed: false, principal: principal, reason: reason))
    }

    private func refusal(_ status: Int, _ text: String, challenge: String?) -> EarlyResponse {
        EarlyResponse(status: status, text: text, fields: fields(challenge))
    }

    private func fields(_ challenge: String?) -> HeaderFields {
        var fields = HeaderFields()
        if let challenge { fields.append(sanitizing: "WWW-Authenticate", challenge) }
        fields.append(sanitizing: "Cache-Control", "no-store")
        return fields
    }

    var unavailable: EarlyResponse {
        var fields = fields(nil)
        fields.append(sanitizing: "Retry-After", "1")
        return EarlyResponse(
            status: 503, text: "The token cannot be verified now; try again later", fields: fields)
    }
}
