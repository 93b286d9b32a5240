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

    /// Creates settings with the default values.
    public init(clientName: String = "swift-mcp-core") {
        self.clientName = clientName
        identity = .automatic()
        scopes = nil
        issuer = nil
        resource = .automatic
        loginTimeout = .seconds(300)
        silentTimeout = .seconds(30)
        allowedHosts = []
    }
}
