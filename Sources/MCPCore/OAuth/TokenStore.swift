/// Storage for registrations and tokens: `FileTokenStore`, `MemoryTokenStore`, or one that a program
/// supplies.
public protocol TokenStore: Sendable {
    /// Returns what is stored under a key; nil if nothing is.
    ///
    /// - Throws: `AuthorizationError` of the kind `.store`.
    func read(_ key: TokenKey) async throws(AuthorizationError) -> StoredAuthorization?

    /// Runs `body` with what is stored under a key, and stores what it leaves there; nil deletes the entry.
    ///
    /// No other update of the same entry runs at the same time, also in other processes that share the
    /// storage. What `body` has changed is stored even if it throws.
    func update<Result: Sendable>(
        _ key: TokenKey,
        _ body: @Sendable (inout StoredAuthorization?) async throws(AuthorizationError) -> Result
    ) async throws(AuthorizationError) -> Result

    /// Returns the key of the authorization that a server's URL was last used with, so that the first request
    /// can present a token; nil if there is none.
    func key(forServer url: String) async throws(AuthorizationError) -> TokenKey?

    /// Remembers the key for a server's URL; nil forgets it.
    func setKey(_ key: TokenKey?, forServer url: String) async throws(AuthorizationError)

    /// Returns the keys of all that is stored, in any order; also of logins that no server's URL leads to any
    /// more.
    func keys() async throws(AuthorizationError) -> [TokenKey]

    /// Returns all remembered servers with their keys, sorted by URL.
    func servers() async throws(AuthorizationError) -> [(url: String, key: TokenKey)]
}

/// The key of a stored authorization: registrations and tokens never leave their issuer (AUTH-15).
public struct TokenKey: Sendable, Hashable, Codable {
    /// The issuer of the authorization server, byte for byte.
    public let issuer: String
    /// The resource that the tokens are for, as it is sent; empty if none is sent.
    public let resource: String
    /// The configured client id, or another name for the configured identity; empty for a client that
    /// registers itself.
    public let client: String

    /// Creates a key.
    public init(issuer: String, resource: String, client: String = "") {
        self.issuer = issuer
        self.resource = resource
        self.client = client
    }
}

/// What is stored about one client at one authorization server.
public struct StoredAuthorization: Sendable, Codable {
    /// The registration of the client, or its metadata document; nil if its identity is configured.
    public var registration: OAuthClientIdentity?
    /// The tokens; nil after a logout.
    public var tokens: StoredTokens?
    /// The number of the tokens; it grows with each token response.
    public var generation: Int
    /// The last login whose redirect never came: the registration may no longer exist.
    public var isDoubtful: Bool
    /// What the program that logged in wrote down, such as the grant and the file of a secret; see
    /// `OAuthSettings.notes`.
    public var notes: [String: String]?

    /// Creates an entry without tokens.
    public init(registration: OAuthClientIdentity? = nil) {
        self.registration = registration
        tokens = nil
        generation = 0
        isDoubtful = false
    }
}

/// The identity of a client at an authorization server.
public struct OAuthClientIdentity: Sendable, Codable, CustomStringConvertible {
    /// The client id.
    public var clientID: String
    /// The secret; nil for a public client.
    public var clientSecret: String?
    /// The time at which the secret expires, in seconds since 1970; nil for never.
    public var secretExpiresAt: Int64?
    /// The `token_endpoint_auth_method` that was registered; nil if none was named.
    public var authenticationMethod: String?
    /// The redirect URI that was registered.
    public var redirectURI: String?
    /// The scopes that were registered; nil for no restriction that is known.
    public var scopes: [String]?

    /// Creates an identity.
    public init(
        clientID: String, clientSecret: String? = nil, secretExpiresAt: Int64? = nil,
        authenticationMethod: String? = nil, redirectURI: String? = nil, scopes: [String]? = nil
    ) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.secretExpiresAt = secretExpiresAt
        self.authenticationMethod = authenticationMethod
        self.redirectURI = redirectURI
        self.scopes = scopes
    }

    /// Whether the client may request these scopes, as far as it is known.
    func covers(_ requested: [String]?) -> Bool {
        guard let scopes, let requested else { return true }
        return requested.allSatisfy(scopes.contains)
    }

    /// The client id alone.
    public var description: String { "client \(clientID)" }
}

/// The tokens of a token response (RFC 6749, section 5.1).
public struct StoredTokens: Sendable, Codable, CustomStringConvertible {
    /// The access token.
    public var accessToken: String
    /// The refresh token; nil if there is none.
    public var refreshToken: String?
    /// `Bearer` or `DPoP`.
    public var scheme: String
    /// The time at which the access token expires, in seconds since 1970; nil if it is not known.
    public var expiresAt: Int64?
    /// The lifetime of the access token in seconds; nil if it is not known.
    public var lifetime: Int64?
    /// The scopes that were requested, in order.
    public var requestedScopes: [String]
    /// The scopes that were granted, in order.
    public var grantedScopes: [String]
    /// The private key to which the tokens are bound (RFC 9449), as `SigningKey.export()` returns it.
    public var dpopKey: [UInt8]?

    /// Creates tokens.
    public init(
        accessToken: String, refreshToken: String? = nil, scheme: String = "Bearer", expiresAt: Int64? = nil,
        lifetime: Int64? = nil, requestedScopes: [String] = [], grantedScopes: [String] = [],
        dpopKey: [UInt8]? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scheme = scheme
        self.expiresAt = expiresAt
        self.lifetime = lifetime
        self.requestedScopes = requestedScopes
        self.grantedScopes = grantedScopes
        self.dpopKey = dpopKey
    }

    /// A constant, so that no log shows a token.
    public var description: String { "(tokens)" }
}
