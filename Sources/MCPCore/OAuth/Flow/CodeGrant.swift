/// The grant with a user: RFC 6749, section 4.1, with PKCE and resource indicators.
struct CodeGrant: Sendable {
    private enum Attempt {
        case stored(StoredAuthorization)
        /// The authorization server does not know the client.
        case clientUnknown(AuthorizationError)
    }

    let flow: OAuthFlow
    let target: OAuthFlow.Target

    private var metadata: AuthorizationServerMetadata { target.metadata }

    /// Lets the user log in and stores the tokens.
    func run() async throws(AuthorizationError) -> StoredAuthorization {
        try check()
        guard let user = flow.user else { throw flow.loginRequired(target) }
        switch try await attempt(user) {
        case .stored(let entry): return entry
        case .clientUnknown(let error):
            // A registration that the authorization server has forgotten is replaced, once.
            guard isDynamic else { throw error }
            try await flow.store.update(target.key) { entry in entry?.registration = nil }
            switch try await attempt(user) {
            case .stored(let entry): return entry
            case .clientUnknown(let error): throw error
            }
        }
    }

    private func check() throws(AuthorizationError) {
        guard metadata.authorizationEndpoint != nil else {
            throw AuthorizationError(
                .tokenRefused, "\(metadata.issuer) has no authorization_endpoint: users cannot log in there")
        }
        guard metadata.codeChallengeMethods.contains("S256") else {
            throw AuthorizationError(
                .tokenRefused, "\(metadata.issuer) does not support PKCE; the login was not started",
                details: ["its metadata do not list S256 in code_challenge_methods_supported"])
        }
        guard case .automatic(metadataURL: let text?) = flow.settings.identity,
            metadata.supportsMetadataURLs
        else { return }
        // AUTH-12.
        guard let url = WebURL(text), url.isSecure, url.path.count > 1, url.fragment == nil else {
            throw AuthorizationError(
                .usage,
                "\(HTTPFetcher.shortened(text)) cannot be a client id: it is not an https URL with a path")
        }
    }

    /// Whether the client registers itself at this authorization server.
    private var isDynamic: Bool {
        guard case .automatic(metadataURL: let url) = flow.settings.identity else { return false }
        return url == nil || !metadata.supportsMetadataURLs
    }

    // MARK: One attempt

    private func attempt(_ user: AuthorizationUser) async throws(AuthorizationError) -> Attempt {
        let stored = try await flow.store.read(target.key)
        // After a login that did not come back, the registration may no longer exist. One for fewer scopes is
        // refused with invalid_scope by some authorization servers.
        let isLost =
            isDynamic && (stored?.isDoubtful == true || stored?.registration?.covers(target.scopes) == false)
        let known =
            isLost ? nil : flow.settings.identity(at: metadata, stored, now: flow.clock.wallTime)
        let (visit, isKept) = try await open(user, known)
        let result: Result<Attempt, AuthorizationError>
        do throws(AuthorizationError) {
            result = .success(try await attempt(visit, isKept ? known : nil))
        } catch {
            result = .failure(error)
        }
        await visit.close()
        return try result.get()
    }

    /// Opens the place of the redirect; returns false if the registration is not good for it.
    private func open(
        _ user: AuthorizationUser, _ known: OAuthClientIdentity?
    ) async throws(AuthorizationError) -> (any AuthorizationUser.Visit, isKept: Bool) {
        let registered = known?.redirectURI
        do throws(AuthorizationError) {
            let visit = try await user.open(registered)
            return (visit, !isDynamic || registered == visit.redirectURI)
        } catch {
            // The port of the registration is busy.
            guard isDynamic, registered != nil, error.kind == .usage else { throw error }
            return (try await user.open(nil), false)
        }
    }

    private func attempt(
        _ visit: any AuthorizationUser.Visit, _ known: OAuthClientIdentity?
    ) async throws(AuthorizationError) -> Attempt {
        var refusal: String?
        let identity: OAuthClientIdentity
        if let known {
            identity = known
        } else {
            let registered = try await flow.register(for: target, redirectURI: visit.redirectURI)
            identity = registered.identity
            refusal = registered.refusal
        }
        let request = try AuthorizationRequest(
            metadata, client: identity.clientID, redirectURI: visit.redirectURI, scopes: target.scopes,
            resource: target.resource)
        let page = AuthorizationUser.Page(
            url: request.url, issuer: metadata.issuer, timeout: flow.settings.loginTimeout)
        let redirect: String
        do throws(AuthorizationError) {
            redirect = try await visit.redirect(from: page) { request.accepts($0) }
        } catch {
            if isDynamic { try await flow.markDoubtful(target) }
            let explained = explain(error, visit.redirectURI, identity, isStored: known != nil)
            throw flow.explain(explained, about: target, refusal)
        }
        let code: String
        do throws(AuthorizationError) { code = try request.code(in: redirect) } catch {
            // Perhaps the client is registered for others.
            if isDynamic, refusal == nil, error.refusesScopes { try await flow.markDoubtful(target) }
            throw flow.explain(error, about: target, refusal)
        }
        return try await exchange(code, request, identity)
    }

