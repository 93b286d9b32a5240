import MCPCore
import Synchronization

/// `shell`: reads command lines and runs them over one connection.
struct ShellCommand {
    let context: CommandContext
    /// The commands of the shell: those that connect to one server.
    let commands: [Command]
    /// Parses a line.
    let parse: @Sendable ([String]) throws(Failure) -> Request
    /// Returns the help text of a command, for a terminal of this width.
    let help: @Sendable (Command, Int?) -> String
    /// Whether a word is a command outside of shells.
    let isCommand: @Sendable (String) -> Bool

    /// What a line asks for.
    enum Request {
        case run(Invocation)
        case help(Command?)
    }

    private var environment: CommandEnvironment { context.environment }
    private var console: Console { context.console }

    func run() async throws(Failure) -> ExitCode {
        guard environment.editsLines else { return try await run(nil) }
        let prompt = PromptSink.on(environment.stderr)
        return try await ShellCommand(
            context: context.writing(to: prompt), commands: commands, parse: parse, help: help,
            isCommand: isCommand
        ).run(prompt)
    }

    private func run(_ prompt: PromptSink?) async throws(Failure) -> ExitCode {
        try await context.withSession { session throws(Failure) in
            await work(session, prompt)
            // Each line has reported its own failure.
            session.interaction.forget()
            return last.value
        }
    }

    private let last = LastCode()

    private final class LastCode: Sendable {
        private let code = Mutex((last: ExitCode.ok, refused: ExitCode?.none))
        var value: ExitCode { code.withLock { $0.last == .ok ? $0.refused ?? .ok : $0.last } }
        func set(_ new: ExitCode) { code.withLock { $0.last = new } }
        /// Notes a line that was not run; the success of later lines does not hide it.
        func refuse(_ code: ExitCode) { self.code.withLock { $0.refused = code } }
    }

    private func work(_ session: Session, _ prompt: PromptSink?) async {
        defer { context.stop.onInterrupt(nil) }
        if environment.person != nil {
            console.note(
                console.noteStyle.dim("\(session.identity) · help lists the commands, Ctrl-D ends"))
        }
        let name = TextWrap.prefix(
            of: session.client.serverInfo.map { inlineText($0.name) } ?? "mcp", width: 20)
        guard let prompt else {
            while !Task.isCancelled, let line = await nextLine("\(name)> ") {
                if let text = accepted(line), await !perform(text, session) { return }
            }
            return
        }
        let history = ShellHistory(environment.variable)
        let editor = LineEditor(
            prompt: "\(name)> ", sink: prompt, keyBytes: environment.keyBytes,
            complete: { await words($0, session) })
        while !Task.isCancelled,
            let line = await atPrompt({ await editor.read(history: history.lines, $0) })
        {
            guard let text = accepted(line) else { continue }
            history.add(text)
            if await !perform(text, session, isInterrupted: editor.interruptsCommand) { return }
        }
        // Ctrl-D is how people leave.
        if !Task.isCancelled { last.set(.ok) }
    }

    /// Returns the text of a line, or says why it cannot be used.
    private func accepted(_ line: InputLine) -> String? {
        switch line {
        case .text(let text): return text
        case .refused(let failure):
            console.failure(failure)
            last.refuse(failure.code)
            return nil
        }
    }

    /// Returns the next line of a shell without an editor; at a terminal, questions are asked in between.
    private func nextLine(_ prompt: String) async -> InputLine? {
        guard environment.person != nil else { return await environment.nextLine() }
        let (sink, nextLine) = (console.stderr, environment.nextLine)
        return await atPrompt { turn in await sink.ask(prompt) { await turn.read(nextLine) } }
    }

    /// Reads a line between the questions of the server. Ctrl-C gives up a question, and not the shell.
    private func atPrompt<T: Sendable>(_ read: (TerminalTurn) async -> T?) async -> T? {
        guard let person = environment.person else { return await read(TerminalTurn()) }
        // An editor reads Ctrl-C as a key; one between a command and the prompt is for neither.
        let hasEditor = environment.editsLines
        context.stop.onInterrupt { person.giveUp() != nil || hasEditor }
        return await person.atPrompt(read)
    }

