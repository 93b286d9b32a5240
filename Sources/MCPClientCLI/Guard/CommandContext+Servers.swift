import MCPCore

extension CommandContext {
    /// Connects to the server that an operand stands for, or to the program after `--`.
    func withServer(
        _ word: String?, _ work: (Session) async throws(Failure) -> ExitCode
    ) async throws(Failure) -> ExitCode {
        var own = invocation
        own.targetText = word
        if let word {
            if Target.isName(word) { own.serverName = word } else { own.target = try Target(parsing: word) }
        } else {
            own.target = invocation.program.map { .program($0) }
        }
        own = try await own.resolvingNames(environment, console)
        try InvocationCheck.transport(own)
        return try await CommandContext(
            environment: environment, console: console, invocation: own, stop: stop
        ).withSession(work)
    }
}