    /// Adds to a login without a redirect that the redirect URI may not be one of the client's: most
    /// authorization servers compare it byte for byte, and show their user an error. The same happens with a
    /// registration of an earlier login that the authorization server has forgotten.
    private func explain(
        _ error: AuthorizationError, _ redirectURI: String, _ identity: OAuthClientIdentity, isStored: Bool
    ) -> AuthorizationError {
        guard error.kind == .timedOut else { return error }
        var error = error
        if isDynamic, isStored {
            error.details.append("client: \(identity.clientID), registered earlier")
            error.hint =
                "if the page showed an error about the client, log in again: that registers a new client"
        }
        guard !isDynamic, identity.redirectURI == nil else { return error }
        error.details.append("redirect URI: \(redirectURI)")
        error.hint =
            "if the page showed an error about it, register it for the client, or use the port and the host "
            + "that are registered"
        error.remedy = .redirectURI(redirectURI)
        return error
    }

    private func exchange(
        _ code: String, _ request: AuthorizationRequest, _ identity: OAuthClientIdentity
    ) async throws(AuthorizationError) -> Attempt {
        var form = [
            (name: "grant_type", value: "authorization_code"), (name: "code", value: code),
            (name: "redirect_uri", value: request.redirectURI),
            (name: "code_verifier", value: request.verifier),
        ]
        if let resource = target.resource { form.append((name: "resource", value: resource)) }
        let endpoint = TokenEndpoint(
            metadata: metadata, identity: identity, key: flow.settings.clientKey, http: flow.http,
            now: flow.clock.wallTime, dpop: target.dpop)
        let response: TokenEndpoint.Response
        do throws(TokenEndpoint.Failure) { response = try await endpoint.request(form) } catch {
            if case .refused(code: "invalid_client", let reason) = error { return .clientUnknown(reason) }
            throw error.error
        }
        return .stored(try await flow.keep(response, for: target, of: identity))
    }
}

extension OAuthFlow {
    /// The hint for a server that has no authorization server.
    static let issuedTokenHint = "if its operator gave you a token, send that"

    /// The error of a flow that needs a user and has none.
    func loginRequired(_ target: Target) -> AuthorizationError {
        let scopes = target.scopes.flatMap { $0.isEmpty ? nil : " · scopes: " + $0.joined(separator: " ") }
        let name = server.description
        if target.metadata.isAssumed {
            return AuthorizationError(
                .loginRequired, "\(name) requires an access token (HTTP 401)",
                details: ["it names no authorization server"], hint: Self.issuedTokenHint,
                remedy: .issuedToken)
        }
        return AuthorizationError(
            .loginRequired, "\(name) requires an access token (HTTP 401)",
            details: ["authorization server: \(target.metadata.issuer)\(scopes ?? "")"],
            hint: "log in", remedy: .login(scopes: []))
    }

    /// Registers a client, and stores it unless the authorization server refused the scopes that are asked
    /// for: it may refuse each login of that client, which is stored with its tokens if it does not.
    func register(
        for target: Target, redirectURI: String?
    ) async throws(AuthorizationError) -> DynamicRegistration.Outcome {
        let registration = DynamicRegistration(target: target, settings: settings, http: http)
        let outcome = try await registration.register(redirectURI: redirectURI)
        if outcome.refusal == nil { try await remember(outcome.identity, for: target) }
        return outcome
    }

    /// Makes the next login register another client.
    func markDoubtful(_ target: Target) async throws(AuthorizationError) {
        try await store.update(target.key) { entry in entry?.isDoubtful = true }
    }

    /// Adds to a login that failed because of its scopes what the authorization server says about them.
    ///
    /// - Parameter refusal: the reason why it did not register the client for them; nil if it did.
    func explain(
        _ error: AuthorizationError, about target: Target, _ refusal: String?
    ) -> AuthorizationError {
        guard refusal != nil || error.refusesScopes, let asked = target.scopes, !asked.isEmpty else {
            return error
        }
        var error = error
        error.details.append("asked for: \(HTTPFetcher.shortened(asked.joined(separator: " ")))")
        if let refusal {
            error.details.append("no client was registered for these scopes: \(refusal)")
        }
        if let scopes = target.metadata.scopes, !scopes.isEmpty {
            let list = HTTPFetcher.shortened(scopes.joined(separator: " "))
            error.details.append("scopes of \(target.metadata.issuer): \(list)")
        }
        if settings.scopes != nil {
            error.hint = "log in without naming scopes, which asks for those that the server names"
            error.remedy = .login(scopes: [])
        }
        return error
    }

    /// Stores a new registration, unless there are tokens that another client has to renew: they stay until
    /// there are new ones.
    private func remember(
        _ identity: OAuthClientIdentity, for target: Target
    ) async throws(AuthorizationError) {
        try await store.update(target.key) { entry in
            if entry?.tokens?.refreshToken != nil { return }
            var changed = entry ?? StoredAuthorization()
            changed.registration = identity
            changed.isDoubtful = false
            entry = changed
        }
    }

    /// Stores the tokens of a new grant.
    ///
    /// - Parameter client: the client that they were issued to, which is stored with them unless it is
    ///   configured: also that of a metadata document, without whose URL nobody could renew them later.
    func keep(
        _ response: TokenEndpoint.Response, for target: Target, of client: OAuthClientIdentity? = nil
    ) async throws(AuthorizationError) -> StoredAuthorization {
        try await store.update(target.key) { (entry) async throws(AuthorizationError) in
            var changed = entry ?? StoredAuthorization()
            if let client, settings.isAutomatic {
                (changed.registration, changed.isDoubtful) = (client, false)
            }
            if let notes = settings.notes { changed.notes = notes }
            try changed.adopt(
                response, requested: target.scopes ?? [], previous: nil, target.key, target.dpop)
            entry = changed
            return changed
        }
    }
}

extension AuthorizationError {
    /// Whether the authorization server refused scopes.
    var refusesScopes: Bool { refusal == "invalid_scope" }
}
