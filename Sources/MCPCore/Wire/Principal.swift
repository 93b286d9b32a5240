/// The identity that a request was authenticated as.
///
/// Handlers read it from `RequestContext.principal`. Sessions, tasks and request states belong to the
/// principal that created them; they do not exist for any other (AUTH-45).
public struct Principal: Sendable, Hashable {
    /// The way in which a principal was authenticated.
    public enum Kind: String, Sendable, Hashable {
        /// An access token of an authorization server.
        case oauth
        /// A static token of this server.
        case token
        /// The user of a process of this machine (`PeerRule`).
        case peer
        /// Nobody: a request without a token, where `AccessRules.anonymous` allows some.
        case anonymous
    }

    /// The way in which the principal was authenticated.
    public let kind: Kind
    /// The issuer of the access token; nil for other kinds.
    public let issuer: String?
    /// The subject: the user or the program that the issuer names, the name of a static token, or a user id.
    public let subject: String
    /// The OAuth client that the token was issued to, if it is known.
    public let clientID: String?
    /// The scopes that the token grants.
    public let scopes: Set<String>
    /// The time at which the token expires, in seconds since 1970; nil if it does not.
    public let expiresAt: Int64?
    /// All claims of the token; empty for other kinds.
    public let claims: JSONObject
    /// The patterns of the names that the caller may use beside those of its scopes (`AccessRules`). Nil: its
    /// scopes alone decide, and without rules it may use everything.
    public let allowedNames: [String]?
    /// The time after which the token is verified again, at most 5 min; nil for 5 min.
    public let verifiedFor: Duration?
    /// The rate of its requests; nil for that of `ServerAuthorization`.
    public let rate: RateLimit?

    /// Creates a principal, as a `TokenVerifier` does.
    public init(
        kind: Kind, issuer: String? = nil, subject: String, clientID: String? = nil, scopes: Set<String> = [],
        expiresAt: Int64? = nil, claims: JSONObject = [:], allowedNames: [String]? = nil,
        verifiedFor: Duration? = nil, rate: RateLimit? = nil
    ) {
        self.kind = kind
        self.issuer = issuer
        self.subject = subject
        self.clientID = clientID
        self.scopes = scopes
        self.expiresAt = expiresAt
        self.claims = claims
        self.allowedNames = allowedNames
        self.verifiedFor = verifiedFor
        self.rate = rate
    }

    /// The kind and the subject, such as `token:ci`, for logs.
    package var shown: String { "\(kind.rawValue):\(subject)" }

    /// Identifies the principal across tokens: the same after a refresh, and never derived from the token.
    ///
    /// The SHA-256 digest, in base64url, of the kind, the issuer, the subject and the client id, each with
    /// its length.
    public var key: String {
        var bytes: [UInt8] = []
        for part in [kind.rawValue, issuer ?? "", subject, clientID ?? ""] {
            unsafe withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) {
                unsafe bytes.append(contentsOf: $0)
            }
            bytes.append(contentsOf: part.utf8)
        }
        return Base64URL.encode(SHA256.hash(bytes).bytes)
    }
}