    // MARK: Lines

    /// Runs a line; returns false if it ends the shell.
    ///
    /// - Parameter isInterrupted: whether its command is cancelled at once.
    private func perform(_ line: String, _ session: Session, isInterrupted: Bool = false) async -> Bool {
        let read = ShellLine(whole: line.trimmingWhitespace())
        let words = read.words
        guard read.quote != .none || words.first.map({ !$0.hasPrefix("#") }) == true else { return true }
        let first = words.first ?? ""
        let isEnd = ["exit", "quit"].contains(first)
        if isEnd, words.count == 1, read.quote == .none { return false }
        do throws(Failure) {
            guard read.quote == .none else {
                throw .usage(
                    "a quotation mark is not closed, so nothing was done",
                    hint: "write \\\" or \\' for the character itself")
            }
            if isEnd {
                throw .usage(
                    "\(first) takes no argument", hint: "the status is that of the last command")
            }
            last.set(first == "help" ? try explain(words) : try await run(words, session, isInterrupted))
        } catch {
            var failure = error
            // The shell says why it ends.
            if failure.kind == .interrupted, context.stop.failure != nil { return false }
            // What follows cannot succeed: the program is not started again, and an event stream of
            // 2024-11-05 has ended with its session.
            if failure.kind == .connectionClosed, session.client.hasEnded || isProgram {
                failure.hint = "leave the shell with exit, and start it again"
            }
            if failure.kind == .inputRequired, let hint = failure.hint, hint.hasPrefix("--answer") {
                failure.hint = "in the command line of the shell: " + hint
            }
            console.failure(failure)
            last.set(failure.code)
        }
        return true
    }

    private var isProgram: Bool {
        if case .program? = context.invocation.target { true } else { false }
    }

    private func explain(_ words: [String]) throws(Failure) -> ExitCode {
        guard words.count > 1 else {
            let rows = commands.map { command in
                [([command.name] + command.ownPlaceholders).joined(separator: " "), command.summary]
            }
            for line in ToolCommand.columns(rows + [["help COMMAND", "explain one of them"], ["exit", ""]]) {
                let start = line.firstRange(of: "  ")
                let rest = start.map { line[$0.lowerBound...].prefix { $0 == " " }.count } ?? 0
                let column = (start.map { line[..<$0.lowerBound].count } ?? 0) + rest
                console.wrapped(line, hanging: (console.width ?? 0) - column >= 24 ? column : 4)
            }
            return .ok
        }
        console.stdout.write(help(try command(words[1]), console.width))
        return .ok
    }

    private func command(_ name: String) throws(Failure) -> Command {
        if let command = commands.first(where: { $0.name == name }) { return command }
        let best = Suggestion.best(for: name, among: commands.map(\.name))
        throw .usage(
            "\(quoted(name)) is not a command of the shell",
            details: best.map { ["did you mean \($0)?"] } ?? [],
            hint: best == nil && isCommand(name)
                ? "leave the shell with exit, and run mcp-client \(name)" : "help lists the commands")
    }

    private func run(
        _ words: [String], _ session: Session, _ isInterrupted: Bool
    ) async throws(Failure) -> ExitCode {
        let prefix = CommandPrefix(words, commands: commands)
        if prefix.command == nil, let word = prefix.unknown, !word.hasPrefix("-") { _ = try command(word) }
        if words.contains("--") {
            throw .usage("a shell has one server", hint: "leave -- and the program out")
        }
        var invocation: Invocation
        switch try parse(words) {
        case .run(let parsed): invocation = parsed
        case .help(let command):
            guard let command else { return try explain([]) }
            console.stdout.write(help(command, console.width))
            return .ok
        }
        try invocation.options.takeDefaults(environment.variable)
        invocation.options.inherit(context.invocation.options)
        invocation.target = context.invocation.target
        invocation.targetText = context.invocation.targetText
        invocation.configuredName = context.invocation.configuredName
        invocation.options.filesRead += context.invocation.options.filesRead
        return try await run(invocation, session, isInterrupted)
    }

