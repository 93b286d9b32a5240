import MCPApps
import MCPCore
import MCPHarness

/// `host`: serves a page that shows servers, calls their tools and runs their views, until it is stopped.
struct HostCommand {
    let context: CommandContext
    private var environment: CommandEnvironment { context.environment }
    private var console: Console { context.console }
    private var invocation: Invocation { context.invocation }
    private var options: Options { invocation.options }

    init(_ context: CommandContext) { self.context = context }

    func run() async throws(Failure) -> ExitCode {
        // Once: a token may come through a pipe.
        let client = try Connector(environment: environment, console: console, timings: Timings())
            .clientOptions(invocation)
        let configured = try await configuredServers()
        let history = try options.host.historyFile.map { path throws(Failure) in
            try HistoryFile(path, secrets: secrets(client, configured))
        }
        if let history, history.strangeLines > 0 {
            let count = history.strangeLines == 1 ? "1 line is" : "\(history.strangeLines) lines are"
            console.note(
                "\(inlineText(options.host.historyFile ?? "")): \(count) not part of a history; skipped")
        }
        let hostOptions = try hostOptions(history)
        let host = AppHost(hostOptions)
        func end(_ server: HostServer) async {
            await server.stop()
            await host.close()
            await (hostOptions.model as? CommandModel)?.close()
        }
        var settings = options.host.settings
        settings.hasModel = options.agent.model != nil
        let targets = ServerTargets(options: options, settings: settings)
        let server: HostServer
        do {
            server = try HostServer(host, settings, themes: ThemeFile(environment)) { text throws(Failure) in
                let (target, name, address) = try targets.target(typed: text)
                try await add(target, name, isNamed: false, [], login(for: address, []), to: host)
            }
        } catch {
            let text = "\(error)".replacing("--listen", with: "--port or --sandbox-port")
            throw Failure(code: .unreachable, kind: .cannotStart, message: inlineText(text))
        }
        do throws(Failure) {
            try await add(configured, client.headers, to: host, targets)
            try await serve(host, server, client, history)
        } catch {
            await end(server)
            throw error
        }
        await end(server)
        return .ok
    }

    // MARK: Set-up

