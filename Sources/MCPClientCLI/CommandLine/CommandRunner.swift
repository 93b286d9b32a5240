import MCPCore

/// Runs one command line from its words to its exit code.
struct CommandRunner: Sendable {
    let environment: CommandEnvironment

    /// Parses and runs; `stop` is told why the work ended early, by a signal or the deadline.
    func run(_ request: CommandLineRequest, stop: StopReason) async -> ExitCode {
        switch request {
        case .help(let command):
            environment.stdout.write(Help.text(for: command))
            return environment.stdout.failure == nil ? .ok : .unreachable
        case .run(let invocation): return await run(invocation, stop: stop)
        }
    }

    private func run(_ invocation: Invocation, stop: StopReason) async -> ExitCode {
        let buffer = invocation.options.outputFile == nil ? nil : BufferSink()
        let console = Console(
            stdout: buffer ?? environment.stdout, stderr: environment.stderr, options: invocation.options,
            variable: environment.variable)
        var code = ExitCode.ok
        var save: FileWriter?
        var isPart = false
        do {
            if let file = invocation.options.outputFile { save = try environment.outputFile(file) }
            code = try await execute(invocation, console, stop)
        } catch {
            let failure = stop.failure ?? error
            console.failure(failure)
            code = failure.code
            // A file beside FILE could not be written.
            isPart = failure.kind == .output
        }
        if let save, let bytes = buffer?.bytes, isPart || Self.isResult(bytes, code, invocation.command) {
            do {
                try save(bytes)
            } catch {
                console.failure(error)
                return error.code
            }
        }
        if let message = environment.stdout.failure {
            console.failure(
                Failure(code: .unreachable, kind: .output, message: "cannot write to stdout: \(message)"))
            return .unreachable
        }
        return code
    }

    /// Whether FILE gets what was printed: a result, the tool's own error, the question of a server, and what
    /// came until a watch was stopped. Of a command that failed otherwise the file is left alone.
    private static func isResult(_ bytes: [UInt8], _ code: ExitCode, _ command: Command) -> Bool {
        switch code {
        case .ok: true
        case .toolError, .inputRequired: !bytes.isEmpty
        case .interrupted, .timeout: command == .watch && !bytes.isEmpty
        case .usage, .unreachable, .authentication, .protocolError: false
        }
    }

    private func execute(
        _ invocation: Invocation, _ console: Console, _ stop: StopReason
    ) async throws(Failure) -> ExitCode {
        if invocation.command == .provide {
            try await ProvideCommand(environment: environment, console: console, invocation: invocation).run()
            if let failure = stop.failure { throw failure }
            return .ok
        }
        if invocation.command == .agent {
            let code = try await AgentCommand(
                environment: environment, console: console, invocation: invocation
            ).run()
            if let failure = stop.failure { throw failure }
            return code
        }
        if invocation.command == .host {
            try await HostCommand(environment: environment, console: console, invocation: invocation).run()
            if let failure = stop.failure { throw failure }
            return .ok
        }
        guard let target = invocation.target else {
            VersionCommand(console: console).run()
            return .ok
        }
        if invocation.command == .raw {
            _ = try RawCommand.checkedText(invocation.operands.dropFirst().first)
        }
        let timings = Timings()
        defer { if invocation.options.timings { console.stderr.write(timings.line + "\n") } }
        let session = try await Connector(environment: environment, console: console, timings: timings)
            .connect(target, invocation)
        do throws(Failure) {
            let code = try await dispatch(session)
            await session.client.close()
            if let failure = session.interaction.failure { throw failure }
            return code
        } catch {
            await session.client.close()
            if error.code == .inputRequired { throw session.interaction.explained(error) }
            // What the server made of a missing answer is of less interest than the question.
            if let failure = session.interaction.failure { throw failure }
            throw error
        }
    }

    private func dispatch(_ session: Session) async throws(Failure) -> ExitCode {
        let operands = session.invocation.operands
        let first = operands.first ?? ""
        let words = session.invocation.arguments
        switch session.invocation.command {
        case .info: try await InfoCommand(session: session).run()
        case .tools: try await ListCommands(session: session).tools(glob: operands.first)
        case .tool: try await ToolCommand(session: session).run(first)
        case .call: return try await CallCommand(session: session).run(first, words)
        case .resources: try await ListCommands(session: session).resources()
        case .templates: try await ListCommands(session: session).templates()
        case .read: try await ReadCommand(session: session).run(operands)
        case .prompts: try await ListCommands(session: session).prompts()
        case .prompt: try await PromptCommand(session: session).run(first, words)
        case .raw: try await RawCommand(session: session).run(first, operands.dropFirst().first)
        case .complete:
            try await CompleteCommand(session: session).run(
                first, operands[1], operands.dropFirst(2).first ?? "")
        case .watch: try await WatchCommand(session: session).run(operands)
        case .ping: try await PingCommand(session: session).run()
        case .bench: return try await BenchCommand(session: session).run(first, words)
        case .agent, .host, .provide, .version: VersionCommand(console: session.console).run()
        }
        return .ok
    }
}
