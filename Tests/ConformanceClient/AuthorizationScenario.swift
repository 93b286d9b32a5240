import MCPCore

extension Scenario {
    /// The id that the suite expects where an authorization server accepts metadata documents.
    private static let metadataURL = "https://conformance-test.local/client-metadata.json"

    /// Logs in as the scenario asks for, lists the tools and calls the one that needs a login.
    func authorize() async throws {
        let settings = try authorizationSettings()
        let authorizer = OAuthAuthorizer(
            for: url, settings: settings, store: MemoryTokenStore(), user: .following(from: url))
        try await withClient(authorizer: authorizer) { client in
            _ = try await client.listTools()
            _ = try await client.callTool("test-tool")
        }
    }

    private func authorizationSettings() throws -> OAuthSettings {
        var settings = OAuthSettings(clientName: "conformance-client")
        settings.identity = .automatic(metadataURL: Self.metadataURL)
        if let id = context["client_id"]?.stringValue {
            let secret = context["client_secret"]?.stringValue
            settings.identity = .registered(OAuthClientIdentity(clientID: id, clientSecret: secret))
        }
        if name.hasPrefix("auth/client-credentials") { settings.grant = .clientCredentials }
        if let pem = context["private_key_pem"]?.stringValue {
            settings.clientKey = try OpenSSLSignatures.system.signingKey(pem: pem)
        }
        if let endpoint = context["idp_token_endpoint"]?.stringValue,
            let token = context["idp_id_token"]?.stringValue
        {
            let id = context["idp_client_id"]?.stringValue ?? context["client_id"]?.stringValue ?? ""
            settings.grant = .enterprise(
                OAuthSettings.IdentityProvider(
                    tokenEndpoint: endpoint, client: OAuthClientIdentity(clientID: id),
                    subjectToken: { token }))
        }
        if let assertion = context["valid_jwt"]?.stringValue {
            settings.grant = .jwtBearer(assertion: { assertion })
        }
        return settings
    }
}

extension AuthorizationUser {
    /// A browser whose pages redirect at once. The redirect is not opened: its address is all that counts.
    static func following(from server: String) -> AuthorizationUser {
        AuthorizationUser { _ in FollowedVisit(server: server) }
    }
}

private struct FollowedVisit: AuthorizationUser.Visit {
    let server: String
    /// Nothing listens there; no scenario opens it.
    let redirectURI = "http://127.0.0.1:3333/callback"

    func redirect(
        from page: AuthorizationUser.Page, accepts: @escaping @Sendable (String) -> Bool
    ) async throws(AuthorizationError) -> String {
        let response = try await HTTPFetcher(for: server).send(OAuthHTTPRequest(get: page.url))
        guard let place = response.fields["Location"], accepts(place) else {
            throw AuthorizationError(.timedOut, "the page did not redirect (HTTP \(response.status))")
        }
        return place
    }

    func close() {}
}
