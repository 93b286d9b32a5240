/// The renewal of stored tokens with a refresh token (RFC 6749, section 6).
struct TokenRenewal: Sendable {
    let settings: OAuthSettings
    let store: any TokenStore
    let discovery: OAuthDiscovery
    let http: any OAuthHTTP
    let clock: any TimeSource
    let proofs: DPoPProofs

    /// Renews the tokens of a key, with exclusive access to them, also across processes.
    ///
    /// If another process has renewed them in the meantime, its tokens are used without a request. The new
    /// refresh token is stored before the new access token is used. After `invalid_grant` the tokens are
    /// deleted; a failure of the network or the authorization server deletes nothing.
    /// - Parameters:
    ///   - refused: the access token that is known not to be good any more.
    ///   - metadata: those of the authorization server if they are at hand.
    /// - Returns: the entry with new tokens; nil if there is nothing to renew or it was refused.
    func run(
        _ key: TokenKey, refused: String?, metadata: AuthorizationServerMetadata? = nil
    ) async throws(AuthorizationError) -> StoredAuthorization? {
        guard try await store.read(key)?.tokens != nil else { return nil }
        return try await store.update(key) { (entry) async throws(AuthorizationError) in
            guard let tokens = entry?.tokens else { return nil }
            if tokens.accessToken != refused, !tokens.isExpired(at: clock.wallTime) { return entry }
            return try await refresh(&entry, tokens, key, metadata)
        }
    }

    private func refresh(
        _ entry: inout StoredAuthorization?, _ tokens: StoredTokens, _ key: TokenKey,
        _ known: AuthorizationServerMetadata?
    ) async throws(AuthorizationError) -> StoredAuthorization? {
        guard let refreshToken = tokens.refreshToken else { return nil }
        var metadata = known
        if metadata == nil { metadata = try await discovery.known(key.issuer, http) }
        guard let metadata, let identity = settings.identity(at: metadata, entry, now: clock.wallTime)
        else { return nil }
        var endpoint = TokenEndpoint(
            metadata: metadata, identity: identity, key: settings.clientKey, http: http, now: clock.wallTime)
        if let bytes = tokens.dpopKey { endpoint.dpop = try .read(bytes, settings.signatures, proofs) }
        var form = [
            (name: "grant_type", value: "refresh_token"), (name: "refresh_token", value: refreshToken),
        ]
        if !key.resource.isEmpty { form.append((name: "resource", value: key.resource)) }
        let response: TokenEndpoint.Response
        do throws(TokenEndpoint.Failure) { response = try await endpoint.request(form) } catch {
            guard case .refused(let code, _) = error else { throw error.error }
            if code == "invalid_grant" || code == "invalid_client" { entry?.tokens = nil }
            if code == "invalid_client" { entry?.registration = nil }
            return nil
        }
        try entry?.adopt(response, requested: tokens.requestedScopes, previous: tokens, key, endpoint.dpop)
        return entry
    }
}

extension StoredTokens {
    /// The longest time before the expiry at which tokens are renewed, in seconds.
    static let renewalMargin: Int64 = 30

    /// The time before the expiry at which these tokens are renewed: a tenth of their lifetime, so that
    /// short-lived ones are not renewed for each request.
    var margin: Int64 { min(Self.renewalMargin, (lifetime ?? .max) / 10) }

    /// Whether the tokens expire soon, or have expired if `margin` is 0.
    func isExpired(at now: WallTime, margin: Int64? = nil) -> Bool {
        guard let expiresAt else { return false }
        let margin = margin ?? self.margin
        return now.secondsSinceEpoch >= expiresAt.subtractingReportingOverflow(margin).partialValue
    }
}

extension StoredAuthorization {
    /// Adopts a token response.
    ///
    /// - Parameter previous: the tokens whose refresh token and scopes stay good if the response has none
    ///   (AUTH-52); nil for a new grant.
    mutating func adopt(
        _ response: TokenEndpoint.Response, requested: [String], previous: StoredTokens?, _ key: TokenKey,
        _ dpop: DPoPKey? = nil
    ) throws(AuthorizationError) {
        let isBound = response.scheme == "DPoP"
        guard response.scheme == "Bearer" || isBound && dpop != nil else {
            throw AuthorizationError(
                .malformed, "\(key.issuer) issued a token of the type \(response.scheme), not Bearer")
        }
        guard isBound || dpop?.isRequired != true else {
            throw AuthorizationError(
                .tokenRefused, "\(key.issuer) issued a token that is not bound to the client's key",
                details: ["the token was not used"])
        }
        tokens = StoredTokens(
            accessToken: response.accessToken, refreshToken: response.refreshToken ?? previous?.refreshToken,
            scheme: response.scheme, expiresAt: response.expiresAt, lifetime: response.lifetime,
            requestedScopes: requested,
            grantedScopes: response.scopes ?? previous?.grantedScopes ?? requested,
            dpopKey: isBound ? try dpop?.exported() : nil)
        generation += 1
        isDoubtful = false
    }
}

extension OAuthDiscovery {
    /// Returns the metadata of an issuer for which something is stored, which may be a server of 2025-03-26.
    func known(
        _ issuer: String, _ http: any OAuthHTTP
    ) async throws(AuthorizationError) -> AuthorizationServerMetadata {
        do throws(AuthorizationError) { return try await metadata(of: issuer, http) } catch {
            guard error.kind == .unreachable, issuer == server.origin, settings.issuer == nil else {
                throw error
            }
            return try await fallback(http)
        }
    }
}
