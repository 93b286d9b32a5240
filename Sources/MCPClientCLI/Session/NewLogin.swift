import MCPCore
import Synchronization

/// The tokens of a login that has just been made: a server that refuses them starts no further login.
final class NewLogin: RequestAuthorizer {
    private let authorizer: OAuthAuthorizer
    private let refused = Mutex(false)

    init(_ authorizer: OAuthAuthorizer) { self.authorizer = authorizer }

    /// Whether the server has refused the tokens.
    var isRefused: Bool { refused.withLock { $0 } }

    var identity: String? { authorizer.identity }

    func masking(_ text: String) -> String { authorizer.masking(text) }

    func authorization(
        for request: AuthorizedRequest
    ) async throws(AuthorizationError) -> RequestAuthorization {
        try await authorizer.authorization(for: request)
    }

    func respond(to refusal: AuthorizationRefusal) async throws(AuthorizationError) -> Bool {
        // The tokens are good, and the proof lacks a nonce (RFC 9449, section 9).
        let wantsNonce =
            refusal.dpopNonce != nil && refusal.challenges.contains { $0.contains("use_dpop_nonce") }
        if refusal.status == 401, refusal.generation > 0, !wantsNonce {
            refused.withLock { $0 = true }
            return false
        }
        do throws(AuthorizationError) { return try await authorizer.respond(to: refusal) } catch {
            // They have too few scopes, and more cannot be had.
            if error.kind == .insufficientScope { refused.withLock { $0 = true } }
            throw error
        }
    }
}
