/// A source of credentials for requests over HTTP: `OAuthAuthorizer`, or one that a program supplies.
///
/// Its methods are called on any thread and for several requests at a time. The calling task is cancelled
/// when its request is abandoned; work that other requests wait for must then go on.
public protocol RequestAuthorizer: Sendable {
    /// Returns the credentials for a request that is about to be sent; `.none` if there are none yet.
    ///
    /// - Throws: `AuthorizationError`; the request is then not sent.
    func authorization(for request: AuthorizedRequest) async throws(AuthorizationError)
        -> RequestAuthorization

    /// Responds to a request that the server refused with 401 or 403, and returns whether the request should
    /// be sent again with new credentials.
    ///
    /// - Throws: `AuthorizationError`, with which the request then fails. A request for which this returns
    ///   false fails with `ClientError.Kind.authentication`.
    func respond(to refusal: AuthorizationRefusal) async throws(AuthorizationError) -> Bool

    /// A name for whom the credentials stand, which stays the same when tokens are renewed; nil for nobody.
    /// Cached responses and remembered servers are kept apart by it (AUTH-46). It is not a secret.
    var identity: String? { get }

    /// Returns a text without the secrets that this authorizer knows, such as tokens that a server repeats in
    /// an error. The client removes the fields of `authorization(for:)` itself.
    func masking(_ text: String) -> String
}

extension RequestAuthorizer {
    /// Returns the text as it is.
    public func masking(_ text: String) -> String { text }
}

/// A request over HTTP, as far as its credentials depend on it.
public struct AuthorizedRequest: Sendable {
    /// The HTTP method.
    public let httpMethod: String
    /// The URL without a fragment.
    public let url: String
    /// The JSON-RPC method; empty for a request without a message, such as a GET.
    public let method: String
    /// The name of the tool or prompt, the URI of the resource or the id of the task; nil for other methods.
    public let name: String?
    /// The URL of the MCP server. It differs from `url` for the messages to a server of 2024-11-05, which
    /// names the place for them.
    public let server: String

    /// Creates a description of a request.
    public init(
        httpMethod: String, url: String, method: String = "", name: String? = nil, server: String? = nil
    ) {
        self.httpMethod = httpMethod
        self.url = url
        self.method = method
        self.name = name
        self.server = server ?? url
    }
}

/// The credentials of one request.
public struct RequestAuthorization: Sendable, CustomStringConvertible {
    /// Header fields, such as `Authorization`; traces mask their values.
    public let fields: [(name: String, value: String)]
    /// The number of the credentials; newer ones have greater numbers. 0 for none.
    public let generation: Int

    /// Creates credentials.
    public init(fields: [(name: String, value: String)], generation: Int) {
        self.fields = fields
        self.generation = generation
    }

    /// No credentials.
    public static let none = RequestAuthorization(fields: [], generation: 0)

    /// The names of the fields; a constant for their values.
    public var description: String {
        fields.isEmpty ? "(no credentials)" : fields.map(\.name).joined(separator: ", ") + ": [redacted]"
    }
}

/// A request that the server refused because of its credentials.
public struct AuthorizationRefusal: Sendable {
    /// The request.
    public let request: AuthorizedRequest
    /// The status: 401 or 403.
    public let status: Int
    /// The values of the `WWW-Authenticate` fields, in order.
    public let challenges: [String]
    /// The value of the `DPoP-Nonce` field (RFC 9449, section 9).
    public let dpopNonce: String?
    /// The number of the credentials that the request presented; see `RequestAuthorization.generation`.
    public let generation: Int

    /// Creates a refusal.
    public init(
        request: AuthorizedRequest, status: Int, challenges: [String], dpopNonce: String? = nil,
        generation: Int
    ) {
        self.request = request
        self.status = status
        self.challenges = challenges
        self.dpopNonce = dpopNonce
        self.generation = generation
    }
}
