import MCPCore
import Synchronization

/// `provide`: offers tools in a channel of a daemon until it is stopped.
struct ProvideCommand {
    let context: CommandContext
    private var environment: CommandEnvironment { context.environment }
    private var console: Console { context.console }
    private var invocation: Invocation { context.invocation }
    private var options: Options { invocation.options }

    init(_ context: CommandContext) { self.context = context }

    func run() async throws(Failure) -> ExitCode {
        let address = try address(invocation.operands.first ?? "")
        let progress = Progress()
        let provider = try provider(at: address, progress)
        do {
            if options.isOnce { try await provider.runOnce() } else { try await run(provider, progress) }
            if options.isOnce, let program = invocation.program?.first, !progress.hasOffered,
                context.stop.failure == nil
            {
                var error = ClientError(
                    .connectionClosed,
                    "the offered program \(program.cleaned(maxBytes: 256)) exited with status 0")
                error.isEndOfProgram = true
                throw error
            }
            return .ok
        } catch let failure as Failure {
            throw failure
        } catch {
            var failure = FailureMapping.failure(
                error, method: nil, subject: "provide", invocation: invocation)
            if failure.kind == .connectionClosed, !progress.hasOffered, let program = invocation.program {
                // One that ended needs no further look: what it wrote to stderr stands above.
                if (error as? ClientError)?.isEndOfProgram == true {
                    failure.message += " before its tools were offered"
                } else {
                    try await check(program)
                }
                failure.hint = failure.hint ?? programHint
            }
            if failure.code == .authentication {
                let more = (error as? ClientError)?.hint.map { "; \(inlineText($0))" } ?? ""
                failure.hint = "--token-file FILE or --bearer-env VAR sends a token" + more
            }
            throw failure
        }
    }

    /// Offers the tools until the command is stopped.
    ///
    /// When the connection ends before any tool was offered, the program is looked at once: if it is no
    /// server, it will not be one at the next attempt either. One that ended on its own was started with the
    /// probe of the daemon and without it.
    private func run(_ provider: ClientToolProvider, _ progress: Progress) async throws {
        guard let program = invocation.program else { return try await provider.run() }
        let first = Task { try await provider.run() }
        progress.onRefusal { first.cancel() }
        try await withTaskCancellationHandler {
            try await first.value
        } onCancel: {
            first.cancel()
        }
        guard let refusal = progress.refusal, !Task.isCancelled else { return }
        if refusal.isEndOfProgram { throw refusal }
        try await check(program)
        console.note("\(inlineText(refusal.message)); trying again")
        try await provider.run()
    }

    /// Connects to the offered program as the daemon does.
    ///
    /// - Throws: the reason why it cannot be offered.
    private func check(_ program: [String]) async throws(Failure) {
        var own = invocation
        own.target = .program(program)
        own.options.bearerEnv = nil
        do throws(Failure) {
            let connector = Connector(environment: environment, console: console, timings: Timings())
            await (try await connector.connect(.program(program), own)).client.close()
        } catch {
            var failure = error
            if failure.kind == .interrupted { throw failure }
            if let name = program.first, failure.message.hasPrefix(name) {
                failure.message = "the offered program " + failure.message
            }
            failure.hint = programHint
            throw failure
        }
    }

    /// Returns the address that a word stands for. A relative path is that of a socket only while there is
    /// one: `localhost/mcp` is a mistake, and no path.
    private func address(_ text: String) throws(Failure) -> ProviderAddress {
        let path = ConfigPlace.absolute(text, in: environment.currentDirectory)
        if SystemFile.isSocket(path) { return .unix(path: path) }
        if let address = ProviderAddress(text) { return address }
        let forms = "https://HOST, http://HOST:PORT, HOST:PORT or the path of a socket"
        guard text.contains("/"), !text.contains(":") else {
            throw .usage(
                "\(quoted(text)) is not the address of a daemon",
                details: ["it is neither a URL nor the path of a socket"], hint: forms)
        }
        throw .usage(
            "\(quoted(text)) is not the address of a daemon", details: ["no socket exists at that path"],
            hint: "start the daemon first, or wait for it with the whole path: "
                + ShellWord.quote(inlineText(path)))
    }

    /// What has happened so far.
    private final class Progress: Sendable {
        private let offered = Atomic<Bool>(false)
        private let hinted = Atomic<Bool>(false)
        private struct Refusal {
            var error: ClientError?
            var act: (@Sendable () -> Void)?
        }
        private let refused = Mutex(Refusal())

