import MCPCore

/// The settings for the authorization of callers over HTTP.
struct AuthSettings: Sendable, Hashable {
    /// What one scope allows, and which other scopes it includes.
    struct Scope: Sendable, Hashable {
        var name: String
        var allow: [String] = []
        var implies: [String] = []
    }

    /// How the tokens of one issuer are verified.
    struct Issuer: Sendable, Hashable {
        enum Keys: Sendable, Hashable {
            /// At the address that the issuer's metadata name.
            case discovered
            case url(String)
            /// The text of a file, which was checked.
            case text(String)
        }

        var name: String
        var audiences: [String] = []
        var algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases
        var skew: Duration = .seconds(30)
        var strictType = false
        var keys = Keys.discovered
    }

    /// How tokens that are not JWTs are verified.
    struct Introspection: Sendable, Hashable {
        var issuer: String
        var endpoint: String?
        var clientID: String
        var secret: Redacted<String>
        var serverScoped = false
    }

    /// The URI of the endpoint as clients know it; `nil` on the loopback interface, where it is derived.
    var resource: String?
    var authorizationServers: [String] = []
    var required: [String] = []
    var scopes: [Scope] = []
    var anonymous: [String] = []
    /// The file of the static tokens.
    var tokens: String?
    var issuers: [Issuer] = []
    var introspection: Introspection?
    /// The processes of this machine that need no token.
    var peers: [PeerRule] = []
    /// The rate of requests of each caller that has none of its own.
    var rate: RateLimit?

    /// The rules about names; `nil` if every caller may use everything.
    var rules: AccessRules? {
        if scopes.isEmpty, anonymous.isEmpty { return nil }
        return AccessRules(scopes.map { .init(scope: $0.name, allow: $0.allow) }, anonymous: anonymous)
    }

    var impliedScopes: [String: [String]] {
        Dictionary(scopes.filter { !$0.implies.isEmpty }.map { ($0.name, $0.implies) }) { $1 }
    }

    /// The host that `Host` may name beside those of this machine.
    var host: String? {
        guard let authority = resource?.split(separator: "/").dropFirst().first else { return nil }
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return String(authority[...end])
        }
        return String(authority.prefix { $0 != ":" })
    }

    /// The path that clients know the endpoint by, without a slash at its end; nil if it is one of the
    /// server: `/mcp`, and with client-side tools that of a channel.
    func foreignPath(hasChannels: Bool) -> String? {
        // Behind the scheme and the host.
        guard let parts = resource?.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false),
            parts.count >= 3
        else { return nil }
        var path = "/" + (parts.count > 3 ? parts[3] : "")
        while path.hasSuffix("/"), path != "/" { path.removeLast() }
        return path == "/mcp" || hasChannels && path.hasPrefix("/mcp/channels/") ? nil : path
    }

    /// The port at which clients reach the resource over TLS; nil for one without TLS.
    var securePort: UInt16? { port(of: "https://", usually: 443) }

    /// The port at which clients reach the resource without TLS; nil for one with TLS.
    var plainPort: UInt16? { port(of: "http://", usually: 80) }

    private func port(of scheme: String, usually usual: UInt16) -> UInt16? {
        guard let resource, resource.lowercased().hasPrefix(scheme) else { return nil }
        let authority = resource.dropFirst(scheme.count).prefix { $0 != "/" }
        return UInt16(authority.split(separator: ":").last ?? "") ?? usual
    }
}
