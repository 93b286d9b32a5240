/// The authentication of a client at the endpoints of an authorization server (RFC 6749, section 2.3).
enum ClientAuthentication: Sendable, Hashable {
    case basic, post, none, privateKeyJWT

    private static let names: [String: ClientAuthentication] = [
        "client_secret_basic": .basic, "client_secret_post": .post, "none": .none,
        "private_key_jwt": .privateKeyJWT,
    ]

    /// Selects the method: the one that was registered or configured, or one that the server lists.
    ///
    /// - Parameter listed: the methods of the authorization server; nil if it lists none.
    init(_ identity: OAuthClientIdentity, hasKey: Bool, listed: [String]?) {
        let isPublic = listed.map { $0.allSatisfy { $0 == "none" } && !$0.isEmpty } ?? false
        let named = identity.authenticationMethod.flatMap { Self.names[$0] }
        if hasKey, named == nil || named == .privateKeyJWT {
            self = .privateKeyJWT
        } else if identity.clientSecret == nil || isPublic {
            self = .none
        } else if let named, named != .privateKeyJWT {
            self = named
        } else {
            let basic = listed?.contains("client_secret_basic") ?? true
            self = !basic && listed?.contains("client_secret_post") == true ? .post : .basic
        }
    }

    /// Adds the authentication to a form and its header fields.
    func apply(
        _ identity: OAuthClientIdentity, key: (any SigningKey)?, issuer: String, now: WallTime,
        to form: inout [(name: String, value: String)], _ fields: inout HeaderFields
    ) throws(AuthorizationError) {
        switch self {
        case .none: form.append(("client_id", identity.clientID))
        case .post:
            form.append(("client_id", identity.clientID))
            form.append(("client_secret", identity.clientSecret ?? ""))
        case .basic:
            // Not a credential. Some authorization servers look the client up by it, such as that of the
            // Python SDK.
            form.append(("client_id", identity.clientID))
            // RFC 6749, section 2.3.1: both are encoded before they are joined.
            let pair =
                FormCoding.encode(identity.clientID) + ":" + FormCoding.encode(identity.clientSecret ?? "")
            fields.append(sanitizing: "Authorization", "Basic " + Base64.encode(Array(pair.utf8)))
        case .privateKeyJWT:
            guard let key else { return }
            let assertion = try ClientAssertion.make(
                client: identity.clientID, audience: issuer, key: key, now: now)
            form.append(("client_assertion_type", ClientAssertion.type))
            form.append(("client_assertion", assertion))
        }
    }
}

/// The assertion with which a client proves that it has its key (RFC 7523, section 2.2).
enum ClientAssertion {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// The lifetime in seconds.
    static let lifetime: Int64 = 300

    /// Returns an assertion for one request (AUTH-55).
    static func make(
        client: String, audience: String, key: any SigningKey, now: WallTime
    ) throws(AuthorizationError) -> String {
        let issuedAt = now.secondsSinceEpoch
        let claims: JSONValue = [
            "iss": .string(client), "sub": .string(client), "aud": .string(audience),
            "iat": JSONValue(issuedAt), "exp": JSONValue(issuedAt + lifetime),
            "jti": .string(Base64URL.encode(SystemRandom().bytes(16))),
        ]
        return try sign(header: ["typ": "JWT"], claims, key)
    }

    /// Returns a JWT in compact form; `alg` is that of the key.
    static func sign(
        header: JSONObject, _ claims: JSONValue, _ key: any SigningKey
    ) throws(AuthorizationError) -> String {
        let algorithm: SignatureAlgorithm =
            switch key.publicKey {
            case .rsa: .rs256
            case .p256: .es256
            case .ed25519: .edDSA
            }
        var header = header
        header.append("alg", .string(algorithm.rawValue))
        let parts = [JSONValue.object(header), claims].map { Base64URL.encode(Array($0.serialized().utf8)) }
        let input = parts.joined(separator: ".")
        do throws(SignatureError) {
            return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), by: algorithm))
        } catch {
            throw AuthorizationError(
                .usage, "the client cannot sign: \(error.message)", details: error.details, hint: error.hint)
        }
    }
}
