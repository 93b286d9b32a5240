/// A verifier that hands each token to the first of several verifiers that decides about it.
///
/// The decision is final: a token that its verifier refuses is not shown to the next one. Put `StaticTokens`,
/// which recognizes its tokens by their prefix, before verifiers that decide about all tokens.
public struct FirstVerifier: TokenVerifier {
    private let verifiers: [any TokenVerifier]

    /// Creates a verifier from others, in the order in which they are asked.
    public init(_ verifiers: any TokenVerifier...) { self.verifiers = verifiers }

    /// Creates a verifier from others, in the order in which they are asked.
    public init(_ verifiers: [any TokenVerifier]) { self.verifiers = verifiers }

    /// Returns the principal that the responsible verifier finds.
    ///
    /// - Throws: the refusal of that verifier, or `unknown` when no verifier decides about the token.
    public func verify(_ token: PresentedToken) async throws(TokenRefusal) -> Principal {
        guard let verifier = verifiers.first(where: { $0.decides(about: token) }) else {
            throw .invalid(.unknown)
        }
        return try await verifier.verify(token)
    }

    /// Returns whether any of the verifiers decides about the token.
    public func decides(about token: PresentedToken) -> Bool {
        verifiers.contains { $0.decides(about: token) }
    }

    /// Changes when the generation of any of the verifiers does.
    public var generation: UInt64 {
        var sum: UInt64 = 0
        for verifier in verifiers { sum &+= verifier.generation }
        return sum
    }

    /// Has all of the verifiers notify the observer.
    public func observe(_ observer: VerifierObserver) {
        for verifier in verifiers { verifier.observe(observer) }
    }
}
