import Synchronization

/// Obtains access tokens for an MCP server by OAuth 2.1, and keeps them fresh.
///
/// Pass it as the authorizer of a client. It discovers the authorization server of the MCP server, registers
/// the client there if it has no id, lets the user log in, stores the tokens, renews them before they expire,
/// and asks for more scopes when the server demands them. Requests that meet 401 at the same time wait for
/// one flow. Without a user, a flow that needs one fails with `.loginRequired`.
public final class OAuthAuthorizer: RequestAuthorizer {
    /// The number of times that an operation may ask for more scopes within `stepUpWindow` (AUTH-32).
    static let maxStepUps = 2
    /// The time in which step-ups of one operation are counted.
    static let stepUpWindow = Duration.seconds(600)
    /// The number of operations whose step-ups are remembered.
    private static let maxRemembered = 1_000

    typealias Flight = OneShot<Result<Void, AuthorizationError>>

    enum Work: Sendable, Hashable {
        case renewal
        case flow(OAuthFlow.Purpose)
    }

    struct State {
        var isLoaded = false
        var key: TokenKey?
        var entry: StoredAuthorization?
        /// The number of the tokens in `entry`, in this process.
        var generation = 0
        /// The number of logins after which another person may be logged in.
        var logins = 0
        /// The number of times that tokens were obtained, the same ones again included.
        var obtained = 0
        var flight: (work: Work, flight: Flight, task: Task<Void, Never>?)?
        var stepUps: [String: [MonotonicInstant]] = [:]

        /// The key of bound tokens, with the bytes that it was read from.
        var signingKey: (bytes: [UInt8], key: any SigningKey)?

        func key(for bytes: [UInt8]) -> (any SigningKey)? {
            signingKey.flatMap { $0.bytes == bytes ? $0.key : nil }
        }

        /// The number of the tokens that requests present; 0 for none.
        var presented: Int { entry?.tokens == nil ? 0 : generation }
    }

    let server: WebURL?
    let serverText: String
    let settings: OAuthSettings
    let store: any TokenStore
    let user: AuthorizationUser?
    let discovery: OAuthDiscovery?
    let http: any OAuthHTTP
    let clock: any TimeSource
    let proofs: DPoPProofs
    let state = Mutex(State())
    /// Everything secret that was sent, received or read, also tokens that were replaced.
    let secrets: KnownSecrets

    /// Creates an authorizer for one MCP server.
    ///
    /// - Parameters:
    ///   - server: the URL of the MCP server; tokens are sent nowhere else.
    ///   - settings: the identity of the client, and what it asks for.
    ///   - store: where registrations and tokens are kept.
    ///   - user: the way to the person who logs in; nil if there is none.
    ///   - http: sends the requests of the flow; nil for `HTTPFetcher`.
    public convenience init(
        for server: String, settings: OAuthSettings = OAuthSettings(), store: any TokenStore,
        user: AuthorizationUser? = nil, http: (any OAuthHTTP)? = nil
    ) {
        self.init(
            for: server, settings: settings, store: store, user: user, http: http, clock: SystemClock())
    }

    /// Creates an authorizer with a clock.
    package init(
        for server: String, settings: OAuthSettings, store: any TokenStore, user: AuthorizationUser?,
        http: (any OAuthHTTP)?, clock: any TimeSource
    ) {
        let url = WebURL(String(server.prefix { $0 != "#" }))
        self.server = url
        serverText = server
        self.settings = settings
        self.store = store
        self.user = user
        secrets = KnownSecrets(settings.secrets)
        self.http = NotingHTTP(
            http: http ?? HTTPFetcher(for: server, allowedHosts: settings.allowedHosts), secrets: secrets)
        self.clock = clock
        proofs = DPoPProofs(clock: clock)
        discovery = url.map { OAuthDiscovery($0, settings, clock: clock) }
    }

    // MARK: RequestAuthorizer

    /// Whom the tokens stand for: a digest of the issuer, the resource, the client and, if it is known, the
    /// subject.
    public var identity: String? {
        state.withLock { state in
            guard let key = state.key, let tokens = state.entry?.tokens else { return nil }
            let parts = [key.issuer, key.resource, key.client, tokens.subject ?? "", "\(state.logins)"]
            let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
            return Hex.encode(SHA256.hash(Array(text.utf8)).bytes.prefix(16))
        }
    }

    /// Returns a text without the tokens, codes and secrets that this authorizer has used, also those that
    /// were replaced.
    public func masking(_ text: String) -> String { secrets.mask(text) }

