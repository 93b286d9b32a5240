import MCPCore
import Synchronization

/// The part of `doctor` that walks the discovery of a login. Nothing is registered, stored or opened.
struct DoctorLogin {
    let context: CommandContext
    let url: String

    /// What a server requires of its clients.
    enum Outcome {
        /// It refuses nothing, or nothing that a login would change.
        case none
        /// It requires a login, which is possible.
        case needed(found: [String], steps: [String])
        case failed(Failure)
    }

    /// The requests of a flow, in order. Anything but a look at metadata is refused.
    private final class Steps: OAuthHTTP {
        private let http: any OAuthHTTP
        private let server: String
        private let steps = Mutex<[String]>([])

        init(_ http: any OAuthHTTP, server: String) {
            self.http = http
            self.server = server
        }

        var all: [String] { steps.withLock { $0 } }

        /// Whether anything but the server's response was asked for.
        var hasLeftServer: Bool { all.count > 1 }

        func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
            guard
                !request.isPost
                    || OAuthAuthorizer.storeName(of: request.url) == OAuthAuthorizer.storeName(of: server)
            else {
                throw AuthorizationError(.usage, "doctor sends nothing to \(MaskedText.url(request.url))")
            }
            do throws(AuthorizationError) {
                let response = try await http.send(request)
                note(request, "HTTP \(response.status)")
                return response
            } catch {
                note(request, error.message)
                throw error
            }
        }

        private func note(_ request: OAuthHTTPRequest, _ outcome: String) {
            let line =
                "\(request.isPost ? "POST" : "GET") \(MaskedText.url(request.url)): "
                + MaskedText.urls(in: outcome)
            steps.withLock { $0.append(TerminalText.inline(line, limit: 1000)) }
        }
    }

    func outcome() async throws(Failure) -> Outcome {
        let logins = Logins(environment: context.environment, options: context.invocation.options)
        let (authorizer, steps) = try logins.doctor(for: url) { Steps($0, server: $1) }
        let error: AuthorizationError
        do throws(AuthorizationError) {
            guard try await authorizer.login() != nil else { return .none }
            return .needed(found: [], steps: steps.all)
        } catch let thrown { error = thrown }
        // The server itself gave no response that could be understood: that is not about a login.
        if !steps.hasLeftServer, [.unreachable, .malformed, .timedOut].contains(error.kind) { return .none }
        // A person is what a complete discovery leads to.
        if case .login = error.remedy {
            return .needed(
                found: error.details.map { TerminalText.inline(MaskedText.urls(in: $0), limit: 1000) },
                steps: steps.all)
        }
        let invocation = context.invocation
        var failure = FailureMapping.authorization(
            error, status: nil, invocation.options, login: invocation)
        failure.details = steps.all + failure.details
        return .failed(failure)
    }

    /// What a caller without a token has to do.
    enum Need: Sendable { case nothing, login, issuedToken }

    /// Asks the server what it requires; returns nil if it does not say so in time.
    func need() async -> Need? {
        let logins = Logins(environment: context.environment, options: context.invocation.options)
        guard let (authorizer, _) = try? logins.doctor(for: url, observing: { Steps($0, server: $1) }) else {
            return nil
        }
        let limit = context.invocation.options.connectTimeout ?? DoctorCommand.patience
        return try? await Race.run(within: limit) { () async -> Need? in
            do throws(AuthorizationError) {
                return try await authorizer.login() == nil ? .nothing : .login
            } catch {
                return switch error.remedy {
                case .issuedToken: .issuedToken
                case .login: .login
                default: nil
                }
            }
        }
    }

    /// Whether the store has a login that can be used.
    func isLoggedIn() async -> Bool {
        let logins = Logins(environment: context.environment, options: context.invocation.options)
        guard let authorizer = try? await logins.authorizer(for: url),
            let found = try? await authorizer.status()
        else { return false }
        return LoginSummary(found, server: url).isGood
    }
}
