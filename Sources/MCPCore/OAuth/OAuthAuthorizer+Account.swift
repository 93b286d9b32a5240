import Synchronization

/// What programs do with logins: obtain, show, use and end them.
extension OAuthAuthorizer {
    /// The summary of a login. It contains no secret.
    public struct Login: Sendable, Hashable {
        /// The issuer of the authorization server.
        public let issuer: String
        /// The resource that the tokens are for; empty if none was sent.
        public let resource: String
        /// The client id; nil if the client has none of its own.
        public let clientID: String?
        /// The scopes that were granted, in order.
        public let scopes: [String]
        /// The time at which the access token expires, in seconds since 1970; nil if it is not known.
        public let expiresAt: Int64?
        /// Whether the tokens can be renewed without a user.
        public let isRenewable: Bool
        /// Whether there is an access token that has not expired.
        public let isUsable: Bool
    }

    /// Returns the name by which a store remembers a server.
    package static func storeName(of server: String) -> String { WebURL(server)?.storeName ?? server }

    /// Lets the user log in, or obtains new tokens without one, whatever is stored.
    ///
    /// The server is asked first what it demands.
    /// - Returns: nil if the server needs no login.
    /// - Throws: `AuthorizationError`.
    public func login() async throws(AuthorizationError) -> Login? {
        try await load()
        let challenge = try await ask()
        let before = state.withLock { (presented: $0.presented, obtained: $0.obtained) }
        try await perform(.flow(.challenge(challenge, isForced: true)), after: before.presented)
        guard state.withLock({ $0.obtained }) > before.obtained else { return nil }
        return try await status()
    }

    /// Sends the server a request without a token, and returns its challenge; nil if it did not refuse.
    ///
    /// A server that takes no POST at its URL, as those of 2024-11-05, is asked with GET, as a connection
    /// does.
    private func ask() async throws(AuthorizationError) -> OAuthChallenge? {
        let url = try makeFlow().server.description
        var fields = HeaderFields()
        fields.append(sanitizing: "MCP-Protocol-Version", ProtocolVersion.newest.text)
        var request = OAuthHTTPRequest(
            post: url, json: ["jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": [:]],
            fields: fields)
        request.fields.removeAll("Accept")
        request.fields.append(sanitizing: "Accept", "application/json, text/event-stream")
        request.fields.append(sanitizing: "Mcp-Method", "server/discover")
        guard let response = try await answer(to: request) else { return nil }
        if let challenge = Self.challenge(in: response) { return challenge }
        guard [400, 404, 405].contains(response.status) else { return nil }
        var stream = OAuthHTTPRequest(get: url)
        stream.fields.removeAll("Accept")
        stream.fields.append(sanitizing: "Accept", "text/event-stream")
        do throws(AuthorizationError) { return try await answer(to: stream).flatMap(Self.challenge) } catch {
            // The server has answered before: silence is not a refusal either.
            guard error.kind == .unreachable else { throw error }
            return nil
        }
    }

    private static func challenge(in response: OAuthHTTPResponse) -> OAuthChallenge? {
        response.status == 401 ? OAuthChallenge(response.fields.values(of: "WWW-Authenticate")) : nil
    }

    /// Returns the response; nil for one that cannot be read, such as a long one, which is not a refusal.
    private func answer(
        to request: OAuthHTTPRequest
    ) async throws(AuthorizationError) -> OAuthHTTPResponse? {
        do throws(AuthorizationError) { return try await http.send(request) } catch {
            guard error.kind == .malformed else { throw error }
            return nil
        }
    }

    /// Returns what is stored for the server; nil if nothing is.
    ///
    /// - Throws: `AuthorizationError` of the kind `.store`.
    public func status() async throws(AuthorizationError) -> Login? {
        try await load()
        guard
            let (key, entry) = state.withLock({ state in
                state.key.flatMap { key in state.entry.map { (key, $0) } }
            })
        else { return nil }
        let tokens = entry.tokens
        let ownID = settings.clientKeyName.isEmpty ? entry.registration?.clientID : settings.clientKeyName
        let isUsable = tokens.map { !$0.isExpired(at: clock.wallTime, margin: 0) } ?? false
        return Login(
            issuer: key.issuer, resource: key.resource, clientID: ownID, scopes: tokens?.grantedScopes ?? [],
            expiresAt: tokens?.expiresAt, isRenewable: isRenewable(tokens), isUsable: isUsable)
    }

