import Synchronization

/// The discovery of the authorization server of an MCP server: its own metadata and those of the server.
final class OAuthDiscovery: Sendable {
    /// How long the metadata of an authorization server are kept.
    static let metadataLifetime = Duration.seconds(600)
    /// The shortest time between two requests for the metadata of the resource.
    static let resourceInterval = Duration.seconds(1)
    /// The greatest number of authorization servers whose metadata are kept.
    private static let maxKept = 16

    private struct State {
        var servers: [String: (metadata: AuthorizationServerMetadata, at: MonotonicInstant)] = [:]
        /// The digest of the last assertion that was refused.
        var refusedAssertion: SHA256.Digest?
        var resource: (metadata: ProtectedResourceMetadata?, at: MonotonicInstant, challenge: String?)?
    }

    let server: WebURL
    let settings: OAuthSettings
    private let clock: any TimeSource
    private let state = Mutex(State())

    init(_ server: WebURL, _ settings: OAuthSettings, clock: any TimeSource) {
        self.server = server
        self.settings = settings
        self.clock = clock
    }

    // MARK: The resource

    /// Returns the metadata of the server; nil if it has none.
    ///
    /// - Parameter challenge: the challenge of the server, which may name their URL.
    /// - Throws: `.resourceMismatch` if they are about another server (AUTH-06), `.malformed` or
    ///   `.unreachable`.
    func resource(
        _ challenge: OAuthChallenge?, _ http: any OAuthHTTP
    ) async throws(AuthorizationError) -> ProtectedResourceMetadata? {
        let named = challenge?.resourceMetadata
        let kept = state.withLock { state -> ProtectedResourceMetadata?? in
            guard let kept = state.resource, kept.challenge == named,
                clock.now < kept.at + Self.resourceInterval
            else { return nil }
            return .some(kept.metadata)
        }
        if let kept { return kept }
        let found = try await fetchResource(named, http)
        state.withLock { $0.resource = (found, clock.now, named) }
        return found
    }

    /// Forgets the metadata of the server once a login has used them: if its token is refused, the server may
    /// have moved to another authorization server (AUTH-15).
    func forgetResource() { state.withLock { $0.resource = nil } }

    private func fetchResource(
        _ named: String?, _ http: any OAuthHTTP
    ) async throws(AuthorizationError) -> ProtectedResourceMetadata? {
        if let named {
            guard let url = WebURL(named), isAllowed(url) else {
                throw AuthorizationError(
                    .malformed,
                    "the server names metadata at \(HTTPFetcher.shortened(named)), which is not an https URL",
                    details: ["nothing was sent there"])
            }
            switch try await Self.document(named, http) {
            case .members(let members): return try read(members, from: named)
            case .missing(let reason):
                throw AuthorizationError(
                    .malformed, "there are no metadata of the server at \(HTTPFetcher.shortened(named))",
                    details: [reason])
            }
        }
        for url in ResourceURI.metadataURLs(server) {
            if case .members(let members) = try await Self.document(url, http) {
                return try read(members, from: url)
            }
        }
        return nil
    }

    private func isAllowed(_ url: WebURL) -> Bool {
        url.isSecure || (url.isLoopback && server.isLoopback) || settings.allows(url.host)
    }

    private func read(
        _ members: JSONObject, from url: String
    ) throws(AuthorizationError) -> ProtectedResourceMetadata {
        let metadata: ProtectedResourceMetadata
        do throws(MetadataFault) { metadata = try ProtectedResourceMetadata(members) } catch {
            throw AuthorizationError(
                .malformed, "the metadata at \(HTTPFetcher.shortened(url)) have no valid \(error.member)")
        }
        guard ResourceURI.covers(metadata.resource, server) else {
            throw AuthorizationError(
                .resourceMismatch, "the metadata of the server are about another resource; nothing was sent",
                details: [
                    "the server: \(ResourceURI.canonical(server))",
                    "its metadata: \(HTTPFetcher.shortened(metadata.resource))",
                    "read from: \(HTTPFetcher.shortened(url))",
                ])
        }
        return metadata
    }

    // MARK: The authorization server

    /// Returns the checked metadata of an authorization server.
    ///
    /// - Throws: `.issuerMismatch` (AUTH-08), `.malformed`, `.unreachable`.
    func metadata(
        of issuer: String, _ http: any OAuthHTTP
    ) async throws(AuthorizationError) -> AuthorizationServerMetadata {
        if let kept = kept(issuer) { return kept }
        guard let url = WebURL(issuer), url.isConfidential || settings.allows(url.host),
            let urls = AuthorizationServerMetadata.urls(issuer: issuer)
        else {
            throw AuthorizationError(
                .malformed,
                "the authorization server \(HTTPFetcher.shortened(issuer)) is not an https URL",
                details: ["nothing was sent"])
        }
        var asked: [String] = []
        for url in urls {
            switch try await Self.document(url, http) {
            case .members(let members):
                let metadata = try read(members, issuer: issuer, from: url)
                keep(metadata, for: issuer)
                return metadata
            case .missing(let reason): asked.append("asked: \(url): \(reason)")
            }
        }
        throw AuthorizationError(
            .unreachable, "the authorization server \(HTTPFetcher.shortened(issuer)) has no metadata",
            details: asked)
    }