    /// Returns the access token, renewed if it expires soon, with a proof of its key if it has one.
    ///
    /// - Throws: `AuthorizationError` if the renewal fails for now. Without a token there are no fields.
    public func authorization(
        for request: AuthorizedRequest
    ) async throws(AuthorizationError) -> RequestAuthorization {
        try await load()
        guard mayReceiveTokens(request) else { return .none }
        try await renewIfNeeded()
        let (tokens, generation) = state.withLock { state in
            if state.entry?.tokens?.isExpired(at: clock.wallTime, margin: 0) == true {
                state.entry?.tokens = nil
            }
            return (state.entry?.tokens, state.generation)
        }
        guard let tokens else { return .none }
        var fields = [(name: "Authorization", value: "\(tokens.scheme) \(tokens.accessToken)")]
        if let bytes = tokens.dpopKey {
            let key = try signingKey(bytes)
            let proof = try proofs.proof(
                request.httpMethod, request.url, accessToken: tokens.accessToken, key: key)
            fields.append((name: "DPoP", value: proof))
        }
        return RequestAuthorization(fields: fields, generation: generation)
    }

    /// Returns the key of bound tokens, which is read once.
    private func signingKey(_ bytes: [UInt8]) throws(AuthorizationError) -> any SigningKey {
        if let kept = state.withLock({ $0.key(for: bytes) }) { return kept }
        let key = try DPoPKey.read(bytes, settings.signatures, proofs).key
        state.withLock { $0.signingKey = (bytes, key) }
        return key
    }

    /// Obtains newer tokens, or more scopes after 403 with `insufficient_scope`.
    ///
    /// - Throws: `AuthorizationError`.
    public func respond(to refusal: AuthorizationRefusal) async throws(AuthorizationError) -> Bool {
        try await load()
        guard mayReceiveTokens(refusal.request) else { return false }
        // Others have obtained newer tokens in the meantime.
        if refusal.generation < state.withLock({ $0.presented }) { return true }
        let challenge = OAuthChallenge(refusal.challenges)
        proofs.remember(refusal.dpopNonce, of: refusal.request.url)
        if refusal.status == 401 {
            // The token is good, and the next proof has the nonce (RFC 9449, section 9).
            if refusal.dpopNonce != nil, challenge.error == "use_dpop_nonce", refusal.generation > 0 {
                return true
            }
            do throws(AuthorizationError) {
                try await perform(.flow(.challenge(challenge, isForced: false)), after: refusal.generation)
            } catch { throw error.naming(refusal.challenges) }
            return true
        }
        // Some servers name the scopes without the error.
        let wantsScopes =
            challenge.error == "insufficient_scope"
            || challenge.error == nil && challenge.scopes?.isEmpty == false
        guard refusal.status == 403, wantsScopes else { return false }
        let scopes = try scopes(for: challenge, refusal.request)
        try await perform(.flow(.stepUp(challenge, scopes: scopes)), after: refusal.generation)
        return true
    }

    /// Whether the tokens were made for the place of a request: the origin of the server, and a path within
    /// the resource or the server's path, or the one that a server of 2024-11-05 names for messages.
    private func mayReceiveTokens(_ request: AuthorizedRequest) -> Bool {
        guard let server, server.isConfidential || settings.allows(server.host),
            let url = WebURL(request.url), url.hasSameOrigin(as: server)
        else { return false }
        let canonical = ResourceURI.canonical(server)
        if request.server != request.url, let base = WebURL(request.server), base.hasSameOrigin(as: server),
            ResourceURI.covers(canonical, base)
        {
            return true
        }
        let resource = state.withLock { $0.key?.resource }
        return ResourceURI.covers(canonical, url)
            || resource.map { ResourceURI.covers($0, url) } ?? false
    }

    // MARK: Scopes

