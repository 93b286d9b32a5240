import Synchronization

/// One run from a challenge to a token: discovery, identity, grant, storage.
struct OAuthFlow: Sendable {
    /// What a flow is for.
    enum Purpose: Sendable, Hashable {
        /// The server refused the credentials with 401; nil for a login without a challenge. A refresh is
        /// enough unless `isForced`.
        case challenge(OAuthChallenge?, isForced: Bool)
        /// The server requires more scopes (AUTH-31); these are all of them.
        case stepUp(OAuthChallenge, scopes: [String])
    }

    /// The outcome: what was stored, and under which key.
    struct Outcome: Sendable {
        let key: TokenKey
        let entry: StoredAuthorization
        /// Whether a user has logged in, who may be another one than before.
        let isNewLogin: Bool
    }

    let server: WebURL
    let settings: OAuthSettings
    let store: any TokenStore
    let user: AuthorizationUser?
    let discovery: OAuthDiscovery
    let http: any OAuthHTTP
    /// The same without the limit of requests, to wait for a person.
    let pollingHTTP: any OAuthHTTP
    let clock: any TimeSource
    let proofs: DPoPProofs

    /// The authorization server and the resource of a flow.
    struct Target: Sendable {
        let metadata: AuthorizationServerMetadata
        let resource: String?
        let key: TokenKey
        /// The scopes to request; nil for none.
        let scopes: [String]?
        /// The scopes to register a client for: also those that the server may require later.
        let registeredScopes: [String]?
        /// The key to bind tokens to; nil for bearer tokens.
        let dpop: DPoPKey?
    }

    /// Obtains tokens.
    ///
    /// - Parameter refused: the access token that the server refused; a stored one that differs is used.
    /// - Returns: nil if the server has no metadata and did not refuse anything: no login is needed.
    func run(
        _ purpose: Purpose, refused: String?
    ) async throws(AuthorizationError) -> Outcome? {
        let challenge: OAuthChallenge?
        switch purpose {
        case .challenge(let found, _): challenge = found
        case .stepUp(let found, _): challenge = found
        }
        let resource = try await discovery.resource(challenge, http)
        if challenge == nil, resource == nil, settings.issuer == nil { return nil }
        let target = try await target(purpose, challenge, resource)
        if case .challenge(_, isForced: false) = purpose,
            let entry = try await renewal().run(target.key, refused: refused, metadata: target.metadata)
        {
            return Outcome(key: target.key, entry: entry, isNewLogin: false)
        }
        switch settings.grant {
        case .authorizationCode:
            let entry = try await CodeGrant(flow: self, target: target).run()
            return Outcome(key: target.key, entry: entry, isNewLogin: !purpose.isStepUp)
        case .device(show: let show):
            let entry = try await DeviceGrant(flow: self, target: target, show: show).run()
            return Outcome(key: target.key, entry: entry, isNewLogin: !purpose.isStepUp)
        case .clientCredentials, .jwtBearer, .enterprise:
            let entry = try await SilentGrant(flow: self).run(target)
            return Outcome(key: target.key, entry: entry, isNewLogin: false)
        }
    }

    func renewal() -> TokenRenewal {
        TokenRenewal(
            settings: settings, store: store, discovery: discovery, http: http, clock: clock, proofs: proofs)
    }

    // MARK: The authorization server

    private func target(
        _ purpose: Purpose, _ challenge: OAuthChallenge?, _ resource: ProtectedResourceMetadata?
    ) async throws(AuthorizationError) -> Target {
        let parameter: String? =
            switch settings.resource {
            case .automatic: resource?.resource ?? ResourceURI.canonical(server)
            case .exactly(let text): text
            case .omitted: nil
            }
        let metadata = try await choose(resource?.authorizationServers ?? [], parameter ?? "")
        var scopes: [String]?
        if case .stepUp(_, let all) = purpose {
            scopes = all
        } else {
            // AUTH-28: never those of the authorization server.
            scopes = settings.scopes ?? challenge?.scopes ?? resource?.scopes
            if settings.grant.needsUser, let some = scopes, !some.isEmpty,
                metadata.scopes?.contains("offline_access") == true
            {
                scopes = ScopeList.union(some, ["offline_access"])
            }
        }
        let key = TokenKey(issuer: metadata.issuer, resource: parameter ?? "", client: settings.clientKeyName)
        let dpop = try await binding(metadata, challenge, resource, key)
        let registered = resource?.scopes.map { ScopeList.union(scopes ?? [], $0) } ?? scopes
        return Target(
            metadata: metadata, resource: parameter, key: key, scopes: scopes, registeredScopes: registered,
            dpop: dpop)
    }

    /// Returns the key to bind tokens to, if they are to be bound (AUTH-57).
    private func binding(
        _ metadata: AuthorizationServerMetadata, _ challenge: OAuthChallenge?,
        _ resource: ProtectedResourceMetadata?, _ key: TokenKey
    ) async throws(AuthorizationError) -> DPoPKey? {
        let isOffered = challenge?.offersDPoP == true || resource?.requiresDPoP == true
        guard settings.dpop == .always || settings.dpop == .automatic && isOffered else { return nil }
        let isOnlyOffer = challenge?.offersDPoP == true && challenge?.offersBearer == false
        let isRequired = settings.dpop == .always || resource?.requiresDPoP == true || isOnlyOffer
        guard metadata.dpopAlgorithms.contains("ES256") else {
            guard isRequired else { return nil }
            throw AuthorizationError(
                .tokenRefused, "\(metadata.issuer) does not bind tokens to a key, which is required",
                details: ["its metadata do not list ES256 in dpop_signing_alg_values_supported"])
        }
        if let bytes = try await store.read(key)?.tokens?.dpopKey {
            return try DPoPKey.read(bytes, settings.signatures, proofs)
        }
        return try DPoPKey.make(settings.signatures, proofs, isRequired: isRequired)
    }

