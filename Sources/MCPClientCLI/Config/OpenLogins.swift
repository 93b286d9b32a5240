import MCPCore
import Synchronization

/// The logins that requests of this process use.
final class OpenLogins: Sendable {
    private struct Login { weak var authorizer: OAuthAuthorizer? }
    private let logins = Mutex<[Login]>([])

    func add(_ authorizer: OAuthAuthorizer) {
        logins.withLock { logins in
            logins.removeAll { $0.authorizer == nil }
            logins.append(Login(authorizer: authorizer))
        }
    }

    /// Waits for renewals that are under way, before the process ends.
    func finish() async {
        for authorizer in logins.withLock({ $0.compactMap(\.authorizer) }) {
            await authorizer.finishRenewal()
        }
    }
}
