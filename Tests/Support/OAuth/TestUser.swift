package import MCPCore
import Synchronization

/// A person with a browser that loads the page, follows nothing and takes the redirect.
package final class TestUser: Sendable {
    private struct State {
        var pages: [String] = []
        var opened: [String?] = []
        var isAbsent = false
        var isPortBusy = false
        var change: (@Sendable (String) -> String)?
    }

    private let state = Mutex(State())
    private let ports = Mutex(1)

    package init() {}

    /// The pages that were shown.
    package var pages: [String] { state.withLock { $0.pages } }
    /// The redirect URIs with which a place was opened.
    package var opened: [String?] { state.withLock { $0.opened } }
    /// Does not log in from now on.
    package func leave(_ isAbsent: Bool = true) { state.withLock { $0.isAbsent = isAbsent } }
    /// Makes the port of registered redirect URIs busy.
    package func occupyPort() { state.withLock { $0.isPortBusy = true } }
    /// Changes the redirects.
    package func change(_ change: @escaping @Sendable (String) -> String) {
        state.withLock { $0.change = change }
    }

    package var user: AuthorizationUser {
        AuthorizationUser { redirectURI throws(AuthorizationError) in
            let isBusy = self.state.withLock { state in
                state.opened.append(redirectURI)
                return state.isPortBusy && redirectURI != nil
            }
            if isBusy { throw AuthorizationError(.usage, "the port is busy") }
            let number = self.ports.withLock { port in
                port += 1
                return port
            }
            return Visit(owner: self, redirectURI: redirectURI ?? "http://127.0.0.1:\(number)/callback")
        }
    }

    private struct Visit: AuthorizationUser.Visit {
        let owner: TestUser
        let redirectURI: String

        func redirect(
            from page: AuthorizationUser.Page, accepts: @escaping @Sendable (String) -> Bool
        ) async throws(AuthorizationError) -> String {
            let (isAbsent, change) = owner.state.withLock { state in
                state.pages.append(page.url)
                return (state.isAbsent, state.change)
            }
            if isAbsent { throw AuthorizationError(.timedOut, "nobody logged in") }
            let response = try await HTTPFetcher(for: page.url).send(OAuthHTTPRequest(get: page.url))
            let redirect = response.fields["Location"] ?? ""
            let changed = change?(redirect) ?? redirect
            guard accepts(changed) else { throw AuthorizationError(.timedOut, "no redirect was accepted") }
            return changed
        }

        func close() {}
    }
}
