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
            let server = try await resolver.server(serverName)
            resolved = resolved.using(server)
            resolved.target = server.target
            if !Target.isFile(serverName) { resolved.configuredName = server.name }
            try InvocationCheck.transport(resolved)
        }
        for name in serverNames {
            let server = try await resolver.server(name)
            if resolved.servers.contains(where: { $0.name == server.name }) {
                throw .usage("two servers are named \(quoted(server.name))")
            }
            resolved.servers.append(NamedTarget(name: server.name, target: server.target))
            resolved.configured.append(server)
        }
        return resolved
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
    func forServer(named name: String) -> Invocation {
        configured.first { $0.name == name }.map { using($0) } ?? self
    }
}
