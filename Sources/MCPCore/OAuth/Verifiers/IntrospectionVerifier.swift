import Synchronization

/// Verifies access tokens by asking the authorization server that issued them (RFC 7662).
///
/// For tokens that are not JWTs. The server needs credentials of its own there. A token is accepted if the
/// answer's `active` is the JSON value true, its `aud` contains this server and its times are good (AUTH-50).
/// A good token is asked about again after 60 s. When the authorization server does not answer, requests are
/// refused with 503 and never accepted; after five failures in a row it is left alone for 10 s.
public final class IntrospectionVerifier: TokenVerifier {
    /// The rules of a verifier.
    public struct Options: Sendable {
        /// Audiences that are accepted beside the canonical URI of the server.
        public var audiences: [String]
        /// Whether the answer must have an `aud`. Only set this to false for an authorization server that
        /// answers `active` to this server for none but its own tokens.
        public var requiresAudience: Bool
        /// Called when the authorization server does not answer as it should, on any thread.
        public var onFailure: (@Sendable (AuthorizationError) -> Void)?

        /// Creates options.
        public init(
            audiences: [String] = [], requiresAudience: Bool = true,
            onFailure: (@Sendable (AuthorizationError) -> Void)? = nil
        ) {
            self.audiences = audiences
            self.requiresAudience = requiresAudience
            self.onFailure = onFailure
        }
    }

    /// The time after which a token that was active is asked about again.
    static let activeTime = Duration.seconds(60)
    /// The number of failures in a row after which no request is made for a while.
    static let maxFailures = 5
    /// The time for which no request is made then.
    static let restTime = Duration.seconds(10)
    /// The longest token that is sent.
    static let maxTokenBytes = 16 << 10

    private struct State {
        var failures = 0
        var restsUntil: MonotonicInstant?
    }

    private let issuer: String
    private let fixedEndpoint: String?
    private let credentials: Redacted<String>
    private let options: Options
    private let http: any OAuthHTTP
    private let discovery: OAuthDiscovery?
    private let clock: any TimeSource
    private let state = Mutex(State())

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - issuer: the issuer identifier of the authorization server.
    ///   - endpoint: its introspection endpoint; nil takes it from its metadata, which must name this issuer.
    ///   - clientID: the id of this server there.
    ///   - clientSecret: its secret, which is sent with HTTP Basic authentication.
    ///   - http: sends the requests; nil uses an `HTTPFetcher`.
    public convenience init(
        issuer: String, endpoint: String? = nil, clientID: String, clientSecret: String,
        options: Options = Options(), http: (any OAuthHTTP)? = nil
    ) {
        self.init(
            issuer: issuer, endpoint: endpoint, clientID: clientID, clientSecret: clientSecret,
            options: options, http: http ?? HTTPFetcher(for: endpoint ?? issuer), clock: SystemClock())
    }

    init(
        issuer: String, endpoint: String?, clientID: String, clientSecret: String, options: Options,
        http: any OAuthHTTP, clock: any TimeSource
    ) {
        self.issuer = issuer
        fixedEndpoint = endpoint
        // RFC 6749, section 2.3.1.
        let pair = FormCoding.encode(clientID) + ":" + FormCoding.encode(clientSecret)
        credentials = Redacted("Basic " + Base64.encode(Array(pair.utf8)))
        self.options = options
        self.http = http
        discovery = WebURL(issuer).map { OAuthDiscovery($0, OAuthSettings(), clock: clock) }
        self.clock = clock
    }

    /// Returns the principal that a token stands for.
    ///
    /// - Throws: `TokenRefusal.invalid` when the token is not active or not for this server, and
    ///   `TokenRefusal.unavailable` when the authorization server does not answer.
    public func verify(_ token: PresentedToken) async throws(TokenRefusal) -> Principal {
        guard token.value.utf8.count <= Self.maxTokenBytes else { throw .invalid(.malformed) }
        guard state.withLock({ $0.restsUntil.map { $0 <= clock.now } ?? true }) else { throw .unavailable }
        let answer: JSONObject
        do throws(AuthorizationError) { answer = try await ask(token.value) } catch {
            // A request that was given up says nothing about the authorization server.
            if error.kind != .cancelled { failed(error) }
            throw .unavailable
        }
        state.withLock { $0 = State() }
        return try principal(answer, for: token.resource)
    }

