/// Verifies access tokens that are JWTs of one authorization server (RFC 9068, RFC 8725).
///
/// A token is accepted if it was signed by one of the issuer's keys with an asymmetric algorithm, names this
/// issuer and this server, and is valid now. Nothing that a token contains can choose a key, an address or an
/// algorithm that the options do not allow (AUTH-49).
///
/// The signatures are checked by the system's OpenSSL, unless the options name another provider.
public final class JWTVerifier: TokenVerifier {
    /// The rules of a verifier.
    public struct Options: Sendable {
        /// Audiences that are accepted beside the canonical URI of the server, for authorization servers that
        /// cannot issue tokens for a resource (RFC 8707).
        public var audiences: [String]
        /// The algorithms that are accepted: all by default.
        public var algorithms: Set<SignatureAlgorithm>
        /// The difference between the clocks of the authorization server and this one that is tolerated: 30
        /// seconds by default, 300 at most.
        public var skew: Duration { didSet { skew = Self.clamped(skew) } }
        /// Whether only tokens of the type `at+jwt` are accepted, as RFC 9068 demands.
        ///
        /// By default, the type may also be `JWT` or missing, since most authorization servers issue such
        /// tokens. ID tokens are refused in either case.
        public var strictType: Bool
        /// How long fetched keys are used before they are fetched again, if their sender does not say it: 1
        /// hour by default, and 5 minutes to 24 hours.
        public var keyLifetime: Duration { didSet { keyLifetime = Self.clampedLifetime(keyLifetime) } }
        /// The implementation of the algorithms.
        public var signatures: any SignatureProvider
        /// Called when the keys cannot be fetched or read, at most once per fetch, on any thread.
        public var onKeyFailure: (@Sendable (any Error) -> Void)?

        /// The greatest tolerated difference between two clocks.
        static let maxSkew = Duration.seconds(300)
        static let keyLifetimes = Duration.seconds(300) ... Duration.seconds(86_400)

        /// Creates options; a duration out of range is replaced with the nearest one in range.
        public init(
            audiences: [String] = [], algorithms: Set<SignatureAlgorithm> = Set(SignatureAlgorithm.allCases),
            skew: Duration = .seconds(30), strictType: Bool = false, keyLifetime: Duration = .seconds(3_600),
            signatures: any SignatureProvider = OpenSSLSignatures.system,
            onKeyFailure: (@Sendable (any Error) -> Void)? = nil
        ) {
            self.audiences = audiences
            self.algorithms = algorithms
            self.skew = Self.clamped(skew)
            self.strictType = strictType
            self.keyLifetime = Self.clampedLifetime(keyLifetime)
            self.signatures = signatures
            self.onKeyFailure = onKeyFailure
        }

        private static func clamped(_ skew: Duration) -> Duration { min(max(skew, .zero), maxSkew) }

        static func clampedLifetime(_ lifetime: Duration) -> Duration {
            min(max(lifetime, keyLifetimes.lowerBound), keyLifetimes.upperBound)
        }
    }

    /// A JWK set as it was fetched.
    package struct FetchedKeys: Sendable {
        /// JSON text (RFC 7517).
        package let text: String
        /// The time for which its sender lets it be kept; nil for `Options.keyLifetime`.
        package let lifetime: Duration?

        package init(text: String, lifetime: Duration? = nil) {
            self.text = text
            self.lifetime = lifetime
        }
    }

    private enum Keys: Sendable {
        case fixed(JWKSet)
        case fetched(JWKSource)
    }

    /// The issuer whose tokens are accepted; tokens must name it byte for byte.
    public let issuer: String
    private let options: Options
    private let keys: Keys
    private let clock: any TimeSource

    /// Creates a verifier with keys that do not change.
    ///
    /// - Parameters:
    ///   - issuer: the issuer identifier of the authorization server.
    ///   - keys: its JWK set as JSON text (RFC 7517). Keys that cannot be used are left out.
    /// - Throws: `SignatureError` of the kind `.key` if the text is not a JWK set or has no key that can be
    ///   used, or `.unavailable` if no implementation of the algorithms exists.
    public convenience init(
        issuer: String, keys: String, options: Options = Options()
    ) throws(SignatureError) {
        try self.init(issuer: issuer, keys: keys, options: options, clock: SystemClock())
    }

    /// Creates a verifier that fetches the keys.
    ///
    /// The keys are fetched for the first token, again when their lifetime (`Options.keyLifetime`) is over,
    /// and at most once in 60 seconds for tokens whose key is unknown. One fetch runs at a time, for at most
    /// 15 seconds. While fetches fail, the old keys are used for up to 24 hours more.
    ///
    /// - Parameters:
    ///   - issuer: the issuer identifier of the authorization server.
    ///   - fetchKeys: returns its JWK set as JSON text (RFC 7517). The address has to come from the program
    ///     or from metadata that it has checked, and never from a token.
    /// - Throws: `SignatureError` of the kind `.unavailable` if no implementation of the algorithms exists.
    public convenience init(
        issuer: String, options: Options = Options(),
        fetchKeys: @escaping @Sendable () async throws -> String
    ) throws(SignatureError) {
        try self.init(issuer: issuer, options: options, clock: SystemClock(), fetchKeys: fetchKeys)
    }

