/// The grants without a user.
struct SilentGrant: Sendable {
    let flow: OAuthFlow

    /// Obtains and stores tokens.
    func run(_ target: OAuthFlow.Target) async throws(AuthorizationError) -> StoredAuthorization {
        guard case .registered(let identity, issuer: _) = flow.settings.identity else {
            throw AuthorizationError(
                .usage, "a grant without a user needs a registered client",
                hint: "set its id, and its secret or key", remedy: .registeredClient)
        }
        var form = try await grant(identity, target)
        if let scopes = target.scopes, !scopes.isEmpty {
            form.append(("scope", scopes.joined(separator: " ")))
        }
        if let resource = target.resource { form.append(("resource", resource)) }
        let endpoint = TokenEndpoint(
            metadata: target.metadata, identity: identity, key: flow.settings.clientKey, http: flow.http,
            now: flow.clock.wallTime, dpop: target.dpop)
        let response: TokenEndpoint.Response
        do throws(TokenEndpoint.Failure) { response = try await endpoint.request(form) } catch {
            if case .refused = error, case .jwtBearer = flow.settings.grant {
                // AUTH-59: it is not sent again.
                flow.discovery.noteRefused(form.first { $0.name == "assertion" }?.value ?? "")
            }
            throw error.error
        }
        return try await flow.keep(response, for: target)
    }

    /// Returns the members of the token request that differ between the grants.
    private func grant(
        _ identity: OAuthClientIdentity, _ target: OAuthFlow.Target
    ) async throws(AuthorizationError) -> [(name: String, value: String)] {
        switch flow.settings.grant {
        case .authorizationCode, .device: throw AuthorizationError(.usage, "this grant needs a user")
        case .clientCredentials:
            guard identity.clientSecret != nil || flow.settings.clientKey != nil else {
                throw AuthorizationError(
                    .usage, "the grant client_credentials needs a secret or a key",
                    hint: "set one of them", remedy: .clientSecret)
            }
            return [("grant_type", "client_credentials")]
        case .jwtBearer(assertion: let assertion):
            let text = try await Self.text(of: assertion)
            guard !flow.discovery.wasRefused(text) else {
                throw AuthorizationError(
                    .tokenRefused,
                    "\(target.metadata.issuer) has refused the assertion, which has not changed",
                    details: ["nothing was sent"])
            }
            return [("grant_type", Self.jwtBearer), ("assertion", text)]
        case .enterprise(let provider):
            return [("grant_type", Self.jwtBearer), ("assertion", try await exchange(provider, target))]
        }
    }

    private static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    private static let types = "urn:ietf:params:oauth:token-type:"

    private static func text(
        of source: @Sendable () async throws -> String
    ) async throws(AuthorizationError) -> String {
        do { return try await source() } catch {
            throw AuthorizationError(.usage, "the assertion for the login cannot be read: \(error)")
        }
    }

    /// Exchanges the token of a person for an assertion for one authorization server (RFC 8693; AUTH-56).
    private func exchange(
        _ provider: OAuthSettings.IdentityProvider, _ target: OAuthFlow.Target
    ) async throws(AuthorizationError) -> String {
        guard let url = WebURL(provider.tokenEndpoint),
            url.isConfidential || flow.settings.allows(url.host)
        else {
            throw AuthorizationError(
                .usage, "the token endpoint of the identity provider is not an https URL; nothing was sent")
        }
        var metadata = AuthorizationServerMetadata(defaultsOf: url.origin)
        metadata.tokenEndpoint = provider.tokenEndpoint
        let endpoint = TokenEndpoint(
            metadata: metadata, identity: provider.client, key: nil, http: flow.http, now: flow.clock.wallTime
        )
        var form = [
            (name: "grant_type", value: "urn:ietf:params:oauth:grant-type:token-exchange"),
            (name: "requested_token_type", value: Self.types + "id-jag"),
            (name: "audience", value: target.metadata.issuer),
            (name: "subject_token", value: try await Self.text(of: provider.subjectToken)),
            (name: "subject_token_type", value: Self.types + (provider.isSAML ? "saml2" : "id_token")),
        ]
        if let resource = target.resource { form.append((name: "resource", value: resource)) }
        if let scopes = target.scopes, !scopes.isEmpty {
            form.append((name: "scope", value: scopes.joined(separator: " ")))
        }
        let response: TokenEndpoint.Response
        do throws(TokenEndpoint.Failure) { response = try await endpoint.request(form) } catch {
            throw error.error
        }
        guard response.issuedTokenType == Self.types + "id-jag" else {
            throw AuthorizationError(
                .malformed, "the identity provider \(url.origin) did not issue an assertion (id-jag)")
        }
        return response.accessToken
    }

    /// Renews the tokens of a key before they expire.
    func renew(_ key: TokenKey) async throws(AuthorizationError) -> StoredAuthorization {
        let metadata = try await flow.discovery.known(key.issuer, flow.http)
        let tokens = try await flow.store.read(key)?.tokens
        var dpop: DPoPKey?
        if let bytes = tokens?.dpopKey { dpop = try .read(bytes, flow.settings.signatures, flow.proofs) }
        return try await run(
            OAuthFlow.Target(
                metadata: metadata, resource: key.resource.isEmpty ? nil : key.resource, key: key,
                scopes: tokens?.requestedScopes, registeredScopes: nil, dpop: dpop))
    }
}

extension OAuthSettings.Grant {
    /// Whether somebody has to log in.
    var needsUser: Bool {
        switch self {
        case .authorizationCode, .device: true
        case .clientCredentials, .jwtBearer, .enterprise: false
        }
    }

    /// Whether an assertion decides on the scopes, so that no others can be asked for.
    var hasFixedScopes: Bool {
        switch self {
        case .authorizationCode, .device, .clientCredentials: false
        case .jwtBearer, .enterprise: true
        }
    }
}
