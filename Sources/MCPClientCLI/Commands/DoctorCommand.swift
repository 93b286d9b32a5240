import MCPCore
import Synchronization

/// The `doctor` command: walks the discovery of a login and shows each step. Nothing is registered, stored or
/// opened.
struct DoctorCommand {
    let context: CommandContext

    private var console: Console { context.console }

    /// A request and its outcome.
    private struct Step: Sendable {
        let method: String
        let url: String
        /// The status; nil without a response.
        let status: Int?
        let problem: String?

        var line: String {
            let outcome = status.map { "HTTP \($0)" } ?? problem ?? ""
            return TerminalText.inline("\(method) \(url): \(outcome)", limit: 1000)
        }

        var json: JSONValue {
            var object: JSONObject = ["method": .string(method), "url": .string(url)]
            if let status { object["status"] = JSONValue(status) }
            if let problem { object["problem"] = .string(problem) }
            return .object(object)
        }
    }

    /// The requests of a flow, in order. Anything but a look at metadata is refused.
    private final class Steps: OAuthHTTP {
        private let http: any OAuthHTTP
        private let server: String
        private let steps = Mutex<[Step]>([])

        init(_ http: any OAuthHTTP, server: String) {
            self.http = http
            self.server = server
        }

        var all: [Step] { steps.withLock { $0 } }

        func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
            guard
                !request.isPost
                    || OAuthAuthorizer.storeName(of: request.url) == OAuthAuthorizer.storeName(of: server)
            else {
                throw AuthorizationError(.usage, "doctor sends nothing to \(request.url)")
            }
            let method = request.isPost ? "POST" : "GET"
            do throws(AuthorizationError) {
                let response = try await http.send(request)
                note(Step(method: method, url: request.url, status: response.status, problem: nil))
                return response
            } catch {
                note(Step(method: method, url: request.url, status: nil, problem: error.message))
                throw error
            }
        }

        private func note(_ step: Step) { steps.withLock { $0.append(step) } }
    }

    func run() async throws(Failure) -> ExitCode {
        let url = try await context.httpURL(context.invocation.operand(0) ?? "")
        let logins = Logins(environment: context.environment, options: context.invocation.options)
        let (authorizer, steps) = try logins.doctor(for: url) { Steps($0, server: $1) }
        var outcome: Result<Bool, AuthorizationError>
        do throws(AuthorizationError) {
            outcome = .success(try await authorizer.login() != nil)
        } catch {
            outcome = .failure(error)
        }
        // A person is what a complete discovery leads to.
        var found: [String] = []
        if case .failure(let error) = outcome, case .login = error.remedy {
            found = error.details
            outcome = .success(true)
        }
        return try report(outcome, found, steps.all, url)
    }

    private func report(
        _ outcome: Result<Bool, AuthorizationError>, _ found: [String], _ steps: [Step], _ url: String
    ) throws(Failure) -> ExitCode {
        let unexpected = Self.unexpected(outcome, steps)
        if console.isJSON {
            var object: JSONObject = ["server": .string(url), "steps": .array(steps.map(\.json))]
            object["ok"] = .bool((try? outcome.get()) != nil && unexpected == nil)
            console.line(JSONValue.object(object).serialized())
        } else {
            for step in steps { console.line(step.line) }
        }
        switch outcome {
        case .failure(let error):
            let invocation = context.invocation
            throw FailureMapping.authorization(error, status: nil, invocation.options, login: invocation)
        case .success(let wantsLogin):
            if let unexpected { throw unexpected }
            if console.isJSON { return .ok }
            for detail in found { console.line(TerminalText.inline(detail, limit: 1000)) }
            console.line(
                wantsLogin ? "a person can log in: \(context.invocation.loginLine())" : "no login is needed")
            return .ok
        }
    }

    /// Returns the failure of a server that is not one, or asked for no login but refused the request. (400
    /// and the like are answers to a request that has no message.)
    private static func unexpected(
        _ outcome: Result<Bool, AuthorizationError>, _ steps: [Step]
    ) -> Failure? {
        guard case .success(false) = outcome, let status = steps.first?.status,
            [403, 404, 405, 410, 429].contains(status) || status >= 500
        else { return nil }
        return Failure(
            code: .protocolError, kind: .protocolError,
            message: "the server asked for no login, but answered HTTP \(status)",
            hint: "compare the address with the server's documentation; the path is often /mcp",
            status: status)
    }
}
