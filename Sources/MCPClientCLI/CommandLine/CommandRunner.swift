import MCPCore

/// A runner that executes one command line and returns its exit code.
struct CommandRunner: Sendable {
    let environment: CommandEnvironment

    init(environment: CommandEnvironment) {
        var environment = environment
        if environment.person != nil {
            let prompt = PromptSink.on(environment.stderr)
            environment.stderr = prompt
            if environment.stdout.isTerminal { environment.stdout = prompt.sharing(environment.stdout) }
        }
        self.environment = environment
    }

    /// Takes the terminal again after the process was stopped: another program has used it.
    func resume() {
        guard let prompt = environment.stderr as? PromptSink else { return }
        TerminalMode.resume()
        if TerminalMode.isForeground(0) { prompt.redraw() }
    }

    /// Runs the request; `stop` contains the reason if the work ended early, by a signal or the deadline.
    func run(_ request: CommandLineRequest, stop: StopReason) async -> ExitCode {
        switch request {
        case .help(let command):
            let console = Console(
                stdout: environment.stdout, stderr: environment.stderr, options: Options(),
                variable: environment.variable)
            environment.stdout.write(Help.text(for: command, width: console.width))
            return checkedOutput(console) ?? .ok
        case .run(let invocation): return await run(invocation, stop: stop)
        case .complete(let request):
            if let request { await complete(request) }
            return .ok
        }
    }

    /// Prints proposals for a shell, and nothing when something goes wrong.
    private func complete(_ request: CompletionRequest) async {
        let completer = Completer(commands: Command.all, environment: environment) { words throws(Failure) in
            guard case .run(let invocation) = try InvocationParser.parse(words) else {
                throw .usage("not a command")
            }
            return invocation
        }
        await completer.complete(request.line) { environment.stdout.write(request.output($0)) }
    }

    private func run(_ invocation: Invocation, stop: StopReason) async -> ExitCode {
        let buffer =
            invocation.options.outputFile == nil || invocation.command.writesOwnFile ? nil : BufferSink()
        let console = Console(
            stdout: buffer ?? environment.stdout, stderr: environment.stderr, options: invocation.options,
            variable: environment.variable)
        var code = ExitCode.ok
        do {
            if let file = invocation.options.outputFile, !invocation.command.writesOwnFile {
                try InvocationCheck.output(file, of: "-o", invocation, environment)
                buffer?.saves(try environment.outputFile(file))
            }
            var invocation = invocation
            try invocation.options.takeDefaults(environment.variable)
            let resolved = try await invocation.resolvingNames(environment, console)
            code = try await resolved.command.run(
                CommandContext(
                    environment: environment, console: console, invocation: resolved, stop: stop))
        } catch {
            await environment.openLogins.finish()
            // What was not written is lost, whatever ended the command.
            let failure = error.kind == .output ? error : stop.failure ?? error
            // The process is being ended, which prints the reason.
            if stop.failure != nil, !stop.claimReport() { await Self.waitForTheEnd() }
            code = failure.code
            if failure.hasRest, let buffer {
                // A part of the result could not be used, or a file next to FILE could not be written.
                for failure in failure.saving({ () throws(Failure) in try buffer.save() }) {
                    console.failure(failure)
                }
            } else {
                console.failure(failure)
            }
        }
        if let buffer, Self.isResult(buffer.bytes, code, invocation.command) {
            do {
                try buffer.save()
            } catch {
                console.failure(error)
                return error.code
            }
        }
        return checkedOutput(console) ?? code
    }

    /// Reports that the output could not be written; nil if it could.
    private func checkedOutput(_ console: Console) -> ExitCode? {
        guard let message = environment.stdout.failure else { return nil }
        console.failure(
            Failure(code: .unreachable, kind: .output, message: "cannot write to stdout: \(message)"))
        return .unreachable
    }

    private static func waitForTheEnd() async {
        await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    /// Whether FILE receives the output.
    ///
    /// It receives a result, the tool's own error, the question of a server, and the output of a command that
    /// ends only when it is stopped. When a command failed otherwise, the file is left unchanged.
    private static func isResult(_ bytes: [UInt8], _ code: ExitCode, _ command: Command) -> Bool {
        switch code {
        case .ok: true
        case .toolError, .inputRequired, .checkFailed: !bytes.isEmpty
        case .interrupted, .timeout: command.endsByStopping && !bytes.isEmpty
        case .usage, .unreachable, .authentication, .protocolError: false
        }
    }
}