        /// The first end of a connection before any tool was offered.
        var refusal: ClientError? { refused.withLock { $0.error } }
        /// Sets what to do about it.
        func onRefusal(_ act: @escaping @Sendable () -> Void) {
            if refused.withLock({ refused in
                refused.act = act
                return refused.error != nil
            }) {
                act()
            }
        }
        /// Notes that end; returns false for a later one.
        func refuse(_ error: ClientError) -> Bool {
            let act = refused.withLock { refused -> (@Sendable () -> Void)? in
                guard refused.error == nil else { return nil }
                refused.error = error
                return refused.act ?? {}
            }
            act?()
            return act != nil
        }
        var hasOffered: Bool { offered.load(ordering: .acquiring) }
        func offer() { offered.store(true, ordering: .releasing) }
        /// Whether a hint is given: only once, because the attempts continue.
        func claimHint() -> Bool { !hinted.exchange(true, ordering: .relaxed) }
    }

    private var programHint: String {
        let line = MaskedEntry.line(of: invocation.program ?? [])
        return "is it an MCP server on stdin and stdout? mcp-client doctor -- \(inlineText(line)) "
            + "shows each step"
    }

    private func provider(
        at address: ProviderAddress, _ progress: Progress
    ) throws(Failure) -> ClientToolProvider {
        let clientID = options.clientID ?? "mcp-client-\(SystemFile.processID)"
        let token = try token()
        let console = console
        let channel = options.channel
        guard ChannelName.isRegistrable(channel) else {
            throw .usage("\(quoted(channel)) is not a channel name", hint: ChannelName.rule)
        }
        let programHint = invocation.program == nil ? nil : programHint
        let shown = inlineText(MaskedText.urls(in: "\(address)"))
        let tell: @Sendable (ClientToolProvider.Event) -> Void = { event in
            switch event {
            case .connected: console.note("connected to \(shown)")
            case .registered(let report):
                if report.problem == nil, !report.tools.isEmpty { progress.offer() }
                Self.show(report, "\(inlineText(channel)) of \(shown)", console)
            case .disconnected(let error, _)
            where programHint != nil && error.kind == .connectionClosed && !progress.hasOffered
                && progress.refuse(error):
                break
            case .disconnected(let error, let pause):
                console.note(
                    "\(inlineText(MaskedText.urls(in: error.message))); trying again in \(pause.formatted)")
                if error.kind == .cannotConnect, progress.claimHint() {
                    console.note("hint: is the daemon running with client tools enabled?")
                } else if let programHint, !progress.hasOffered, progress.claimHint() {
                    console.note("hint: " + programHint)
                }
            }
        }
        switch (invocation.program, options.demoTools.isEmpty) {
        case (let program?, true):
            return ClientToolProvider(
                .program(ProcessLaunch(program[0], Array(program.dropFirst()))), channel: channel,
                clientID: clientID, address: address, token: token,
                onProgramStderr: { console.stderr.write(TerminalText.block($0) + "\n") },
                onEvent: tell)
        case (nil, false):
            return ClientToolProvider(
                server: DemoTools.server(options.demoTools, console), channel: channel, clientID: clientID,
                address: address, token: token, onEvent: tell)
        case (nil, true):
            throw .usage(
                "provide needs tools", hint: "--tool NAME, or an MCP server at the end: -- PROGRAM ARGS")
        case (_?, false):
            throw .usage("--tool and a program after -- cannot be combined")
        }
    }

    /// Shows what the daemon has accepted and refused, by name.
    private static func show(_ report: ClientToolReport, _ place: String, _ console: Console) {
        if let problem = report.problem {
            return console.note("nothing is offered in \(place): \(inlineText(problem))")
        }
        let names = report.tools.map { inlineText($0) }.joined(separator: ", ")
        console.note(
            report.tools.isEmpty ? "no tool is offered in \(place)" : "offering tools in \(place): \(names)")
        for tool in report.renamed {
            console.note(
                "renamed: \(inlineText(tool.name)) is offered as \(inlineText(tool.shown)): "
                    + inlineText(tool.reason))
        }
        for refusal in report.refused {
            console.note("refused: \(inlineText(refusal.name)): \(inlineText(refusal.reason))")
        }
    }

    /// Returns the source of the token, which is read at each attempt.
    private func token() throws(Failure) -> @Sendable () -> String? {
        if options.tokenFile != nil, options.bearerEnv != nil {
            throw .usage("--token-file and --bearer-env cannot be combined")
        }
        if let name = options.bearerEnv {
            guard let value = environment.variable(name).flatMap(Self.firstWord) else {
                throw .usage(
                    "the environment variable \(inlineText(name)) contains no token",
                    hint: "--bearer-env names the variable")
            }
            return { value }
        }
        guard let file = options.tokenFile else { return { nil } }
        let (environment, isQuiet) = (environment, options.quiet)
        _ = try environment.secretFile(file, isQuiet: isQuiet)
        // A restarted daemon may have a new token.
        return {
            (try? environment.secretFile(file, isQuiet: isQuiet)).flatMap {
                Self.firstWord(String(decoding: $0, as: UTF8.self))
            }
        }
    }

    private static func firstWord(_ text: String) -> String? {
        text.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }
}

extension Duration {
    /// The duration in seconds, to a tenth of a second.
    fileprivate var formatted: String {
        let tenths = components.seconds * 10 + components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