    /// Returns the credentials of the command line and of the configuration, also without their scheme.
    private func secrets(_ client: ClientOptions, _ configured: [ResolvedServer]) -> [String] {
        var secrets = client.headers.map(\.1)
        for server in configured {
            let own = bare.using(server).options
            secrets += own.headers.map(\.value)
            secrets += own.environment.filter { MessageMask.isSecret($0.name) }.map(\.value)
        }
        if let variable = options.agent.keyVariable, let key = environment.secret(variable) {
            secrets.append(key)
        }
        return secrets + secrets.compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    private func hostOptions(_ history: HistoryFile?) throws(Failure) -> AppHostOptions {
        let flags = options.host
        var host = AppHostOptions()
        host.info = Implementation(name: ClientIdentity.name, version: ClientIdentity.version)
        let connector = Connector(environment: environment, console: console, timings: Timings())
        host.client = try connector.clientOptions(bare)
        host.csp.mode = flags.isCompatible ? .compat : .strict
        host.csp.allowsWildcards = flags.allowsWildcards
        host.csp.allowedDomains = flags.allowedDomains
        host.csp.blockedDomains = flags.blockedDomains
        switch flags.approval {
        case .ask: host.policies.override = .ask([])
        case .auto: host.policies.override = .automatic
        case .deny: host.policies.override = .deny([])
        case nil: break
        }
        host.grants = flags.grants
        host.timeout = options.timeout
        if options.agent.model != nil {
            host.model = try AgentCommand(context).model()
        }
        host.history = history?.entries ?? []
        return host
    }

    private static let form = #"{"mcpServers": {"docs": {"url": "http://localhost:3000/mcp"}}}"#

    /// Returns the servers that were given by name, and those of `--config`.
    ///
    /// - Throws: when two servers have one name, under which both would ask the user.
    private func configuredServers() async throws(Failure) -> [ResolvedServer] {
        guard let path = options.host.configFile else { return invocation.configured }
        let servers = try await invocation.configured + servers(in: path)
        let named = options.agent.servers.map(\.name) + servers.map(\.name)
        for (index, name) in named.enumerated() where named[..<index].contains(name) {
            throw .usage(
                "two servers are named \(quoted(name))", details: ["one of them is in \(inlineText(path))"],
                hint: "--server NAME=TARGET chooses another name; nothing was started or sent")
        }
        return servers
    }

    /// Returns the servers of a file that the user named.
    private func servers(in path: String) async throws(Failure) -> [ResolvedServer] {
        let place = ConfigPlace(
            path: ConfigPlace.absolute(path, in: environment.currentDirectory), kind: .chosen,
            program: "--config")
        let bytes = try environment.file(path, advice: "--config names a file with servers: \(Self.form)")
        let text = SourceText(name: inlineText(path), bytes: bytes)
        let source = ConfigSource(place, text: text, in: environment)
        guard source.problems.isEmpty else {
            throw .usage(
                "\(inlineText(path)) cannot be used",
                details: source.problems.prefix(3).map { inlineText($0) })
        }
        guard source.hasList else {
            throw .usage(
                "\(inlineText(path)) has no object \"mcpServers\"",
                hint: Self.form)
        }
        let resolver = ServerResolver(
            environment: environment, console: console, options: options, command: "host")
        return try await resolver.servers(of: source)
    }

    private func add(
        _ configured: [ResolvedServer], _ headers: [(String, String)], to host: AppHost,
        _ targets: ServerTargets
    ) async throws(Failure) {
        for server in configured {
            let own = bare.using(server).options
            let headers = own.headers.map { ($0.name, $0.value) }
            let target = try ServerTargets(options: own, settings: targets.settings).target(server.target)
            try await add(
                target, server.name, isNamed: true, headers, login(for: server.target, headers), to: host)
        }
        // Headers on the command line are for the one HTTP server given there: no other server may see a
        // token.
        for server in invocation.servers
        where !invocation.configured.contains(where: { $0.name == server.name }) {
            let isHTTP = if case .program = server.target { false } else { true }
            let isNamed = options.agent.servers.contains(server)
            let own = isHTTP ? headers : []
            try await add(
                targets.target(server.target), isNamed ? server.name : ServerTargets.name(of: server.target),
                isNamed: isNamed, own, login(for: server.target, own), to: host)
        }
    }

    /// Returns the stored login of a server; nil for a program and a socket, and for a server that gets
    /// credentials in its headers. The host itself opens no login page.
    private func login(
        for target: Target, _ headers: [(String, String)]
    ) async throws(Failure) -> OAuthAuthorizer? {
        if headers.contains(where: { $0.0.lowercased() == "authorization" }) { return nil }
        return try await Logins(environment: environment, options: bare.options).authorizer(for: target)
    }

    /// The command line without credentials, which are for one server only.
    private var bare: Invocation {
        var bare = invocation
        bare.options.headers = []
        (bare.options.bearerEnv, bare.options.bearerFile) = (nil, nil)
        return bare
    }

    private func add(
        _ target: ClientTarget, _ name: String, isNamed: Bool, _ headers: [(String, String)],
        _ authorizer: OAuthAuthorizer?, to host: AppHost
    ) async throws(Failure) {
        do {
            try await host.addServer(
                target, name: name, takesOwnName: !isNamed, headers: headers, authorizer: authorizer)
        } catch {
            throw .usage("\(error)")
        }
    }

    // MARK: Serving

    private func serve(
        _ host: AppHost, _ server: HostServer, _ client: ClientOptions, _ history: HistoryFile?
    ) async throws(Failure) {
        if console.isJSON {
            console.json(RawJSON(["url": .string(server.address)]))
        } else {
            console.line(server.address)
        }
        let opener = options.host.opensBrowser ? BrowserOpener(environment) : nil
        defer { opener?.remove() }
        do {
            try opener?.open(server.address)
        } catch {
            console.failure(error)
        }
        if let ports = options.host.scannedPorts {
            Task { await server.offer(await ServerScan.run(ports, client)) }
        }
        // Ends when the work is cancelled: by a signal, or at the deadline.
        var follower = HostFollower(host, known: history?.entries ?? [])
        await follower.run { note($0, history) }
    }

    private func note(_ event: HostEvent, _ history: HistoryFile?) {
        switch event {
        case .history(let entry):
            if let history, !history.append(entry) {
                console.note("the history could not be written: \(options.host.historyFile ?? "")")
            }
        case .log(let line) where line.level >= .warning || options.verbosity > 0:
            let text = line.data.stringValue ?? line.data.serialized()
            console.note("\(inlineText(line.source)): \(TerminalText.inline(text, limit: 1000))")
        default: break
        }
    }
}
