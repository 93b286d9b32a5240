/// The authorization of a server's callers by access tokens: each request over HTTP must present one (MCP
/// basic/authorization, "Resource server").
///
/// Give it to `ServerTransport.http` or `MCPServer.makeEndpoint`. Without it, a server accepts all requests
/// that its `AccessPolicy` allows. Requests for an `HTTPRequestHandler` beside the endpoint are not checked.
public struct ServerAuthorization: Sendable {
    /// The canonical URI of the server, which tokens must be issued for (AUTH-41): scheme and host in lower
    /// case, without a fragment.
    public let resource: String
    /// The issuers of the authorization servers; empty with static tokens only.
    public let authorizationServers: [String]
    /// The verifier of tokens.
    public let verifier: any TokenVerifier
    /// The scopes that each request requires.
    public let requiredScopes: [String]
    /// The scopes that the metadata of the resource lists: the required ones, and those that handlers
    /// require.
    public let supportedScopes: [String]
    /// The name of the resource for people.
    public let resourceName: String?
    /// What the callers may use; nil if every caller may use everything.
    public let rules: AccessRules?
    /// The processes of this machine that need no token, by the first rule that is about them.
    public let peers: [PeerRule]
    /// The rate of requests of each principal that has none of its own; nil for no limit.
    public let rate: RateLimit?
    /// Called for each decision about access, for an audit log, on any thread; must not wait.
    public let onAccess: (@Sendable (AccessEvent) -> Void)?
    /// Whether `onAccess` is called for access that is allowed, too.
    package var reportsAllowedAccess = true
    private let impliedScopes: [String: [String]]
    let location: ResourceLocation

    /// Creates the authorization of a server.
    ///
    /// - Parameters:
    ///   - resource: the URI of the server's endpoint, as clients know it: https, or http for loopback hosts.
    ///     It is never derived from a request.
    ///   - authorizationServers: the issuers of the tokens. With one or more, the server publishes the
    ///     metadata of the resource (RFC 9728), and challenges name its address.
    ///   - verifier: verifies the tokens.
    ///   - requiredScopes: the scopes that each request requires; a token without them is refused with 403.
    ///   - supportedScopes: further scopes for the metadata.
    ///   - impliedScopes: for a scope, others that it includes (AUTH-35).
    ///   - resourceName: a name for people, for the metadata.
    ///   - rules: what the callers may use. Their scopes are listed in the metadata.
    ///   - peers: see the property. The required scopes are not required of them.
    ///   - rate: see the property. A request beyond it is refused with 429 and Retry-After.
    ///   - onAccess: see the property.
    /// - Throws: `ServerAuthorizationError` when a URI or a scope cannot be used.
    public init(
        resource: String, authorizationServers: [String] = [], verifier: any TokenVerifier,
        requiredScopes: [String] = [], supportedScopes: [String] = [],
        impliedScopes: [String: [String]] = [:], resourceName: String? = nil,
        rules: AccessRules? = nil, peers: [PeerRule] = [], rate: RateLimit? = nil,
        onAccess: (@Sendable (AccessEvent) -> Void)? = nil
    ) throws(ServerAuthorizationError) {
        guard let location = ResourceLocation(resource) else { throw .badResource(resource) }
        for issuer in authorizationServers where ResourceLocation(issuer) == nil { throw .badIssuer(issuer) }
        var more: [String] = []
        for scope in supportedScopes + (rules?.rules ?? []).map(\.scope)
        where !requiredScopes.contains(scope) && !more.contains(scope) { more.append(scope) }
        for scope in requiredScopes + more + impliedScopes.keys + impliedScopes.values.joined()
            + peers.flatMap(\.scopes)
        {
            // AUTH-36
            guard ScopeSyntax.isScope(scope), scope != "offline_access" else { throw .badScope(scope) }
        }
        self.resource = location.uri
        self.authorizationServers = authorizationServers
        self.verifier = verifier
        self.requiredScopes = requiredScopes
        self.supportedScopes = requiredScopes + more
        self.impliedScopes = impliedScopes
        self.rules = rules
        self.peers = peers
        self.rate = rate
        self.onAccess = onAccess
        self.resourceName = resourceName
        self.location = location
    }

    /// Returns the scopes of a token together with all that they imply.
    func granted(by scopes: Set<String>) -> Set<String> {
        if impliedScopes.isEmpty { return scopes }
        var granted = scopes
        var open = Array(scopes)
        while let scope = open.popLast() {
            for implied in impliedScopes[scope] ?? [] where granted.insert(implied).inserted {
                open.append(implied)
            }
        }
        return granted
    }
}

/// The reason why an authorization cannot be used.
public enum ServerAuthorizationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The resource is not a usable URI.
    case badResource(String)
    /// An authorization server is not a usable URI.
    case badIssuer(String)
    /// Not a scope, or `offline_access`, which belongs to the authorization server.
    case badScope(String)

    /// What is wrong, in one line.
    public var description: String {
        let rule = "use https://HOST/PATH (http for loopback hosts) without user, query and fragment"
        return switch self {
        case .badResource(let text): "the resource \"\(text)\" cannot be used: \(rule)"
        case .badIssuer(let text): "the authorization server \"\(text)\" cannot be used: \(rule)"
        case .badScope(let text): "\"\(text)\" is not a scope of a resource"
        }
    }
}

/// The parts of the URI of a resource or an issuer.
struct ResourceLocation: Sendable, Hashable {
    /// The scheme and the authority in lower case.
    let origin: String
    /// The path; empty for none, and never `/` alone.
    let path: String

    var uri: String { origin + path }

    /// Parses `https://HOST[:PORT][/PATH]`, or `http://` for loopback hosts; returns nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard text.utf8.count <= 2048, parts.count == 2, parts[1].hasPrefix("//"),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.refused.contains($0) })
        else { return nil }
        let scheme = parts[0].lowercased()
        let rest = parts[1].dropFirst(2)
        let authority = rest.prefix { $0 != "/" }.lowercased()
        let bytes = ByteSlice(authority)
        guard unsafe bytes.withBytes({ Authority.isValid(unsafe ByteView($0), 0 ..< bytes.count) }),
            scheme == "https" || (scheme == "http" && Self.isLoopback(authority))
        else { return nil }
        origin = "\(scheme)://\(authority)"
        let path = String(rest.dropFirst(authority.count))
        self.path = path == "/" ? "" : path
    }

    /// The characters `"`, `#`, `<`, `>`, `?`, `@` and `\`.
    private static let refused: Set<UInt8> = [0x22, 0x23, 0x3C, 0x3E, 0x3F, 0x40, 0x5C]

    private static func isLoopback(_ authority: String) -> Bool {
        let host = withoutPort(authority)
        return ["127.0.0.1", "[::1]", "localhost"].contains(host) || host.hasSuffix(".localhost")
    }

    private static func withoutPort(_ authority: String) -> String {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return String(authority[...end])
        }
        return String(authority.prefix { $0 != ":" })
    }
}