    private func isRenewable(_ tokens: StoredTokens?) -> Bool {
        settings.grant.needsUser ? tokens?.refreshToken != nil : true
    }

    /// Returns an access token, renewed if it expires soon; a secret.
    ///
    /// - Throws: `.loginRequired` if there is none.
    public func accessToken() async throws(AuthorizationError) -> String {
        try await load()
        try await renewIfNeeded()
        let token = state.withLock { state -> String? in
            guard let tokens = state.entry?.tokens, !tokens.isExpired(at: clock.wallTime, margin: 0) else {
                return nil
            }
            return tokens.accessToken
        }
        if let token { return token }
        guard settings.grant.needsUser else {
            _ = try await login()
            if let token = state.withLock({ $0.entry?.tokens?.accessToken }) { return token }
            throw AuthorizationError(.loginRequired, "\(serverText) needs no login")
        }
        throw AuthorizationError(
            .loginRequired, "no usable login for \(serverText)", hint: "log in", remedy: .login(scopes: []))
    }

    /// The time for each request of a logout.
    static let revocationTimeout = Duration.seconds(5)

    /// Revokes the tokens (RFC 7009) and deletes them; the registration too if `forget` is true.
    ///
    /// The tokens are deleted even if the authorization server does not revoke them.
    /// - Returns: the reasons why tokens were not revoked, for people; nil if nothing was stored.
    /// - Throws: `AuthorizationError` of the kind `.store`.
    public func logout(forget: Bool = false) async throws(AuthorizationError) -> [String]? {
        try await load()
        guard let server, let key = state.withLock({ $0.key }) else { return nil }
        guard let problems = try await logout(of: key, forget: forget) else { return nil }
        if forget { try await store.setKey(nil, forServer: server.storeName) }
        state.withLock { state in
            state.entry?.tokens = nil
            if forget { (state.key, state.entry) = (nil, nil) }
        }
        return problems
    }

    /// The same for one stored login, whichever server it is for.
    package func logout(of key: TokenKey, forget: Bool) async throws(AuthorizationError) -> [String]? {
        guard let entry = try await store.read(key) else { return nil }
        note(entry)
        var problems: [String] = []
        if let tokens = entry.tokens { problems = await revoke(tokens, entry, key) }
        try await store.update(key) { entry in
            entry?.tokens = nil
            if forget || entry?.registration == nil { entry = nil }
        }
        return problems
    }

    /// Revokes the refresh token first: that may end the access token, too.
    private func revoke(_ tokens: StoredTokens, _ entry: StoredAuthorization, _ key: TokenKey) async
        -> [String]
    {
        let work: @Sendable () async throws -> [String] = { [self] in
            let flow = try makeFlow()
            let metadata = try await flow.discovery.known(key.issuer, flow.http)
            guard let endpoint = metadata.revocationEndpoint else {
                return ["\(key.issuer) has no revocation_endpoint: the tokens stay good until they expire"]
            }
            guard let identity = settings.identity(at: metadata, entry, now: clock.wallTime) else {
                return []
            }
            let client = TokenEndpoint(
                metadata: metadata, identity: identity, key: settings.clientKey, http: flow.http,
                now: clock.wallTime)
            var problems: [String] = []
            let listed = [("refresh_token", tokens.refreshToken), ("access_token", tokens.accessToken)]
            for (hint, token) in listed {
                guard let token else { continue }
                let form = [(name: "token", value: token), (name: "token_type_hint", value: hint)]
                var response = try await client.send(form, to: endpoint)
                if response.status == 400 || response.status == 401, let other = client.repeatingSecret {
                    response = try await other.send(form, to: endpoint)
                }
                if response.status != 200 {
                    let members = response.object
                    let reason = ["error", "error_description"].compactMap { members?[$0]?.stringValue }
                    problems.append(
                        secrets.mask(
                            (["\(key.issuer) did not revoke the \(hint): HTTP \(response.status)"] + reason)
                                .joined(separator: ": ")))
                }
            }
            return problems
        }
        do {
            return try await Race.run(within: Self.revocationTimeout * 2, work)
        } catch let error as AuthorizationError {
            return ["the tokens were not revoked: \(secrets.mask(error.message))"]
        } catch {
            return ["the tokens were not revoked: \(key.issuer) did not answer in time"]
        }
    }
}
