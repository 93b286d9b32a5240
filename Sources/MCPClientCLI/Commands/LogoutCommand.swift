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
            throw .usage("missing TARGET or --all", hint: "usage: \(context.invocation.command.usage)")
        }
        let store = try logins.store()
        var servers: [String]
        if let text {
            servers = [try await context.httpURL(text)]
        } else {
            servers = try await mapped { () throws(AuthorizationError) in try await store.servers().map(\.url)
            }
        }
        var ended: [Ended] = []
        for server in servers {
            if let one = try await end(server, logins) { ended.append(one) }
        }
        ended += try await endOthers(of: text == nil ? nil : servers[0], store, logins)
        report(ended, text == nil ? "no logins" : "no login for \(inlineText(MaskedText.url(servers[0])))")
        return .ok
    }

    /// A login that was ended, with the reasons why its tokens were not revoked.
    private struct Ended {
        let server: String
        let issuer: String?
        let problems: [String]
        /// Whether there were tokens; otherwise only a registration was deleted.
        let hadTokens: Bool
    }

    /// Ends the login that a server was last used with; returns nil if there is none.
    private func end(_ server: String, _ logins: Logins) async throws(Failure) -> Ended? {
        let authorizer = try await logins.authorizer(for: server)
        let forgets = options.auth.forgets
        return try await mapped { () throws(AuthorizationError) -> Ended? in
            guard let login = try await authorizer.status() else { return nil }
            let hadTokens = login.isUsable || login.isRenewable || login.expiresAt != nil
            guard forgets || hadTokens, let problems = try await authorizer.logout(forget: forgets) else {
                return nil
            }
            return Ended(server: server, issuer: login.issuer, problems: problems, hadTokens: hadTokens)
        }
    }

    /// Ends the logins that no server leads to: those with another client, and those of an attempt that was
    /// not completed.
    private func endOthers(
        of server: String?, _ store: any TokenStore, _ logins: Logins
    ) async throws(Failure) -> [Ended] {
        let forgets = options.auth.forgets
        var ended: [Ended] = []
        for key in try await mapped({ () throws(AuthorizationError) in try await store.keys() }) {
            if let server, server != key.place { continue }
            let authorizer = try await logins.authorizer(for: key.place)
            let one = try await mapped { () throws(AuthorizationError) -> Ended? in
                let hadTokens = try await store.read(key)?.tokens != nil
                guard forgets || hadTokens,
                    let problems = try await authorizer.logout(of: key, forget: forgets)
                else { return nil }
                return Ended(
                    server: key.place, issuer: key.issuer, problems: problems, hadTokens: hadTokens)
            }
            if let one { ended.append(one) }
        }
        return ended
    }

    private func report(_ ended: [Ended], _ none: String) {
        for problem in ended.flatMap(\.problems) {
            console.stderr.write(TerminalText.inline(problem, limit: 1000) + "\n")
        }
        if console.isJSON {
            let all = ended.map { one -> JSONValue in
                var object: JSONObject = [
                    "server": .string(one.server), "revoked": .bool(one.problems.isEmpty),
                ]
                if let issuer = one.issuer { object["issuer"] = .string(issuer) }
                if !one.problems.isEmpty { object["problems"] = .array(one.problems.map { .string($0) }) }
                return .object(object)
            }
            console.line(JSONValue.object(["loggedOut": .array(all)]).serialized())
        } else if ended.isEmpty {
            console.line(none)
        } else {
            for one in ended {
                let server = inlineText(MaskedText.url(one.server))
                console.line(
                    one.hadTokens ? "logged out of \(server)" : "forgot the registration at \(server)")
            }
        }
    }

    private func mapped<T>(_ work: () async throws(AuthorizationError) -> T) async throws(Failure) -> T {
        do throws(AuthorizationError) { return try await work() } catch {
            throw FailureMapping.authorization(error, status: nil, options, login: context.invocation)
        }
    }
}

extension TokenKey {
    /// The server that the tokens are for, as far as it is known.
    var place: String { resource.isEmpty ? issuer : resource }
}

extension CommandContext {
    /// Returns the URL of an HTTP server given as TARGET: a URL, or the name of a configured server.
    func httpURL(_ text: String) async throws(Failure) -> String {
        let target: Target
        if Target.mayBeConfigured(text) {
            let resolver = ServerResolver(
                environment: environment, console: console, options: invocation.options,
                command: invocation.command.name)
            target = try await resolver.server(text).target
        } else {
            target = try Target(parsing: text)
        }
        guard case .http(let url) = target else {
            throw .usage(
                "\(quoted(text)) is not an HTTP server; only those have logins", hint: "https://HOST/PATH")
        }
        return url
    }
}
