/// The keys of an authorization server, at a configured address or at the one that its metadata name.
package struct IssuerKeys: Sendable {
    private let issuer: String
    private let address: String?
    private let discovery: OAuthDiscovery?
    private let http: any OAuthHTTP

    /// - Parameters:
    ///   - address: the address of the JWK set; nil takes it from the issuer's metadata.
    ///   - http: nil fetches over HTTP.
    package init(
        issuer: String, at address: String? = nil, allowedHosts: Set<String> = [],
        http: (any OAuthHTTP)? = nil
    ) {
        self.issuer = issuer
        self.address = address
        self.http = http ?? HTTPFetcher(for: address ?? issuer, allowedHosts: allowedHosts)
        var settings = OAuthSettings()
        settings.allowedHosts = allowedHosts
        discovery = WebURL(issuer).map { OAuthDiscovery($0, settings, clock: SystemClock()) }
    }

    /// Returns the JWK set as text.
    ///
    /// The metadata must be those of this issuer, byte for byte (AUTH-08); otherwise any server could name
    /// its own keys.
    ///
    /// - Throws: `AuthorizationError`: `.unreachable`, `.malformed` or `.issuerMismatch`.
    package func fetch() async throws(AuthorizationError) -> String {
        let address = try await jwksAddress()
        let response = try await http.send(OAuthHTTPRequest(get: address))
        guard response.status == 200 else {
            throw AuthorizationError(
                .unreachable, "the keys of \(issuer) cannot be fetched: HTTP \(response.status)",
                details: ["asked: \(HTTPFetcher.shortened(address))"])
        }
        guard let text = String(validating: response.body, as: UTF8.self) else {
            throw AuthorizationError(.malformed, "the keys of \(issuer) are not UTF-8 text")
        }
        return text
    }

    /// Returns the number of keys in a JWK set that can be used.
    package static func usableKeys(in text: String) throws(SignatureError) -> Int {
        try JWKSet(text, OpenSSLSignatures.system).keys.count
    }

    private func jwksAddress() async throws(AuthorizationError) -> String {
        if let address { return address }
        guard let discovery else {
            throw AuthorizationError(.malformed, "the issuer \(HTTPFetcher.shortened(issuer)) is not a URL")
        }
        guard let address = try await discovery.metadata(of: issuer, http).jwksURI else {
            throw AuthorizationError(
                .malformed, "the metadata of \(issuer) name no keys (jwks_uri)",
                hint: "configure the address of its keys, or use introspection")
        }
        return address
    }
}

extension JWTVerifier {
    /// Creates a verifier that fetches the keys of an issuer over HTTP.
    ///
    /// Without an address, it is taken from the issuer's metadata (RFC 8414 or OpenID Connect Discovery),
    /// which must name this issuer byte for byte (AUTH-08). Only https is used, except on this machine, with
    /// the limits of `HTTPFetcher`.
    ///
    /// - Parameters:
    ///   - issuer: the issuer identifier of the authorization server.
    ///   - address: the address of its JWK set; nil discovers it.
    ///   - http: sends the requests; nil uses an `HTTPFetcher`.
    /// - Throws: `SignatureError` of the kind `.unavailable` if no implementation of the algorithms exists.
    public convenience init(
        discovering issuer: String, keysAt address: String? = nil, options: Options = Options(),
        http: (any OAuthHTTP)? = nil
    ) throws(SignatureError) {
        let keys = IssuerKeys(issuer: issuer, at: address, http: http)
        try self.init(issuer: issuer, options: options) { try await keys.fetch() }
    }
}