    package init(issuer: String, keys: String, options: Options, clock: any TimeSource) throws(SignatureError)
    {
        try options.signatures.prepare()
        let set = try JWKSet(keys, options.signatures)
        guard !set.keys.isEmpty else {
            throw SignatureError(
                .key, "a JWK set has no key that can be used",
                hint: "it has to contain public RSA keys of 2048 to 4096 bits, P-256 keys or Ed25519 keys")
        }
        self.issuer = issuer
        self.options = options
        self.keys = .fixed(set)
        self.clock = clock
    }

    package convenience init(
        issuer: String, options: Options, clock: any TimeSource,
        fetchKeys: @escaping @Sendable () async throws -> String
    ) throws(SignatureError) {
        try self.init(
            issuer: issuer, options: options, clock: clock,
            fetching: {
                FetchedKeys(text: try await fetchKeys())
            })
    }

    /// - Parameter fetch: returns the JWK set with the lifetime that its sender gives it.
    package init(
        issuer: String, options: Options, clock: any TimeSource = SystemClock(),
        fetching fetch: @escaping @Sendable () async throws -> FetchedKeys
    ) throws(SignatureError) {
        try options.signatures.prepare()
        self.issuer = issuer
        self.options = options
        self.clock = clock
        keys = .fetched(
            JWKSource(
                lifetime: options.keyLifetime, signatures: options.signatures, clock: clock,
                onFailure: options.onKeyFailure, fetch: fetch))
    }

    /// Returns the principal that a token stands for.
    ///
    /// - Throws: `TokenRefusal.invalid` when the token is not good, and `TokenRefusal.unavailable` when the
    ///   issuer's keys cannot be fetched.
    public func verify(_ token: PresentedToken) async throws(TokenRefusal) -> Principal {
        guard let jws = CompactJWS(token.value) else { throw .invalid(.malformed) }
        let algorithm = try algorithm(of: jws.header)
        let claims = try JWTClaims(jws.payload)
        try checkType(jws.header, claims)
        // Before any key: a token of another issuer causes no work and no fetch.
        guard JSONKey.same(claims.issuer, issuer) else { throw .invalid(.unknown) }
        try await checkSignature(jws, algorithm)
        // AUTH-41
        guard claims.audiences.contains(where: { isAccepted($0, for: token.resource) }) else {
            throw .invalid(.audience)
        }
        try claims.checkTimes(
            now: clock.wallTime.secondsSinceEpoch, skew: options.skew.components.seconds)
        return Principal(
            kind: .oauth, issuer: claims.issuer, subject: claims.subject, clientID: claims.clientID,
            scopes: Set(claims.scopes), expiresAt: claims.expiresAt, claims: claims.members)
    }

    /// Returns whether a token is a JWT that names this issuer, so that no other verifier has to be asked.
    ///
    /// Nothing about the token is verified.
    public func decides(about token: PresentedToken) -> Bool {
        CompactJWS(token.value)?.payload["iss"]?.stringValue.map { JSONKey.same($0, issuer) } ?? false
    }

    // MARK: Rules

    /// The algorithm of a token; the key must allow it as well (RFC 8725, section 3.1).
    ///
    /// `jku`, `jwk`, `x5u` and `x5c` are not looked at. No extension is understood, so `crit` is refused
    /// whatever it lists (RFC 7515, section 4.1.11).
    private func algorithm(of header: JSONObject) throws(TokenRefusal) -> SignatureAlgorithm {
        guard let name = header["alg"]?.stringValue, let algorithm = SignatureAlgorithm(rawValue: name),
            options.algorithms.contains(algorithm), header["crit"] == nil,
            header["kid"].map({ $0.stringValue != nil }) ?? true
        else { throw .invalid(.malformed) }
        return algorithm
    }

    /// Refuses what is signed by the same keys and is not an access token (RFC 8725, section 3.11).
    private func checkType(_ header: JSONObject, _ claims: JWTClaims) throws(TokenRefusal) {
        var isAccessToken = false
        if let type = header["typ"] {
            guard let name = type.stringValue?.lowercased() else { throw .invalid(.malformed) }
            isAccessToken = name == "at+jwt" || name == "application/at+jwt"
            guard isAccessToken || name == "jwt" else { throw .invalid(.malformed) }
        }
        // A token that is bound to a key is worth nothing without the proof, which is not checked here.
        guard isAccessToken || !(options.strictType || claims.looksLikeIDToken), !claims.isBoundToKey else {
            throw .invalid(.malformed)
        }
    }

    private func isAccepted(_ audience: String, for resource: String) -> Bool {
        ResourceIdentifier.same(audience, resource)
            || options.audiences.contains { ResourceIdentifier.same(audience, $0) }
    }

    private func checkSignature(_ jws: CompactJWS, _ algorithm: SignatureAlgorithm) async throws(TokenRefusal)
    {
        let id = jws.header["kid"]?.stringValue
        var outcome: JWKSet.Outcome
        switch keys {
        case .fixed(let set): outcome = set.verify(jws, algorithm, id: id)
        case .fetched(let source):
            let snapshot = try await source.current()
            outcome = snapshot.set.verify(jws, algorithm, id: id)
            if outcome == .unknownKey, let newer = try await source.newer(than: snapshot) {
                outcome = newer.verify(jws, algorithm, id: id)
            }
        }
        guard outcome == .valid else { throw .invalid(.unknown) }
    }
}
