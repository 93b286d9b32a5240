/// Verifies the access tokens that clients present to a server.
///
/// An embedder can supply its own; `JWTVerifier` and `StaticTokens` are those of this library. A verifier is
/// called for each token that is not in the server's cache of verified tokens, on any thread and for several
/// tokens at a time. A principal is cached for 5 min, or until it expires; a definite refusal for 10 s.
public protocol TokenVerifier: Sendable {
    /// Returns the principal that a token stands for.
    ///
    /// The task is cancelled after 5 s, when the request is answered with 503. A verifier that then does not
    /// return keeps one of the 64 places for verifications.
    ///
    /// - Throws: `TokenRefusal.invalid` when the token is not good for this server, and
    ///   `TokenRefusal.unavailable` when that cannot be found out now.
    func verify(_ token: PresentedToken) async throws(TokenRefusal) -> Principal

    /// Returns whether this verifier decides about a token, judged by its form alone. `FirstVerifier` asks
    /// it; must not wait. By default true.
    func decides(about token: PresentedToken) -> Bool

    /// A number that changes when a token that was good may no longer be, such as a revoked one: the server
    /// then forgets the tokens that it has verified. By default 0, which never changes.
    ///
    /// Read for each request; must not wait.
    var generation: UInt64 { get }

    /// Keeps an observer weakly, and notifies it after each change of `generation`. By default it does
    /// neither: open streams of a token that is no longer valid then end within 60 s.
    func observe(_ observer: VerifierObserver)
}

extension TokenVerifier {
    /// Returns true for every token.
    public func decides(about token: PresentedToken) -> Bool { true }

    /// Always 0.
    public var generation: UInt64 { 0 }

    /// Does nothing.
    public func observe(_ observer: VerifierObserver) {}
}

/// An access token of a request, with the resource that it has to be for.
public struct PresentedToken: Sendable, CustomStringConvertible {
    /// The token, exactly as presented.
    public let value: String
    /// The canonical URI of this server, which the token's audience must contain (AUTH-41).
    public let resource: String

    /// Creates a presented token.
    public init(_ value: String, resource: String) {
        self.value = value
        self.resource = resource
    }

    /// A constant, so that no log shows a token (AUTH-43).
    public var description: String { "(a token)" }
}

/// The reason why a token is refused.
public enum TokenRefusal: Error, Sendable, Hashable {
    /// The token is not good for this server: the request is refused with 401 and `invalid_token`.
    case invalid(Fault)
    /// The token cannot be verified now, for example because the authorization server does not respond: the
    /// request is refused with 503.
    case unavailable

    /// A fault of a token, as its challenge describes it. Nothing else about the token is told.
    public enum Fault: String, Sendable, Hashable {
        /// Not a token that this server can read.
        case malformed = "the token is malformed"
        /// Unknown, revoked, or not signed by a trusted key.
        case unknown = "the token is not known"
        /// Expired.
        case expired = "the token has expired"
        /// Not valid yet.
        case early = "the token is not valid yet"
        /// Issued for another server.
        case audience = "the token is for another resource"
    }
}
