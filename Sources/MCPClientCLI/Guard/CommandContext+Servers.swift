import MCPCore

extension CommandContext {
    /// Connects to the server that an operand stands for, or to the program after `--`.
    func withServer(
        _ word: String?, _ work: (Session) async throws(Failure) -> ExitCode
    ) async throws(Failure) -> ExitCode {
        var own = invocation
        own.targetText = word
        if let word {
            if Target.mayBeConfigured(word) {
                own.serverName = word
            } else {
                own.target = try Target(parsing: word)
            }
        } else {
            own.target = invocation.program.map { .program($0) }
        }
        own = try await own.resolvingNames(environment, console)
        try InvocationCheck.transport(own)
        return try await CommandContext(
            environment: environment, console: console, invocation: own, stop: stop
        ).withSession(work)
    }

    /// Connects to a server by its exact name in the configuration, whatever else the name could stand for.
    func withConfiguredServer(
        _ name: String, in catalog: ServerCatalog,
        _ work: (Session) async throws(Failure) -> ExitCode
    ) async throws(Failure) -> ExitCode {
        let resolver = ServerResolver(
            environment: environment, console: console, options: invocation.options,
            command: invocation.command.name, known: catalog)
        let server = try await resolver.configured(name)
        var own = invocation.using(server)
        own.target = server.target
        // A hint must not name a word that stands for something else.
        let entry = catalog.entries.first { $0.name == name && !$0.isDisabled }
        own.targetText = entry?.hasUsableName == true ? name : server.target.text
        own.configuredName = entry?.hasUsableName == true ? server.name : nil
        try InvocationCheck.transport(own)
        return try await CommandContext(
            environment: environment, console: console, invocation: own, stop: stop
        ).withSession(work)
    }
}
