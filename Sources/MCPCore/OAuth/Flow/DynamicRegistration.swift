/// The dynamic registration of a client (RFC 7591).
struct DynamicRegistration: Sendable {
    let target: OAuthFlow.Target
    let settings: OAuthSettings
    let http: any OAuthHTTP

    private var metadata: AuthorizationServerMetadata { target.metadata }

    private static let methods = ["none", "client_secret_basic", "client_secret_post"]

    /// A client that was registered.
    struct Outcome {
        let identity: OAuthClientIdentity
        /// Why it was not registered for the scopes that are asked for; nil if it was.
        let refusal: String?
    }

    /// Registers the client.
    ///
    /// A refusal of the metadata is answered with fewer scopes, and at last without any and with another
    /// authentication (AUTH-13).
    /// - Throws: `.registrationFailed` with the reason of the authorization server.
    func register(redirectURI: String?) async throws(AuthorizationError) -> Outcome {
        guard let endpoint = metadata.registrationEndpoint else {
            throw AuthorizationError(
                .registrationFailed, "\(metadata.issuer) does not register clients",
                details: ["the client has no id there"],
                hint: "register it by hand, and set its id and, if there is one, its secret",
                remedy: .registeredClient)
        }
        let listed = metadata.tokenAuthenticationMethods
        let usable = Self.methods.filter { listed?.contains($0) ?? true }
        let method = usable.first ?? "none"
        // All scopes of the resource, so that the client may request more of them later.
        var scopes = target.registeredScopes
        var response = try await send(endpoint, redirectURI, scopes, method)
        if Self.refusesMetadata(response), scopes != target.scopes {
            scopes = target.scopes
            response = try await send(endpoint, redirectURI, scopes, method)
        }
        var refusal: String?
        if Self.refusesMetadata(response) {
            if scopes?.isEmpty == false { refusal = Self.reason(response) }
            scopes = nil
            response = try await send(endpoint, redirectURI, scopes, usable.dropFirst().first ?? method)
        }
        guard [200, 201].contains(response.status), let members = response.object,
            let id = members["client_id"]?.stringValue, !id.isEmpty
        else { throw refused(response) }
        let expiry = members["client_secret_expires_at"]?.int64Value ?? 0
        let identity = OAuthClientIdentity(
            clientID: id, clientSecret: members["client_secret"]?.stringValue,
            secretExpiresAt: expiry > 0 ? expiry : nil,
            authenticationMethod: members["token_endpoint_auth_method"]?.stringValue,
            redirectURI: redirectURI, scopes: scopes)
        return Outcome(identity: identity, refusal: refusal)
    }

    /// Returns the words of the authorization server about a refusal.
    private static func reason(_ response: OAuthHTTPResponse) -> String {
        let members = response.object
        return TokenEndpoint.text(
            members?["error"]?.stringValue ?? "HTTP \(response.status)", members)
    }

    private static func refusesMetadata(_ response: OAuthHTTPResponse) -> Bool {
        guard response.status == 400 else { return false }
        let code = response.object?["error"]?.stringValue
        return code == "invalid_client_metadata" || code == nil
    }

    private func send(
        _ endpoint: String, _ redirectURI: String?, _ scopes: [String]?, _ method: String
    ) async throws(AuthorizationError) -> OAuthHTTPResponse {
        var body: JSONObject = [
            "client_name": .string(settings.clientName),
            "token_endpoint_auth_method": .string(method), "application_type": "native",
            "software_id": "swift-mcp-core", "software_version": "1",
        ]
        if let redirectURI {
            body["redirect_uris"] = [.string(redirectURI)]
            body["grant_types"] = ["authorization_code", "refresh_token"]
            body["response_types"] = ["code"]
        } else {
            body["grant_types"] = [.string(DeviceGrant.type), "refresh_token"]
            body["response_types"] = []
        }
        if let scopes, !scopes.isEmpty { body.append("scope", .string(scopes.joined(separator: " "))) }
        return try await http.send(OAuthHTTPRequest(post: endpoint, json: .object(body)))
    }

    private func refused(_ response: OAuthHTTPResponse) -> AuthorizationError {
        if metadata.isAssumed {
            return AuthorizationError(
                .registrationFailed,
                "\(metadata.issuer) names no authorization server, and registers no clients itself: "
                    + "HTTP \(response.status)", hint: OAuthFlow.issuedTokenHint, remedy: .issuedToken)
        }
        return AuthorizationError(
            .registrationFailed,
            "\(metadata.issuer) did not register the client: \(Self.reason(response))",
            hint: "register it by hand, and set its id", remedy: .registeredClient)
    }
}
