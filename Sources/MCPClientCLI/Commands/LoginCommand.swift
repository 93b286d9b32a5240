import MCPCore

/// The `login` command: obtains tokens, stores them, and sends one request with them.
struct LoginCommand {
    let context: CommandContext

    private var options: Options { context.invocation.options }
    private var console: Console { context.console }
    private var environment: CommandEnvironment { context.environment }

    func run() async throws(Failure) -> ExitCode {
        let invocation = context.invocation
        let logins = Logins(environment: environment, options: options)
        guard let target = invocation.target, case .http(let url) = target else {
            throw .usage(
                "login needs an HTTP server", hint: "a program takes its credentials from its environment")
        }
        if options.hasCredentials {
            throw .usage(
                "login obtains the token itself", hint: "leave out --bearer-env, --bearer-file and -H")
        }
        let needsUser = options.auth.grant == .code
        if needsUser, options.noInput {
            throw Failure(
                code: .inputRequired, kind: .inputRequired,
                message: "a login needs a person, and --no-input was given; nothing was sent")
        }
        let opener = BrowserOpener(environment, name: "mcp-login")
        defer { opener.remove() }
        let authorizer = try await logins.authorizer(for: url, user: needsUser ? user(opener) : nil)
        let login = try await result { () throws(AuthorizationError) in try await authorizer.login() }
        let timings = Timings()
        let session = try await Connector(environment: environment, console: console, timings: timings)
            .connect(target, invocation, authorizer: authorizer)
        await session.client.close()
        if let login {
            report(LoginSummary(login, server: url))
        } else {
            console.line("\(inlineText(url)) needs no login")
        }
        return .ok
    }

    private func report(_ login: LoginSummary) {
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
            throw FailureMapping.authorization(error, status: nil, context.invocation)
        }
    }

    // MARK: The person

    private func user(_ opener: BrowserOpener) -> AuthorizationUser {
        let (stderr, options, environment) = (console.stderr, options, environment)
        let person = environment.person
        var readLine: AuthorizationUser.LineReader?
        if let person { readLine = { await Self.line(from: person) } }
        let canPaste = person != nil
        let hasBrowser = options.auth.opensBrowser && (environment.openPage != nil || hasDisplay)
        return .browser(
            host: options.auth.callbackHost, port: options.auth.callbackPort, readLine: readLine,
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

    private static func line(from person: Person) async -> String? {
        let line: String?? = await person.answer { (readLine: @escaping Person.LineReader) in await readLine()
        }
        return line.flatMap { $0 }
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