    /// Returns the metadata of a server of 2025-03-26, which is its own authorization server (AUTH-61).
    func fallback(_ http: any OAuthHTTP) async throws(AuthorizationError) -> AuthorizationServerMetadata {
        let origin = server.origin
        if let kept = kept(origin) { return kept }
        let url = origin + "/.well-known/oauth-authorization-server"
        guard case .members(let members) = try await Self.document(url, http) else {
            return AuthorizationServerMetadata(defaultsOf: origin)
        }
        // The string that the URL was built from is the origin, which may be written in two ways.
        let named = members["issuer"]?.stringValue
        let metadata = try read(members, issuer: named == origin + "/" ? origin + "/" : origin, from: url)
        keep(metadata, for: origin)
        return metadata
    }

    private func kept(_ issuer: String) -> AuthorizationServerMetadata? {
        state.withLock { state in
            guard let kept = state.servers[issuer], clock.now < kept.at + Self.metadataLifetime else {
                return nil
            }
            return kept.metadata
        }
    }

    private func keep(_ metadata: AuthorizationServerMetadata, for issuer: String) {
        state.withLock { state in
            if state.servers.count >= Self.maxKept { state.servers = [:] }
            state.servers[issuer] = (metadata, clock.now)
        }
    }

    /// Returns the issuer as a remedy; nil for one that is not a plain URL that can be pasted into a shell.
    private static func remedy(_ issuer: String?) -> AuthorizationError.Remedy? {
        guard let issuer, issuer.utf8.count <= 200, WebURL(issuer) != nil,
            issuer.utf8.allSatisfy({ ASCII.isLetterOrDigit($0) || "-._~:/".utf8.contains($0) })
        else { return nil }
        return .issuer(issuer)
    }

    private func read(
        _ members: JSONObject, issuer: String, from url: String
    ) throws(AuthorizationError) -> AuthorizationServerMetadata {
        // Before everything else: nothing of foreign metadata is used.
        let named = members["issuer"]?.stringValue
        guard let named, named.utf8.elementsEqual(issuer.utf8) else {
            throw AuthorizationError(
                .issuerMismatch,
                "the authorization server's metadata have another issuer; nothing was sent to it",
                details: [
                    "expected: \(issuer)", "its metadata: \(HTTPFetcher.shortened(named ?? "(no issuer)"))",
                    "read from: \(HTTPFetcher.shortened(url))",
                ],
                hint: Self.remedy(named) == nil ? nil : "if you trust it, set it as the issuer",
                remedy: Self.remedy(named))
        }
        do throws(MetadataFault) {
            return try AuthorizationServerMetadata(members, allowedHosts: settings.lowercasedHosts)
        } catch {
            throw AuthorizationError(
                .malformed, "the metadata at \(HTTPFetcher.shortened(url)) have no valid \(error.member)",
                details: ["endpoints must be https, or http on this machine"])
        }
    }

    // MARK: Assertions

    /// Remembers an assertion that the authorization server refused.
    func noteRefused(_ assertion: String) {
        state.withLock { $0.refusedAssertion = SHA256.hash(Array(assertion.utf8)) }
    }

    /// Whether an assertion is the one that was refused last.
    func wasRefused(_ assertion: String) -> Bool {
        state.withLock { $0.refusedAssertion == SHA256.hash(Array(assertion.utf8)) }
    }

    // MARK: Documents

    private enum Document {
        case members(JSONObject)
        /// What there is instead.
        case missing(String)
    }

    /// Returns the JSON document at a URL, or why there is none.
    private static func document(
        _ url: String, _ http: any OAuthHTTP
    ) async throws(AuthorizationError) -> Document {
        var fields = HeaderFields()
        fields.append(sanitizing: "MCP-Protocol-Version", ProtocolVersion.newest.text)
        let response = try await http.send(OAuthHTTPRequest(get: url, fields: fields))
        guard response.status == 200 else { return .missing("HTTP \(response.status)") }
        return response.object.map(Document.members)
            ?? .missing("its content is not one JSON object without repeated names")
    }
}

extension OAuthSettings {
    var lowercasedHosts: Set<String> { Set(allowedHosts.map { $0.lowercased() }) }

    /// Whether a host may be reached at any address and over plain http.
    func allows(_ host: String) -> Bool { lowercasedHosts.contains(host) }
}