    private func failed(_ error: AuthorizationError) {
        state.withLock { state in
            state.failures += 1
            if state.failures >= Self.maxFailures { state.restsUntil = clock.now + Self.restTime }
        }
        options.onFailure?(error)
    }

    /// Asks about a token that cannot exist, to find out whether the endpoint accepts this server's
    /// credentials.
    ///
    /// - Throws: `AuthorizationError` when it does not, or says that the token is good.
    package func probe() async throws(AuthorizationError) {
        let answer = try await ask("mcp-probe-" + Base64URL.encode(SystemRandom().bytes(32)))
        guard answer["active"] == .bool(false) else {
            throw AuthorizationError(
                .malformed, "the introspection at \(issuer) does not say that an unknown token is inactive",
                details: ["\"active\" must be the JSON value false"],
                hint: "tokens of this issuer cannot be verified by introspection")
        }
    }

    private func ask(_ token: String) async throws(AuthorizationError) -> JSONObject {
        var fields = HeaderFields()
        fields.append(sanitizing: "Authorization", credentials.value)
        let form = [(name: "token", value: token), (name: "token_type_hint", value: "access_token")]
        let response = try await http.send(
            OAuthHTTPRequest(post: try await endpoint(), form: form, fields: fields))
        guard response.status == 200, let answer = response.object else {
            throw AuthorizationError(
                .unreachable, "the introspection at \(issuer) failed: HTTP \(response.status)",
                hint: response.status == 401 ? "check the credentials of this server there" : nil)
        }
        return answer
    }

    private func endpoint() async throws(AuthorizationError) -> String {
        if let fixedEndpoint { return fixedEndpoint }
        guard let endpoint = try await discovery?.metadata(asServer: issuer, http).introspectionEndpoint
        else {
            throw AuthorizationError(
                .malformed, "the metadata of \(issuer) name no introspection_endpoint",
                hint: "configure its address")
        }
        return endpoint
    }

    // MARK: The answer

    private func principal(_ answer: JSONObject, for resource: String) throws(TokenRefusal) -> Principal {
        // Exactly the JSON value true: neither 1 nor "true".
        guard answer["active"] == .bool(true) else { throw .invalid(.unknown) }
        if let named = answer["iss"] {
            guard let named = named.stringValue, JSONKey.same(named, issuer) else { throw .invalid(.unknown) }
        }
        // A token that is bound to a key is worth nothing without the proof, which is not checked here.
        guard answer["cnf"]?["jkt"] == nil else { throw .invalid(.malformed) }
        try checkAudience(answer["aud"], resource)
        let expiry = answer["exp"]?.doubleValue.flatMap { $0 >= 0 && $0 < 0x1p53 ? Int64($0) : nil }
        let skew = AccessGuard.skewSeconds
        let now = clock.wallTime.secondsSinceEpoch
        if answer["exp"] != nil, expiry == nil { throw .invalid(.malformed) }
        if let expiry, now >= expiry + skew { throw .invalid(.expired) }
        if let start = answer["nbf"]?.doubleValue, Double(now + skew) < start { throw .invalid(.early) }
        let client = answer["client_id"]?.stringValue
        guard let subject = answer["sub"]?.stringValue ?? client, !subject.isEmpty else {
            throw .invalid(.malformed)
        }
        let scopes = answer["scope"]?.stringValue?.split(separator: " ").map { String($0) } ?? []
        return Principal(
            kind: .oauth, issuer: issuer, subject: subject, clientID: client, scopes: Set(scopes),
            expiresAt: expiry, claims: answer, verifiedFor: Self.activeTime)
    }

    private func checkAudience(_ claim: JSONValue?, _ resource: String) throws(TokenRefusal) {
        guard let claim else {
            guard options.requiresAudience else { return }
            throw .invalid(.audience)
        }
        let audiences = claim.stringValue.map { [$0] } ?? claim.arrayValue?.compactMap(\.stringValue) ?? []
        let accepted = [resource] + options.audiences
        guard audiences.contains(where: { each in accepted.contains { ResourceIdentifier.same(each, $0) } })
        else { throw .invalid(.audience) }
    }
}
