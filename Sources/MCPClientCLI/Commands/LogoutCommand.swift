import MCPCore

/// The `logout` command: revokes tokens and deletes them.
struct LogoutCommand {
    let context: CommandContext

    private var options: Options { context.invocation.options }
    private var console: Console { context.console }

    func run() async throws(Failure) -> ExitCode {
        let logins = Logins(environment: context.environment, options: options)
        let text = context.invocation.operand(0)
        guard options.auth.isForAll != (text != nil) else {
            throw .usage("logout needs TARGET or --all", hint: "usage: \(context.invocation.command.usage)")
        }
        let store = try logins.store()
        var servers: [String]
        if let text {
            servers = [try Target.httpURL(text)]
        } else {
            servers = try await mapped { () throws(AuthorizationError) in try await store.servers().map(\.url)
            }
        }
        var count = 0
        for server in servers where try await end(server, logins) { count += 1 }
        count += try await endOthers(of: text == nil ? nil : servers[0], store, logins)
        if count == 0 {
            console.line(
                text == nil ? "there are no logins" : "there is no login for \(inlineText(servers[0]))")
        }
        return .ok
    }

    /// Ends the login that a server was last used with; returns false if there is none.
    private func end(_ server: String, _ logins: Logins) async throws(Failure) -> Bool {
        let authorizer = try await logins.authorizer(for: server)
        let forgets = options.auth.forgets
        let problems = try await mapped { () throws(AuthorizationError) in
            try await authorizer.logout(forget: forgets)
        }
        guard let problems else { return false }
        report(problems, server)
        return true
    }

    /// Ends the logins that no server leads to: those with another client, and those of an attempt that was
    /// not completed. Returns their number.
    private func endOthers(
        of server: String?, _ store: any TokenStore, _ logins: Logins
    ) async throws(Failure) -> Int {
        let forgets = options.auth.forgets
        var count = 0
        for key in try await mapped({ () throws(AuthorizationError) in try await store.keys() }) {
            let place = key.resource.isEmpty ? key.issuer : key.resource
            if let server, server != place { continue }
            let authorizer = try await logins.authorizer(for: place)
            let problems = try await mapped { () throws(AuthorizationError) -> [String]? in
                let stored = try await store.read(key)
                guard forgets || stored?.tokens != nil else { return nil }
                return try await authorizer.logout(of: key, forget: forgets)
            }
            guard let problems else { continue }
            report(problems, place)
            count += 1
        }
        return count
    }

    private func report(_ problems: [String], _ server: String) {
        for problem in problems { console.stderr.write(TerminalText.inline(problem, limit: 1000) + "\n") }
        console.line("logged out of \(inlineText(server))")
    }

    private func mapped<T>(_ work: () async throws(AuthorizationError) -> T) async throws(Failure) -> T {
        do throws(AuthorizationError) { return try await work() } catch {
            throw FailureMapping.authorization(error, status: nil, context.invocation)
        }
    }
}

extension Target {
    /// Returns the URL of an HTTP server given as TARGET.
    static func httpURL(_ text: String) throws(Failure) -> String {
        guard case .http(let url) = try Target(parsing: text) else {
            throw .usage("\(quoted(text)) is not an HTTP server; there are no logins for others")
        }
        return url
    }
}
