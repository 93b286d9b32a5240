/// The settings of an `OAuthAuthorizer`.
public struct OAuthSettings: Sendable {
    /// The identity of the client at authorization servers (AUTH-11).
    public enum Identity: Sendable {
        /// The URL of a client id metadata document if the authorization server supports it, and dynamic
        /// registration otherwise.
        case automatic(metadataURL: String? = nil)
        /// A client that was registered beforehand. With an issuer it is used with no other one (AUTH-16).
        case registered(OAuthClientIdentity, issuer: String? = nil)
    }

    /// The resource parameter (RFC 8707).
    public enum Resource: Sendable, Hashable {
        /// The resource of the server's metadata, or else its URL.
        case automatic
        /// Exactly this one.
        case exactly(String)
        /// None, for authorization servers that refuse the parameter.
        case omitted
    }

    /// The way in which access tokens are obtained.
    public enum Grant: Sendable {
        /// A user logs in (RFC 6749, section 4.1).
        case authorizationCode
        /// The client itself is authorized (RFC 6749, section 4.4). Its identity must be `.registered`, with
        /// a secret or with `clientKey` (AUTH-54).
        case clientCredentials
        /// A workload presents an assertion of its platform (RFC 7523). The closure returns it for each
        /// request; an assertion that was refused is not sent again (AUTH-59).
        case jwtBearer(assertion: @Sendable () async throws -> String)
        /// A user logs in on another device (RFC 8628). The closure shows the code; without one, the flow
        /// fails with `.loginRequired`.
        case device(show: (@Sendable (DeviceCode) async -> Void)?)
        /// An organization's identity provider decides (AUTH-56): its token is exchanged for an assertion
        /// there, and the assertion for an access token.
        case enterprise(IdentityProvider)
    }

    /// What a person needs to log in on another device (RFC 8628, section 3.2).
    public struct DeviceCode: Sendable, Hashable {
        /// The code to enter, in visible characters.
        public let userCode: String
        /// The page to visit; https, or http on this machine.
        public let page: String
        /// The page with the code filled in; nil if there is none.
        public let completePage: String?
        /// The issuer, for people.
        public let issuer: String
        /// The time in which the code must be entered.
        public let lifetime: Duration
    }

    /// An organization's identity provider, and what a client presents to it.
    public struct IdentityProvider: Sendable {
        /// The token endpoint of the identity provider; it is configured, never discovered.
        public var tokenEndpoint: String
        /// The client at the identity provider.
        public var client: OAuthClientIdentity
        /// Whether `subjectToken` returns a SAML 2.0 assertion; an ID token otherwise.
        public var isSAML: Bool
        /// Returns the token of the person who has logged in at the identity provider.
        public var subjectToken: @Sendable () async throws -> String

        /// Creates a description of an identity provider.
        public init(
            tokenEndpoint: String, client: OAuthClientIdentity, isSAML: Bool = false,
            subjectToken: @escaping @Sendable () async throws -> String
        ) {
            self.tokenEndpoint = tokenEndpoint
            self.client = client
            self.isSAML = isSAML
            self.subjectToken = subjectToken
        }
    }

    /// When access tokens are bound to a key (RFC 9449).
    public enum KeyBinding: Sendable, Hashable {
        /// When the server offers or demands it and the authorization server supports ES256.
        case automatic
        /// Always; a token that is not bound is refused.
        case always
        /// Never.
        case never
    }

    /// When access tokens are bound to a key: `.automatic` by default.
    public var dpop: KeyBinding
    /// Makes the keys and the signatures: the system's OpenSSL by default.
    public var signatures: any SignatureProvider

    /// The way in which access tokens are obtained: `.authorizationCode` by default.
    public var grant: Grant
    /// A key with which the client authenticates instead of a secret (`private_key_jwt`, AUTH-55); none by
    /// default.
    public var clientKey: (any SigningKey)?
    /// The name of the client for people who log in.
    public var clientName: String
    /// The identity of the client: `.automatic()` by default.
    public var identity: Identity
    /// The scopes to request; nil for those that the server names (AUTH-28).
    public var scopes: [String]?
    /// The issuer whose metadata is used even if the server names a slightly different one; nil for the
    /// server's choice.
    public var issuer: String?
    /// The resource parameter: `.automatic` by default.
    public var resource: Resource
    /// The longest time for a login with a user: 5 minutes by default.
    public var loginTimeout: Duration
    /// The longest time for a flow without a user, such as a refresh: 30 seconds by default.
    public var silentTimeout: Duration
    /// Hosts that may be reached at any address and over plain http; none by default.
    public var allowedHosts: Set<String>
    /// What is stored with new tokens, so that a program can later use the same settings, such as the grant
    /// and the file of a secret; none by default. They must contain no secrets.
    public var notes: [String: String]?

    /// Creates settings with the default values.
    public init(clientName: String = "swift-mcp-core") {
        self.clientName = clientName
        grant = .authorizationCode
        dpop = .automatic
        signatures = OpenSSLSignatures.system
        identity = .automatic()
        scopes = nil
        issuer = nil
        resource = .automatic
        loginTimeout = .seconds(300)
        silentTimeout = .seconds(30)
        allowedHosts = []
    }

    /// The secrets in the settings.
    var secrets: [String] {
        var found: [String?] = []
        if case .registered(let client, issuer: _) = identity { found.append(client.clientSecret) }
        if case .enterprise(let provider) = grant { found.append(provider.client.clientSecret) }
        return found.compactMap { $0 }
    }
}
