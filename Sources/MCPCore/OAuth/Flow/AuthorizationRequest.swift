/// One authorization request, with what its response is checked against (AUTH-23).
struct AuthorizationRequest: Sendable {
    let issuer: String
    /// Whether the authorization server announces that its responses contain the issuer.
    let expectsIssuer: Bool
    let state: String
    let verifier: String
    let redirectURI: String
    /// The address of the page.
    let url: String

    /// The greatest size of the address of a page: servers and the programs that open pages refuse longer
    /// ones.
    static let maxURLBytes = 16 << 10

    /// Creates a request with a new state and a new verifier (AUTH-19, AUTH-22).
    ///
    /// - Throws: `.malformed` if the endpoint of the authorization server is not an address that a browser
    ///   may open (AUTH-27), if its query has a parameter of the request (RFC 6749, section 3.1: none may
    ///   occur twice), or if the address is longer than `maxURLBytes`.
    init(
        _ metadata: AuthorizationServerMetadata, client: String, redirectURI: String, scopes: [String]?,
        resource: String?
    ) throws(AuthorizationError) {
        issuer = metadata.issuer
        expectsIssuer = metadata.sendsIssuer
        state = Base64URL.encode(SystemRandom().bytes(32))
        verifier = Base64URL.encode(SystemRandom().bytes(32))
        self.redirectURI = redirectURI
        let endpoint = metadata.authorizationEndpoint ?? ""
        guard Self.isPage(endpoint) else {
            throw AuthorizationError(
                .malformed,
                "the authorization endpoint of \(metadata.issuer) is not an https URL; nothing was opened",
                details: ["it is: \(HTTPFetcher.shortened(endpoint))"])
        }
        var form: [(name: String, value: String)] = [
            ("response_type", "code"), ("client_id", client), ("redirect_uri", redirectURI),
            ("code_challenge", Self.challenge(verifier)), ("code_challenge_method", "S256"), ("state", state),
        ]
        if let scopes, !scopes.isEmpty { form.append(("scope", scopes.joined(separator: " "))) }
        if let resource { form.append(("resource", resource)) }
        try Self.check(endpoint, hasNoneOf: form.map(\.name), metadata.issuer)
        url = endpoint + (endpoint.contains("?") ? "&" : "?") + FormCoding.encode(form)
        guard url.utf8.count <= Self.maxURLBytes else {
            throw AuthorizationError(
                .malformed,
                "the address of the login page would have \(url.utf8.count) bytes; nothing was opened",
                details: [
                    "the limit is \(Self.maxURLBytes)",
                    "the client id has \(client.utf8.count) bytes, the scopes have "
                        + "\((scopes ?? []).joined(separator: " ").utf8.count)",
                ])
        }
    }

    private static func check(
        _ endpoint: String, hasNoneOf names: [String], _ issuer: String
    ) throws(AuthorizationError) {
        guard let query = SchemaURI(endpoint).query else { return }
        let names = Set(names + ["scope", "resource"])
        let own = FormCoding.decode(query)?.map(\.name)
        let repeated = own?.first { names.contains($0) }
        if own != nil, repeated == nil { return }
        throw AuthorizationError(
            .malformed, "the authorization endpoint of \(issuer) has a query that cannot be used",
            details: [
                repeated.map { "it contains \($0), which belongs to the request" } ?? "it is malformed",
                "nothing was opened",
            ])
    }

    /// Whether a browser may open the address: https, or http on this machine, printable ASCII, no user
    /// information, no fragment, and nothing that a shell or a program could take for more than an argument.
    static func isPage(_ text: String) -> Bool {
        guard let url = WebURL(text), url.isConfidential, url.fragment == nil else { return false }
        return text.utf8.allSatisfy { !"\"'`<>$;|(){}^".utf8.contains($0) }
    }

    /// The S256 challenge of a verifier (RFC 7636, section 4.2).
    static func challenge(_ verifier: String) -> String {
        Base64URL.encode(SHA256.hash(Array(verifier.utf8)).bytes)
    }

    // MARK: The response

    /// Whether a redirect belongs to this request: it is to the redirect URI and has its state (AUTH-22).
    func accepts(_ redirect: String) -> Bool {
        guard redirect.utf8.starts(with: (redirectURI + "?").utf8), let members = Self.members(redirect)
        else {
            return false
        }
        let states = members.filter { $0.name == "state" }
        return states.count == 1 && constantTimeEquals(Array(states[0].value.utf8), Array(state.utf8))
    }

    /// Returns the code of a redirect, after checking the state, the issuer and the error, in this order.
    func code(in redirect: String) throws(AuthorizationError) -> String {
        guard accepts(redirect), let members = Self.members(redirect) else {
            throw AuthorizationError(.tokenRefused, "the redirect does not belong to this login")
        }
        func value(_ name: String) throws(AuthorizationError) -> String? {
            let found = members.filter { $0.name == name }
            guard found.count <= 1 else {
                throw AuthorizationError(.malformed, "the redirect contains \(name) more than once")
            }
            return found.first?.value
        }
        try check(issuer: try value("iss"))
        if let error = try value("error") {
            let description = try value("error_description").map { ": " + HTTPFetcher.shortened($0) } ?? ""
            var refused = AuthorizationError(
                .tokenRefused, "\(issuer) refused the login: \(HTTPFetcher.shortened(error))\(description)")
            refused.refusal = error
            throw refused
        }
        guard let code = try value("code"), !code.isEmpty else {
            throw AuthorizationError(.malformed, "the redirect from \(issuer) contains no code")
        }
        return code
    }

    /// AUTH-24, AUTH-25, AUTH-26: nothing of a response by another issuer is shown or used.
    private func check(issuer named: String?) throws(AuthorizationError) {
        guard let named else {
            if !expectsIssuer { return }
            throw AuthorizationError(
                .issuerMismatch, "the redirect does not name its issuer, although \(issuer) always does",
                details: ["nothing of it was used"])
        }
        guard named.utf8.elementsEqual(issuer.utf8) else {
            throw AuthorizationError(
                .issuerMismatch, "the redirect comes from another issuer than the login",
                details: [
                    "expected: \(issuer)", "the redirect: \(HTTPFetcher.shortened(named))",
                    "nothing of it was used",
                ])
        }
    }

    private static func members(_ redirect: String) -> [(name: String, value: String)]? {
        SchemaURI(redirect).query.flatMap { FormCoding.decode($0) }
    }
}
