import MCPCore

/// The commands `auth status` and `auth token`.
struct AuthCommand {
    let context: CommandContext

    private var console: Console { context.console }
    private var logins: Logins {
        Logins(environment: context.environment, options: context.invocation.options)
    }

    func run() async throws(Failure) -> ExitCode {
        let text = context.invocation.operand(1)
        let server: String? = if let text { try await context.httpURL(text) } else { nil }
        switch context.invocation.operand(0) {
        case "status":
            if let server { return try await status(server) }
            return try await statusOfAll()
        case "token":
            guard let server else {
                throw .usage(
                    "missing TARGET",
                    hint: "mcp-client auth status shows the servers with a login")
            }
            return try await token(server)
        case let other:
            let best = Suggestion.best(for: other ?? "", among: ["status", "token"])
            throw .usage(
                "auth \(quoted(other ?? "")) is not auth status or auth token",
                details: best.map { ["did you mean auth \($0)?"] } ?? [],
                hint: "\(context.invocation.command.helpLine) explains both")
        }
    }

    private func mapped<T>(_ work: () async throws(AuthorizationError) -> T) async throws(Failure) -> T {
        do throws(AuthorizationError) { return try await work() } catch {
            let invocation = context.invocation
            throw FailureMapping.authorization(error, status: nil, invocation.options, login: invocation)
        }
    }

    // MARK: Status

    private func statusOfAll() async throws(Failure) -> ExitCode {
        let store = try logins.store()
        let now = WallTime.now
        let all = try await mapped { () throws(AuthorizationError) in
            var all: [LoginSummary] = []
            var shown: Set<TokenKey> = []
            for (url, key) in try await store.servers() {
                guard let entry = try await store.read(key) else { continue }
                shown.insert(key)
                all.append(LoginSummary(entry, key: key, server: url, now: now))
            }
            // The logins that are not the latest one of any server, such as those with another client.
            let others = try await store.keys().filter { !shown.contains($0) }
            for key in others.sorted(by: { ($0.place, $0.issuer) < ($1.place, $1.issuer) }) {
                guard let entry = try await store.read(key), entry.tokens != nil else { continue }
                all.append(LoginSummary(entry, key: key, server: key.place, now: now, isLatest: false))
            }
            return all
        }
        if console.isJSON {
            console.line(JSONValue.object(["logins": .array(all.map(\.json))]).serialized())
        } else if all.isEmpty {
            console.line("no logins")
        } else {
            for login in all { for line in login.lines(at: now) { console.line(line) } }
        }
        return .ok
    }

    private func status(_ server: String) async throws(Failure) -> ExitCode {
        let authorizer = try await logins.authorizer(for: server)
        let found = try await mapped { () throws(AuthorizationError) in try await authorizer.status() }
        let login = found.map { LoginSummary($0, server: server) }
        if let login, console.isJSON {
            console.line(login.json.serialized())
        } else if let login {
            for line in login.lines(at: .now) { console.line(line) }
        }
        if login?.isGood == true { return .ok }
        throw Failure(
            code: .authentication, kind: .authRequired,
            message: "no usable login for \(inlineText(MaskedText.url(server)))",
            hint: await hint(for: server))
    }

    /// Returns what to do about a server without a usable login. The server says whether it has logins.
    private func hint(for server: String) async -> String {
        guard Target.http(server).isConfidential || context.environment.variable("MCP_AUTH_ALLOW") != nil
        else {
            return "logins are only for https, and for servers on this machine; "
                + "--bearer-file FILE sends a token"
        }
        return switch await DoctorLogin(context: context, url: server).need() {
        case .issuedToken: FailureMapping.issuedTokenHint
        case .nothing: "the server requires no login now"
        case .login, nil: context.invocation.loginLine()
        }
    }

    // MARK: Token

    private func token(_ server: String) async throws(Failure) -> ExitCode {
        if console.stdout.isTerminal, !context.invocation.options.auth.showsToken {
            throw .usage(
                "auth token prints a secret, and its output is a terminal",
                hint: "pipe it into a program, or use --show")
        }
        let authorizer = try await logins.authorizer(for: server)
        do throws(Failure) {
            let token = try await mapped { () throws(AuthorizationError) in
                try await authorizer.accessToken()
            }
            console.line(token)
            return .ok
        } catch {
            var failure = error
            if failure.hint == context.invocation.loginLine() { failure.hint = await hint(for: server) }
            throw failure
        }
    }
}
