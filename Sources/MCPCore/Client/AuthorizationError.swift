/// The reason why no access token could be obtained or used.
public struct AuthorizationError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure; the set is open.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind's name, for logs and programs.
        public let description: String

        /// The server requires a login, and none is stored that can be used.
        public static let loginRequired = Kind(description: "auth_required")
        /// The server requires scopes that were not granted.
        public static let insufficientScope = Kind(description: "insufficient_scope")
        /// The authorization server is not the one it should be: nothing was sent to it (AUTH-08, AUTH-24).
        public static let issuerMismatch = Kind(description: "issuer_mismatch")
        /// The metadata is about another resource: nothing was sent (AUTH-06).
        public static let resourceMismatch = Kind(description: "resource_mismatch")
        /// The client has no identity at the authorization server, and could not be registered.
        public static let registrationFailed = Kind(description: "registration_failed")
        /// The authorization server refused the login or the token request.
        public static let tokenRefused = Kind(description: "token_refused")
        /// The user did not complete the login in time.
        public static let timedOut = Kind(description: "login_timed_out")
        /// The login was cancelled.
        public static let cancelled = Kind(description: "cancelled")
        /// An authorization server or metadata cannot be reached, or its address is not allowed.
        public static let unreachable = Kind(description: "unreachable")
        /// Metadata or a response of the authorization server is malformed, or breaks a limit.
        public static let malformed = Kind(description: "malformed")
        /// The stored authorizations cannot be read or written.
        public static let store = Kind(description: "store")
        /// A setting cannot be used.
        public static let usage = Kind(description: "usage")
    }

    /// What would resolve a failure. A program can word its own hint by it, such as the name of a flag; cases
    /// may be added.
    public enum Remedy: Sendable, Hashable {
        /// A login; with these scopes if there are any.
        case login(scopes: [String])
        /// The id of a client that was registered by hand, and its secret if it has one.
        case registeredClient
        /// The secret or the key of the client.
        case clientSecret
        /// This issuer, if it is the right one.
        case issuer(String)
        /// A token that the operator of the server has issued.
        case issuedToken
        /// The permission to reach this host at any address and over plain http.
        case allowedHost(String)
        /// Another port for the redirect.
        case callbackPort
        /// The registration of this redirect URI for the client, or one that is registered.
        case redirectURI(String)
        /// A place for logins.
        case store
    }

    /// The kind of the failure.
    public var kind: Kind
    /// One sentence for a person. Contains no secret.
    public var message: String
    /// Additional lines.
    public var details: [String]
    /// Advice on how to resolve the failure.
    public var hint: String?
    /// What would resolve the failure, if it is one of a few things.
    public var remedy: Remedy?
    /// The code with which the authorization server refused the request (RFC 6749, sections 4.1.2.1, 5.2).
    var refusal: String?

    /// Creates an error.
    public init(
        _ kind: Kind, _ message: String, details: [String] = [], hint: String? = nil, remedy: Remedy? = nil
    ) {
        self.kind = kind
        self.message = message
        self.details = details
        self.hint = hint
        self.remedy = remedy
    }

    /// The same error without secrets that others have repeated.
    func masked(by secrets: KnownSecrets) -> AuthorizationError {
        var error = self
        error.message = secrets.mask(message)
        error.details = details.map { secrets.mask($0) }
        error.hint = hint.map { secrets.mask($0) }
        return error
    }

    /// The message, the details and the hint, one per line.
    public var description: String {
        ([message] + details.map { "  " + $0 } + (hint.map { ["hint: " + $0] } ?? [])).joined(separator: "\n")
    }
}
