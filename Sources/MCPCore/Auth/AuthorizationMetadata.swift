/// The metadata of a protected resource (RFC 9728), as far as a client uses them.
struct ProtectedResourceMetadata: Sendable, Hashable {
    let resource: String
    let authorizationServers: [String]
    let scopes: [String]?
    /// Whether only tokens that are bound to a key are accepted.
    let requiresDPoP: Bool

    /// Reads the metadata.
    ///
    /// - Throws: `MetadataFault` if a member is missing or has a wrong type.
    init(_ members: JSONObject) throws(MetadataFault) {
        guard let resource = try MetadataFault.string("resource", members) else {
            throw MetadataFault(member: "resource")
        }
        self.resource = resource
        authorizationServers = try MetadataFault.strings("authorization_servers", members) ?? []
        scopes = try MetadataFault.strings("scopes_supported", members)
        requiresDPoP = try MetadataFault.bool("dpop_bound_access_tokens_required", members) ?? false
    }
}

/// The metadata of an authorization server (RFC 8414, OpenID Connect Discovery), as far as it is used.
struct AuthorizationServerMetadata: Sendable, Hashable {
    var issuer: String
    var authorizationEndpoint: String?
    var tokenEndpoint: String
    var registrationEndpoint: String?
    var revocationEndpoint: String?
    var introspectionEndpoint: String?
    var deviceAuthorizationEndpoint: String?
    var jwksURI: String?
    var scopes: [String]?
    var codeChallengeMethods: [String] = []
    /// Nil if they are not listed.
    var tokenAuthenticationMethods: [String]?
    var dpopAlgorithms: [String] = []
    /// Whether the id of a client may be the URL of its metadata.
    var supportsMetadataURLs = false
    /// Whether responses contain the issuer (RFC 9207).
    var sendsIssuer = false
    /// Whether nobody has published these metadata.
    var isAssumed = false

    /// The metadata that a server of 2025-03-26 without metadata has by default (AUTH-61).
    init(defaultsOf origin: String) {
        issuer = origin
        authorizationEndpoint = origin + "/authorize"
        tokenEndpoint = origin + "/token"
        registrationEndpoint = origin + "/register"
        codeChallengeMethods = ["S256"]
        isAssumed = true
    }

    /// Reads the metadata. Endpoints must be https, or http on this machine or on an allowed host (AUTH-10).
    ///
    /// - Throws: `MetadataFault` if a member is missing, has a wrong type or is not such a URL.
    init(_ members: JSONObject, allowedHosts: Set<String> = []) throws(MetadataFault) {
        func endpoint(_ name: String) throws(MetadataFault) -> String? {
            guard let text = try MetadataFault.string(name, members) else { return nil }
            guard let url = WebURL(text), url.fragment == nil,
                url.isConfidential || allowedHosts.contains(url.host)
            else { throw MetadataFault(member: name) }
            return text
        }
        guard let issuer = try MetadataFault.string("issuer", members) else {
            throw MetadataFault(member: "issuer")
        }
        guard let token = try endpoint("token_endpoint") else {
            throw MetadataFault(member: "token_endpoint")
        }
        self.issuer = issuer
        tokenEndpoint = token
        authorizationEndpoint = try endpoint("authorization_endpoint")
        registrationEndpoint = try endpoint("registration_endpoint")
        revocationEndpoint = try endpoint("revocation_endpoint")
        introspectionEndpoint = try endpoint("introspection_endpoint")
        deviceAuthorizationEndpoint = try endpoint("device_authorization_endpoint")
        jwksURI = try endpoint("jwks_uri")
        scopes = try MetadataFault.strings("scopes_supported", members)
        codeChallengeMethods = try MetadataFault.strings("code_challenge_methods_supported", members) ?? []
        tokenAuthenticationMethods = try MetadataFault.strings(
            "token_endpoint_auth_methods_supported", members)
        dpopAlgorithms = try MetadataFault.strings("dpop_signing_alg_values_supported", members) ?? []
        supportsMetadataURLs =
            try MetadataFault.bool("client_id_metadata_document_supported", members) ?? false
        sendsIssuer =
            try MetadataFault.bool("authorization_response_iss_parameter_supported", members) ?? false
    }

    /// Returns the URLs of the metadata of an issuer, in the order in which they are asked (AUTH-07); nil for
    /// an issuer that is not a URL without query and fragment.
    static func urls(issuer: String) -> [String]? {
        guard let url = WebURL(issuer), url.query == nil, url.fragment == nil else { return nil }
        let path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
        let wellKnown = url.origin + "/.well-known/"
        let first = [
            wellKnown + "oauth-authorization-server" + path, wellKnown + "openid-configuration" + path,
        ]
        return path.isEmpty ? first : first + [url.origin + path + "/.well-known/openid-configuration"]
    }
}

/// A member of metadata that is missing or cannot be used.
struct MetadataFault: Error, Sendable, Hashable {
    let member: String

    /// Returns a string; nil if the member is missing or null.
    static func string(_ name: String, _ members: JSONObject) throws(MetadataFault) -> String? {
        guard let value = members[name], !value.isNull else { return nil }
        guard let text = value.stringValue else { throw MetadataFault(member: name) }
        return text
    }

    static func bool(_ name: String, _ members: JSONObject) throws(MetadataFault) -> Bool? {
        guard let value = members[name], !value.isNull else { return nil }
        guard let bool = value.boolValue else { throw MetadataFault(member: name) }
        return bool
    }

    static func strings(_ name: String, _ members: JSONObject) throws(MetadataFault) -> [String]? {
        guard let value = members[name], !value.isNull else { return nil }
        guard let elements = value.arrayValue else { throw MetadataFault(member: name) }
        var strings: [String] = []
        for element in elements {
            guard let text = element.stringValue else { throw MetadataFault(member: name) }
            strings.append(text)
        }
        return strings
    }
}
