import MCPCore

extension Invocation {
    /// Returns the invocation with the names of configured servers replaced by what they stand for.
    func resolvingNames(
        _ environment: CommandEnvironment, _ console: Console
    ) async throws(Failure) -> Invocation {
        guard serverName != nil || !serverNames.isEmpty else { return self }
        let resolver = ServerResolver(
            environment: environment, console: console, options: options, command: command.name)
        var resolved = self
        if let serverName {
            let server: ResolvedServer
            do throws(Failure) { server = try await resolver.server(serverName) } catch {
                throw misplacedTarget.map { error.hinting($0) } ?? error
            }
            resolved = resolved.using(server)
            resolved.target = server.target
            if !Target.isFile(serverName) { resolved.configuredName = server.name }
            try InvocationCheck.transport(resolved)
        }
        for name in serverNames {
            var server = try await resolver.server(name.word)
            server.name = name.name ?? server.name
            if resolved.servers.contains(where: { $0.name == server.name }) {
                throw .usage("two servers are named \(quoted(server.name))")
            }
            resolved.servers.append(NamedTarget(name: server.name, target: server.target))
            resolved.configured.append(server)
        }
        return resolved
    }

    /// The command line with an address that stands behind other words in their front; nil without one.
    private var misplacedTarget: String? {
        // Other commands have their servers in places of their own.
        guard command.targets == .one else { return nil }
        let words = operands + arguments
        guard let place = words.firstIndex(where: Target.isAddress), let serverName else { return nil }
        var others = words
        let address = others.remove(at: place)
        return "TARGET comes first: "
            + (["mcp-client", command.name]
            + MaskedText.words([address, serverName] + others).map(ShellWord.quote))
            .joined(separator: " ")
    }

    /// Returns the invocation with the settings of a configured server. The command line wins.
    func using(_ server: ResolvedServer) -> Invocation {
        var invocation = self
        invocation.options.environment =
            server.environment.map { Options.EnvironmentEntry(name: $0.name, value: $0.value) }
            + options.environment
        invocation.options.directory = options.directory ?? server.directory
        let given = options.headers.map { $0.name.lowercased() }
        invocation.options.headers =
            server.headers.filter { !given.contains($0.name.lowercased()) }.map {
                Options.HeaderLine(name: $0.name, value: $0.value)
            } + options.headers
        if let login = server.login { invocation.options.auth.complete(by: login) }
        return invocation
    }

    /// Returns the invocation for one of several servers.
    func forServer(_ server: NamedTarget) -> Invocation {
        var own = self
        if let entry = configured.first(where: { $0.name == server.name }) {
            own = using(entry)
            own.configuredName = entry.configuredName
        }
        own.target = server.target
        return own
    }
}
