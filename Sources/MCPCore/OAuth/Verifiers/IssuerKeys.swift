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
    package func fetch() async throws(AuthorizationError) -> String { try await fetchKept().text }

    /// Returns the JWK set with the time for which it may be kept (`max-age`).
    ///
    /// - Parameter observe: receives each response with keys, for its `Date`.
    package func fetchKept(
        observe: (OAuthHTTPResponse) -> Void = { _ in }
    ) async throws(AuthorizationError) -> JWTVerifier.FetchedKeys {
        let address = try await jwksAddress()
        let response = try await http.send(OAuthHTTPRequest(get: address))
        observe(response)
        guard response.status == 200 else {
            throw AuthorizationError(
                .unreachable, "the keys of \(issuer) cannot be fetched: HTTP \(response.status)",
                details: ["asked: \(HTTPFetcher.shortened(address))"])
        }
        guard let text = String(validating: response.body, as: UTF8.self) else {
            throw AuthorizationError(.malformed, "the keys of \(issuer) are not UTF-8 text")
        }
        return JWTVerifier.FetchedKeys(text: text, lifetime: response.maxAge)
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
        guard let address = try await discovery.metadata(asServer: issuer, http).jwksURI else {
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
        try self.init(issuer: issuer, options: options, fetching: { try await keys.fetchKept() })
    }
}

extension OAuthDiscovery {
    /// Returns the metadata for a server that verifies tokens; the hints are for its operator.
    func metadata(
        asServer issuer: String, _ http: any OAuthHTTP
    ) async throws(AuthorizationError) -> AuthorizationServerMetadata {
        do throws(AuthorizationError) { return try await metadata(of: issuer, http) } catch {
            var error = error
            error.hint =
                error.kind == .issuerMismatch
                ? "if you trust it, configure the issuer exactly as its metadata name it" : nil
            throw error
        }
    }
}

extension OAuthHTTPResponse {
    /// The time for which a response may be kept (RFC 9111, section 5.2.2.1); zero with `no-store`; nil if it
    /// does not say.
    var maxAge: Duration? {
        var age: Duration?
        for directive in fields.values(of: "Cache-Control").flatMap({ $0.lowercased().split(separator: ",") })
        {
            let words = directive.split(separator: "=", maxSplits: 1).map { part in
                String(part.filter { $0 != " " && $0 != "\"" && $0 != "\t" })
            }
            switch words.first {
            case "no-store", "no-cache": return .zero
            case "max-age":
                age = words.count == 2 ? Int64(words[1]).map { .seconds(max(0, min($0, 1 << 31))) } : nil
            default: break
            }
        }
        return age
    }

    /// The time at which the response was sent, in seconds since 1970, from `Date` (RFC 9110, section 5.6.7).
    package var sentAt: Int64? {
        WallTime(httpDate: fields["Date"] ?? "")?.secondsSinceEpoch
    }
}
