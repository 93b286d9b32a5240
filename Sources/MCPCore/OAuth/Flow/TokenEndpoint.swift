/// The requests of one client to an authorization server that present or obtain tokens.
struct TokenEndpoint: Sendable {
    /// The longest lifetime that is used for planning; the expiry of longer ones is learned from 401.
    static let maxLifetime: Int64 = 86_400

    let metadata: AuthorizationServerMetadata
    let identity: OAuthClientIdentity
    let key: (any SigningKey)?
    let http: any OAuthHTTP
    let now: WallTime
    /// The key to which tokens are bound; nil for bearer tokens.
    var dpop: DPoPKey?
    /// Whether the form repeats the secret of the Authorization header field.
    var repeatsSecret = false

    /// A response with a token (RFC 6749, section 5.1).
    struct Response: Sendable {
        let accessToken: String
        let refreshToken: String?
        let scheme: String
        /// The lifetime in seconds, if it is planned with.
        let lifetime: Int64?
        let expiresAt: Int64?
        let scopes: [String]?
        let issuedTokenType: String?
    }

    /// The reason why there is no token.
    enum Failure: Error {
        /// The authorization server refused (RFC 6749, section 5.2).
        case refused(code: String, AuthorizationError)
        case failed(AuthorizationError)

        var error: AuthorizationError {
            switch self {
            case .refused(_, let error), .failed(let error): error
            }
        }
    }

    /// Requests a token.
    func request(_ form: [(name: String, value: String)]) async throws(Failure) -> Response {
        let response: OAuthHTTPResponse
        do throws(AuthorizationError) { response = try await sendBound(form) } catch { throw .failed(error) }
        let members = response.object
        // Some servers send errors with 200; whatever is beside one is not used.
        let isRefused = members?["error"].map { !$0.isNull } ?? false
        guard response.status == 200, !isRefused else { throw refusal(response, members, form) }
        guard let members, let answer = read(members) else {
            throw .failed(
                AuthorizationError(
                    .malformed, "\(metadata.issuer) sent a token response that cannot be used",
                    details: ["access_token and token_type (Bearer) are required"]))
        }
        return answer
    }

    /// Sends a form with a proof of the key; once more with another proof if a nonce is demanded (RFC 9449,
    /// section 8).
    private func sendBound(
        _ form: [(name: String, value: String)]
    ) async throws(AuthorizationError) -> OAuthHTTPResponse {
        let endpoint = metadata.tokenEndpoint
        guard let dpop else { return try await send(form, to: endpoint) }
        func attempt() async throws(AuthorizationError) -> OAuthHTTPResponse {
            let proof = try dpop.proofs.proof("POST", endpoint, accessToken: nil, key: dpop.key)
            let response = try await send(form, to: endpoint, proof: proof)
            dpop.proofs.remember(response.fields["DPoP-Nonce"], of: endpoint)
            return response
        }
        let response = try await attempt()
        guard response.status == 400 || response.status == 401,
            response.object?["error"]?.stringValue == "use_dpop_nonce", response.fields["DPoP-Nonce"] != nil
        else { return response }
        return try await attempt()
    }

    /// An endpoint that also sends the client secret in the form, which the Python SDK requires for a
    /// revocation. Nil unless the client authenticates with Basic.
    var repeatingSecret: TokenEndpoint? {
        let method = ClientAuthentication(
            identity, hasKey: key != nil, listed: metadata.tokenAuthenticationMethods)
        guard method == .basic else { return nil }
        var endpoint = self
        endpoint.repeatsSecret = true
        return endpoint
    }

    /// Sends an authenticated form.
    func send(
        _ form: [(name: String, value: String)], to endpoint: String, proof: String? = nil
    ) async throws(AuthorizationError) -> OAuthHTTPResponse {
        var form = form
        var fields = HeaderFields()
        if let proof { fields.append(sanitizing: "DPoP", proof) }
        let method = ClientAuthentication(
            identity, hasKey: key != nil, listed: metadata.tokenAuthenticationMethods)
        try method.apply(identity, key: key, issuer: metadata.issuer, now: now, to: &form, &fields)
        if repeatsSecret { form.append(("client_secret", identity.clientSecret ?? "")) }
        return try await http.send(OAuthHTTPRequest(post: endpoint, form: form, fields: fields))
    }

    private func read(_ members: JSONObject) -> Response? {
        guard let token = members["access_token"]?.stringValue, !token.isEmpty,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let type = members["token_type"]?.stringValue
        else { return nil }
        let scheme: String
        switch type.lowercased() {
        case "bearer": scheme = "Bearer"
        case "dpop": scheme = "DPoP"
        // A token of an exchange that is not an access token (RFC 8693, section 2.2.1).
        case "n_a": scheme = "N_A"
        default: return nil
        }
        let lifetime = members["expires_in"].flatMap(Self.seconds)
        // A token that is never good is not one: 0 stands for an expiry that is not known.
        let isPlanned = lifetime.map { (1 ... Self.maxLifetime).contains($0) } ?? false
        return Response(
            accessToken: token, refreshToken: members["refresh_token"]?.stringValue, scheme: scheme,
            lifetime: isPlanned ? lifetime : nil,
            expiresAt: isPlanned ? lifetime.map { now.secondsSinceEpoch + $0 } : nil,
            scopes: members["scope"]?.stringValue.map { ScopeList.read($0) },
            issuedTokenType: members["issued_token_type"]?.stringValue)
    }

    /// A number of seconds; some servers send it as a text.
    private static func seconds(_ value: JSONValue) -> Int64? {
        let seconds = value.int64Value ?? value.stringValue.flatMap { Int64($0) }
        return seconds.flatMap { $0 >= 0 ? $0 : nil }
    }

    private func refusal(
        _ response: OAuthHTTPResponse, _ members: JSONObject?, _ form: [(name: String, value: String)]
    ) -> Failure {
        if response.status >= 500 || response.status == 429 {
            return .failed(
                AuthorizationError(
                    .unreachable, "\(metadata.issuer) cannot issue tokens now (HTTP \(response.status))"))
        }
        let code = members?["error"]?.stringValue ?? "HTTP \(response.status)"
        var secrets = form.filter { SecretMask.isSecret($0.name) }.map(\.value)
        if let secret = identity.clientSecret { secrets.append(secret) }
        let reason = Self.text(code, members, hiding: secrets)
        return .refused(
            code: code,
            AuthorizationError(
                .tokenRefused, "\(metadata.issuer) refused the token request: \(reason)"))
    }

    /// Returns the code and the description of an error, for people.
    ///
    /// - Parameter secrets: what was sent, and the authorization server may repeat.
    static func text(_ code: String, _ members: JSONObject?, hiding secrets: [String] = []) -> String {
        let secrets = KnownSecrets(secrets)
        func shown(_ text: String) -> String { HTTPFetcher.shortened(secrets.mask(text)) }
        let description = members?["error_description"]?.stringValue.map { ": " + shown($0) }
        return shown(code) + (description ?? "")
    }
}