    /// Returns all scopes to ask for, and counts the step-up.
    private func scopes(
        for challenge: OAuthChallenge, _ request: AuthorizedRequest
    ) throws(AuthorizationError) -> [String] {
        let tokens = state.withLock { $0.entry?.tokens }
        let requested = tokens?.requestedScopes ?? []
        let all = ScopeList.union(requested, tokens?.grantedScopes ?? [], challenge.scopes ?? [])
        let names = (challenge.scopes ?? []).joined(separator: " ")
        guard !names.isEmpty else { throw Self.unnamedScopes(challenge, tokens) }
        guard Set(all) != Set(requested) else {
            throw AuthorizationError(
                .insufficientScope,
                "the server requires scopes that were asked for and not granted (HTTP 403)",
                details: ["scopes: \(names)"])
        }
        if settings.grant.hasFixedScopes {
            throw AuthorizationError(
                .insufficientScope, "the server requires more scopes than the assertion has (HTTP 403)",
                details: ["scopes: \(names)"])
        }
        let operation = "\(request.method)\n\(request.name ?? "")"
        let isAllowed = state.withLock { state in
            let now = clock.now
            var times = state.stepUps[operation, default: []].filter { now < $0 + Self.stepUpWindow }
            guard times.count < Self.maxStepUps else { return false }
            times.append(now)
            if state.stepUps.count >= Self.maxRemembered { state.stepUps = [:] }
            state.stepUps[operation] = times
            return true
        }
        guard isAllowed else {
            throw AuthorizationError(
                .insufficientScope, "the server required more scopes again and again (HTTP 403)",
                details: ["scopes: \(names)", "no more than \(Self.maxStepUps) times in 10 minutes"])
        }
        if settings.grant.needsUser, !canLogIn {
            throw AuthorizationError(
                .insufficientScope, "\(serverText) requires more scopes (HTTP 403)",
                details: ["scopes: \(names)"],
                hint: "log in with these scopes", remedy: .login(scopes: all))
        }
        return all
    }

    /// The error of a server that requires scopes and names none where a program would look for them.
    private static func unnamedScopes(
        _ challenge: OAuthChallenge, _ tokens: StoredTokens?
    ) -> AuthorizationError {
        var details: [String] = []
        if let text = challenge.errorDescription { details.append("it says: \(HTTPFetcher.shortened(text))") }
        if let granted = tokens?.grantedScopes, !granted.isEmpty {
            details.append("granted: \(granted.joined(separator: " "))")
        }
        return AuthorizationError(
            .insufficientScope, "the server requires other scopes than those of the login (HTTP 403)",
            details: details,
            hint: "log in without naming scopes, which asks for those that the server names",
            remedy: .login(scopes: []))
    }

    // MARK: The stored tokens

    /// Reads what is stored for the server, once.
    func load() async throws(AuthorizationError) {
        guard let server, !state.withLock({ $0.isLoaded }) else { return }
        let key = try await store.key(forServer: server.storeName)
        var entry: StoredAuthorization?
        // A configured identity has entries of its own.
        if let key, key.client == settings.clientKeyName { entry = try await store.read(key) }
        state.withLock { state in
            if state.isLoaded { return }
            state.isLoaded = true
            guard let key, let entry else { return }
            note(entry)
            (state.key, state.entry) = (key, entry)
            if entry.tokens != nil { state.generation += 1 }
        }
    }

    /// Remembers what must not appear in texts; another process may have stored it.
    func note(_ entry: StoredAuthorization) {
        let found = [
            entry.registration?.clientSecret, entry.tokens?.refreshToken, entry.tokens?.accessToken,
        ]
        for secret in found { if let secret { secrets.note(secret) } }
    }

    /// Adopts tokens that a flow or a renewal has stored.
    func adopt(_ outcome: OAuthFlow.Outcome) {
        note(outcome.entry)
        state.withLock { state in
            let old = state.entry?.tokens
            if outcome.isNewLogin, old != nil, outcome.entry.tokens?.subject == nil { state.logins += 1 }
            let isNew = outcome.key != state.key || old?.accessToken != outcome.entry.tokens?.accessToken
            if outcome.entry.tokens != nil {
                state.obtained += 1
                if isNew { state.generation += 1 }
            }
            (state.key, state.entry) = (outcome.key, outcome.entry)
        }
    }
}

extension AuthorizationError {
    /// Returns the error of a server that names no authorization server with what it demands, if that is no
    /// token.
    fileprivate func naming(_ challenges: [String]) -> AuthorizationError {
        let schemes = challenges.map { $0.prefix { $0 != " " }.lowercased() }
        guard remedy == .issuedToken, !schemes.isEmpty, !schemes.contains("bearer"), !schemes.contains("dpop")
        else { return self }
        var error = self
        error.details += challenges.prefix(4).map { "WWW-Authenticate: \($0)" }
        (error.hint, error.remedy) = ("the header field Authorization sends what it demands", nil)
        return error
    }
}

extension StoredTokens {
    /// The subject of an access token that is a JWT. It is not verified: it only keeps data of different
    /// people apart.
    var subject: String? { CompactJWS(accessToken)?.payload["sub"]?.stringValue }
}
