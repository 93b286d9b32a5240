import MCPCore

/// The context in which a command runs.
struct CommandContext: Sendable {
    var environment: CommandEnvironment
    var console: Console
    let invocation: Invocation
    let stop: StopReason
    /// The connection to use in place of a new one, as in `shell`.
    var open: Session?

    /// Returns the context with another stderr, for all that the command and its connections write.
    func writing(to stderr: any Sink) -> CommandContext {
        var context = self
        context.environment.stderr = stderr
        context.console = Console(
            stdout: console.stdout, stderr: stderr, options: invocation.options,
            variable: environment.variable)
        return context
    }

    /// Connects to the server that TARGET names, runs `work`, and closes the connection.
    func withSession(
        _ work: (Session) async throws(Failure) -> ExitCode
    ) async throws(Failure) -> ExitCode {
        if let open { return try await withOpen(open, work) }
        guard let target = invocation.target else { throw invocation.command.missing(["TARGET"]) }
        let timings = Timings()
        defer { if invocation.options.timings { console.stderr.write(timings.line + "\n") } }
        let session = try await Connector(environment: environment, console: console, timings: timings)
            .connect(target, invocation)
        let outcome: Result<ExitCode, Failure>
        do throws(Failure) { outcome = .success(try await work(session)) } catch { outcome = .failure(error) }
        await session.client.close()
        if case .failure(let error) = outcome, error.code == .inputRequired {
            throw session.interaction.explained(error)
        }
        // The question matters more than how the server reacted to the missing answer.
        if let failure = session.interaction.failure { throw failure }
        return try outcome.get()
    }

    private func withOpen(
        _ open: Session, _ work: (Session) async throws(Failure) -> ExitCode
    ) async throws(Failure) -> ExitCode {
        let timings = Timings()
        defer { if invocation.options.timings { console.stderr.write(timings.line + "\n") } }
        let session = Session(
            client: open.client, invocation: invocation, console: console, environment: environment,
            timings: timings, interaction: open.interaction)
        open.interaction.forget()
        let outcome: Result<ExitCode, Failure>
        do throws(Failure) { outcome = .success(try await work(session)) } catch { outcome = .failure(error) }
        if case .failure(let error) = outcome, error.code == .inputRequired {
            throw session.interaction.explained(error)
        }
        if let failure = session.interaction.failure { throw failure }
        return try outcome.get()
    }
}
