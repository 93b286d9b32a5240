import MCPCore

/// The `login` command: obtains tokens, stores them, and sends one request with them.
struct LoginCommand {
    let context: CommandContext

    private var options: Options { context.invocation.options }
    private var console: Console { context.console }
    private var environment: CommandEnvironment { context.environment }

    func run() async throws(Failure) -> ExitCode {
        let logins = Logins(environment: environment, options: options)
        let url = try url()
        if options.hasCredentials {
            throw .usage(
                "login obtains the token itself", hint: "leave out --bearer-env, --bearer-file and -H")
        }
        let opener = BrowserOpener(environment, name: "mcp-login")
        defer { opener.remove() }
        let authorizer = try await logins.authorizer(for: url) { grant throws(Failure) in
            try person(for: grant, opener)
        }
        let login = try await result { () throws(AuthorizationError) in try await authorizer.login() }
        try await check(authorizer, login)
        if let login {
            report(LoginSummary(login, server: url))
        } else {
            console.line("\(inlineText(MaskedText.url(url))) needs no login")
        }
        return .ok
    }

    private func url() throws(Failure) -> String {
        switch context.invocation.target {
        case .http(let url): return url
        case .unix:
            throw .usage(
                "login needs an HTTP server, and a unix socket has no login page",
                hint: "--bearer-file FILE or --bearer-env VAR sends a token to it")
        case .program, .recording, nil:
            throw .usage(
                "login needs an HTTP server", hint: "a program takes its credentials from its environment")
        }
    }

    /// Sends one request with the tokens. Tokens that the server refuses are of no use: they are revoked.
    private func check(
        _ authorizer: OAuthAuthorizer, _ login: OAuthAuthorizer.Login?
    ) async throws(Failure) {
        let new = NewLogin(authorizer)
        let target = Target.http(try url())
        do throws(Failure) {
            let session = try await Connector(
                environment: environment, console: console, timings: Timings()
            ).connect(target, context.invocation, authorizer: new)
            await session.client.close()
        } catch {
            guard let login, new.isRefused else { throw error }
            let problems = try await result { () throws(AuthorizationError) in try await authorizer.logout() }
            let end =
                problems?.isEmpty == true ? "the token was revoked and is not kept" : "the token is not kept"
            throw refused(error, login, end)
        }
    }

    private func refused(_ error: Failure, _ login: OAuthAuthorizer.Login, _ end: String) -> Failure {
        let lacksScopes = error.kind == .insufficientScope
        return Failure(
            code: .authentication, kind: lacksScopes ? .insufficientScope : .tokenRefused,
            message: "the server refuses the token that \(inlineText(login.issuer)) has issued for it",
            details: (lacksScopes ? [error.message] : []) + error.details + [end],
            hint: (lacksScopes ? error.hint : nil)
                ?? "--resource URI and --scope S change what is asked for; "
                + "the operator of the server knows what it accepts",
            status: error.status)
    }

    private func report(_ login: LoginSummary) {
        let missing = options.auth.scopes.filter { !login.scopes.contains($0) }
        if !missing.isEmpty {
            console.note("not granted: \(inlineText(missing.joined(separator: " ")))")
        }
        if console.isJSON {
            console.line(login.json.serialized())
        } else {
            let parts = ["logged in to \(inlineText(login.issuer))"] + login.parts(at: .now)
            console.line(parts.joined(separator: " · "))
        }
    }

    private func result<T>(
        _ work: () async throws(AuthorizationError) -> T
    ) async throws(Failure) -> T {
        do throws(AuthorizationError) { return try await work() } catch {
            throw FailureMapping.authorization(error, status: nil, options, login: context.invocation)
        }
    }

    // MARK: The person

    private func person(
        for grant: AuthOptions.Grant, _ opener: BrowserOpener
    ) throws(Failure) -> LoginPerson {
        guard grant.needsUser else { return LoginPerson() }
        if options.noInput {
            throw Failure(
                code: .inputRequired, kind: .inputRequired,
                message: "a login needs a person, and --no-input was given; nothing was sent")
        }
        if grant == .code { return LoginPerson(user: user(opener)) }
        let stderr = console.stderr
        return LoginPerson(showCode: { code in
            let page = inlineText(code.completePage ?? code.page)
            stderr.write("open this page on any device: \(page)\n")
            stderr.write("and enter the code \(inlineText(code.userCode))\n")
        })
    }

    private func user(_ opener: BrowserOpener) -> AuthorizationUser {
        let (stderr, options, environment) = (console.stderr, options, environment)
        let person = environment.person
        var readLine: AuthorizationUser.LineReader?
        if let person { readLine = { await person.optionalLine() } }
        let canPaste = person != nil
        let hasBrowser = options.auth.opensBrowser && (environment.openPage != nil || hasDisplay)
        return .browser(
            host: options.auth.callbackHost, ports: options.auth.callbackPorts, readLine: readLine,
            notice: { stderr.write($0 + "\n") },
            show: { page, redirectURI throws(AuthorizationError) in
                stderr.write("open this page: \(page.url)\n")
                var isOpen = false
                if hasBrowser {
                    do throws(Failure) {
                        if let open = environment.openPage {
                            try await open(page.url)
                        } else {
                            try opener.open(page.url)
                        }
                        isOpen = true
                    } catch { stderr.write(error.message + "\n") }
                }
                let paste = "; or paste the address at which the browser ends:"
                stderr.write("waiting on \(redirectURI)\(isOpen || !canPaste ? "" : paste)\n")
            })
    }

    /// Whether this process can show a window.
    private var hasDisplay: Bool {
        #if os(Linux)
        ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment.variable($0)?.isEmpty == false }
        #else
        environment.variable("SSH_CONNECTION") == nil
        #endif
    }
}