    /// Runs a command until it ends, or until Ctrl-C cancels it.
    private func run(
        _ invocation: Invocation, _ session: Session, _ isInterrupted: Bool
    ) async throws(Failure) -> ExitCode {
        let environment = inputless
        let buffer = invocation.options.outputFile == nil ? nil : BufferSink()
        if let file = invocation.options.outputFile {
            try InvocationCheck.output(file, of: "-o", invocation, environment)
            buffer?.saves(try environment.outputFile(file))
        }
        let own = CommandContext(
            environment: environment,
            console: Console(
                stdout: buffer ?? environment.stdout, stderr: environment.stderr, options: invocation.options,
                variable: environment.variable),
            invocation: invocation, stop: context.stop, open: session)
        let task = Task { () -> Result<ExitCode, Failure> in
            if isInterrupted { return .failure(StopReason.interrupted) }
            do throws(Failure) {
                return .success(try await invocation.command.run(own))
            } catch {
                return .failure(error)
            }
        }
        let interrupts = Interrupts()
        let person = environment.person
        context.stop.onInterrupt {
            task.cancel()
            // A command that does not end when it is cancelled ends with the shell.
            return interrupts.isEnough(givingUp: person?.giveUp())
        }
        // With a person, the prompt that follows sets its own.
        defer { if person == nil { context.stop.onInterrupt(nil) } }
        let outcome = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        guard let buffer else { return try outcome.get() }
        switch outcome {
        case .success: try buffer.save()
        case .failure(let failure) where failure.hasRest:
            // A part of the result could not be used, or a file next to FILE could not be written.
            let all = failure.saving { () throws(Failure) in try buffer.save() }
            for failure in all.dropLast() { console.failure(failure) }
            throw all.last ?? failure
        case .failure: break
        }
        return try outcome.get()
    }

    private final class Interrupts: Sendable {
        private let state = Mutex((question: TerminalTurn?.none, count: 0))

        /// Whether nothing but the command has to end: at the first interrupt, and while the question that it
        /// gave up is still there.
        func isEnough(givingUp question: TerminalTurn?) -> Bool {
            state.withLock { state in
                if let question, state.question ?? question === question {
                    state.question = question
                    return true
                }
                state.count += 1
                return state.count == 1
            }
        }
    }

    /// The standard input has the lines of the shell: no command reads it.
    private var inputless: CommandEnvironment {
        var environment = environment
        environment.input = ArgumentInput(
            file: environment.input.file, secretFile: environment.input.secretFile,
            stdin: { () throws(Failure) in
                throw .usage("stdin has the lines of the shell", hint: "@FILE reads a file")
            }, isStdinPiped: false)
        return environment
    }

    // MARK: Completion

    private func words(_ text: String, _ session: Session) async -> (start: Int, words: [String]) {
        let line = ShellLine(text)
        // Inside the shell, TARGET is left out.
        let inside = commands.map { command in
            var command = command
            command.targets = .none
            return command
        }
        let parse = parse
        let completer = Completer(commands: inside, environment: environment) { words throws(Failure) in
            guard case .run(let invocation) = try parse(words) else { throw .usage("not a command") }
            return invocation
        }
        let server = CompletionServer(session)
        let candidates = await Self.limited { await completer.candidates(line, server) }
        let words = candidates.prefix(Candidate.maxCount).compactMap { line.insertion(of: $0) }
        return (text.count - line.typedCount, words.sorted())
    }

    /// Returns no proposals when they take too long.
    private static func limited(_ work: @escaping @Sendable () async -> [Candidate]) async -> [Candidate] {
        await withTaskGroup(of: [Candidate].self) { group in
            group.addTask { await work() }
            group.addTask {
                try? await Task.sleep(for: Completer.limit)
                return []
            }
            let first = await group.next() ?? []
            group.cancelAll()
            return first
        }
    }
}
