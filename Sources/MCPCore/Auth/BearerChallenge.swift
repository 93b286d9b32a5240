/// The challenges of a protected resource (RFC 6750, section 3; RFC 9728, section 5.1), and the document that
/// they refer to.
struct BearerChallenge: Sendable {
    /// The well-known path of the metadata of a resource at the root of its origin.
    static let wellKnownPath = "/.well-known/oauth-protected-resource"

    private let metadataAddress: String?
    private let requiredScopes: [String]

    init(_ authorization: ServerAuthorization) {
        let location = authorization.location
        metadataAddress =
            authorization.authorizationServers.isEmpty
            ? nil : location.origin + Self.wellKnownPath + location.path
        requiredScopes = authorization.requiredScopes
    }

    /// For a request without a token: what to do, and no error (AUTH-51).
    var missing: String { text(error: nil, description: nil, scopes: requiredScopes) }

    func invalid(_ fault: TokenRefusal.Fault) -> String {
        text(error: "invalid_token", description: fault.rawValue, scopes: requiredScopes)
    }

    /// For a token that does not grant enough: names all scopes of the operation (AUTH-34).
    func insufficient(for scopes: [String] = []) -> String {
        text(
            error: "insufficient_scope", description: nil,
            scopes: requiredScopes + scopes.filter { !requiredScopes.contains($0) })
    }

    private func text(error: String?, description: String?, scopes: [String]) -> String {
        var parameters: [String] = []
        if let error { parameters.append("error=\"\(error)\"") }
        if let description { parameters.append("error_description=\"\(description)\"") }
        if let metadataAddress { parameters.append("resource_metadata=\"\(metadataAddress)\"") }
        let scopes = scopes.filter(ScopeSyntax.isScope)
        if !scopes.isEmpty { parameters.append("scope=\"\(scopes.joined(separator: " "))\"") }
        // A challenge has at least one parameter (RFC 6750, section 3).
        if parameters.isEmpty { parameters.append("realm=\"mcp\"") }
        return "Bearer " + parameters.joined(separator: ", ")
    }
}

extension ServerAuthorization {
    /// The metadata of the resource (RFC 9728, section 2) as JSON; nil with static tokens only, because a
    /// client could not do anything with it.
    func metadata(defaultName: String) -> String? {
        guard !authorizationServers.isEmpty else { return nil }
        var members: [(key: String, value: JSONValue)] = [
            ("resource", .string(resource)),
            ("authorization_servers", .array(authorizationServers.map { .string($0) })),
        ]
        if !supportedScopes.isEmpty {
            members.append(("scopes_supported", .array(supportedScopes.map { .string($0) })))
        }
        members.append(("bearer_methods_supported", ["header"]))
        members.append(("resource_name", .string(resourceName ?? defaultName)))
        return String(RawJSON(.object(JSONObject(members))).bytes)
    }
}