    /// Chooses an authorization server of the list, and returns its metadata: the configured one, or the
    /// first one that something is stored for, or the first.
    private func choose(
        _ listed: [String], _ resource: String
    ) async throws(AuthorizationError) -> AuthorizationServerMetadata {
        guard !listed.isEmpty else {
            if let configured = settings.issuer ?? settings.identityIssuer {
                try await checkPinned(configured)
                return try await discovery.metadata(of: configured, http)
            }
            try await checkPinned(server.origin)
            return try await discovery.fallback(http)
        }
        if let configured = settings.issuer {
            guard listed.contains(where: { Self.isSame($0, configured) }) else {
                throw Self.otherIssuer(listed[0], configured, "the configured issuer")
            }
            try await checkPinned(configured)
            return try await discovery.metadata(of: configured, http)
        }
        if let own = settings.identityIssuer {
            guard listed.contains(own) else {
                throw Self.otherIssuer(listed[0], own, "the issuer of the client id")
            }
            return try await discovery.metadata(of: own, http)
        }
        var known: [String] = []
        for issuer in listed.prefix(8) {
            let key = TokenKey(issuer: issuer, resource: resource, client: settings.clientKeyName)
            if try await store.read(key) != nil { known.append(issuer) }
        }
        let usable = listed.filter { issuer in
            WebURL(issuer).map { $0.isConfidential || settings.allows($0.host) } ?? false
        }
        var failure = AuthorizationError(
            .malformed, "the server names no authorization server at an https URL; nothing was sent")
        for issuer in ScopeList.union(known, usable).prefix(4) {
            try await checkPinned(issuer)
            do throws(AuthorizationError) {
                return try await discovery.metadata(of: issuer, http)
            } catch {
                // Another one is only tried if this one has not responded.
                guard error.kind == .unreachable else { throw error }
                failure = error
            }
        }
        throw failure
    }

    /// Checks that a configured client id without an issuer stays with the first one (AUTH-15, AUTH-16).
    private func checkPinned(_ issuer: String) async throws(AuthorizationError) {
        guard case .registered(let identity, issuer: let own) = settings.identity else { return }
        if let own, own != issuer { throw Self.otherIssuer(issuer, own, "the issuer of the client id") }
        guard own == nil, let known = try await store.key(forServer: server.storeName),
            known.client == identity.clientID, known.issuer != issuer
        else { return }
        throw Self.otherIssuer(issuer, known.issuer, "the issuer of the client id")
    }

    private static func isSame(_ listed: String, _ configured: String) -> Bool {
        listed == configured || listed + "/" == configured || listed == configured + "/"
    }

    private static func otherIssuer(_ found: String, _ own: String, _ what: String) -> AuthorizationError {
        AuthorizationError(
            .issuerMismatch, "the server names another authorization server; nothing was sent to it",
            details: ["the server: \(HTTPFetcher.shortened(found))", "\(what): \(own)"])
    }
}

extension OAuthFlow.Purpose {
    var isStepUp: Bool { if case .stepUp = self { true } else { false } }
}

extension OAuthSettings {
    /// The name of the identity in the keys of the store.
    var clientKeyName: String {
        if case .registered(let identity, issuer: _) = identity { identity.clientID } else { "" }
    }

    /// Whether the client registers itself, or has a metadata document.
    var isAutomatic: Bool { if case .automatic = identity { true } else { false } }

    /// The issuer that the configured client id belongs to.
    var identityIssuer: String? {
        if case .registered(_, issuer: let issuer) = identity { issuer } else { nil }
    }

    /// Returns the identity at an authorization server, as far as it needs no registration.
    func identity(
        at metadata: AuthorizationServerMetadata, _ stored: StoredAuthorization?, now: WallTime
    ) -> OAuthClientIdentity? {
        switch identity {
        case .registered(let identity, issuer: _): return identity
        case .automatic(metadataURL: let url):
            if let url, metadata.supportsMetadataURLs {
                return OAuthClientIdentity(clientID: url, authenticationMethod: "none")
            }
            guard let registration = stored?.registration else { return nil }
            if let expiry = registration.secretExpiresAt, expiry <= now.secondsSinceEpoch { return nil }
            return registration
        }
    }
}

extension WebURL {
    /// The name of a server in the store.
    var storeName: String { origin + target }
}

/// HTTP with a limit of requests, so that no server can make a client send more and more.
final class LimitedHTTP: OAuthHTTP {
    /// The greatest number of requests of one flow.
    static let maxRequests = 12

    private let http: any OAuthHTTP
    private let count = Mutex(0)

    init(_ http: any OAuthHTTP) { self.http = http }

    func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
        let number = count.withLock { count in
            count += 1
            return count
        }
        guard number <= Self.maxRequests else {
            throw AuthorizationError(
                .unreachable, "the login needs more than \(Self.maxRequests) requests; it was ended")
        }
        return try await http.send(request)
    }
}
