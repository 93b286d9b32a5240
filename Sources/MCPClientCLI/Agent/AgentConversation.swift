import MCPCore
import MCPHarness

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A conversation with a model: one prompt, or prompts from the terminal.
struct AgentConversation {
    let harness: ToolHarness
    let file: ConversationFile
    let context: CommandContext
    /// The terminal at which prompts are edited; nil where they are not.
    let prompt: PromptSink?
    private var console: Console { context.console }
    private var options: AgentOptions { context.invocation.options.agent }

    /// Sends the prompts and returns when there are no more.
    func run() async throws(Failure) {
        let prompt = context.invocation.operands.first ?? ""
        guard prompt == "-" else { return try await send(prompt) }
        guard let person = context.environment.person, !context.environment.input.isStdinPiped else {
            let bytes = try context.environment.input.stdin()
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw .usage("the prompt is not UTF-8 text", details: ["nothing was sent"])
            }
            guard !text.allSatisfy(\.isWhitespace) else {
                throw .usage(
                    "the prompt is empty", details: ["standard input has nothing but blanks, or nothing"])
            }
            return try await send(text)
        }
        var last: Failure?
        var typed: [String] = []
        let nextLine = reader(of: person)
        while let line = await nextLine(typed) {
            if line.allSatisfy(\.isWhitespace) { continue }
            typed.append(line)
            last = nil
            do throws(Failure) {
                try await send(line)
            } catch {
                // The next prompt may fare better; the person ends the conversation.
                if error.kind == .interrupted { throw error }
                console.failure(error)
                last = error
            }
        }
        if Task.isCancelled { throw StopReason.interrupted }
        // What the person asked for is still missing.
        if let last, last.kind == .output { throw last }
    }

    /// Returns what reads the prompts that the person types; nil at the end of the input. Questions of
    /// servers are asked in between.
    private func reader(of person: Person) -> ([String]) async -> String? {
        let sink = console.stderr
        guard let prompt else {
            let (mark, nextLine) = (console.noteStyle.bold("> "), context.environment.nextLine)
            return { _ in
                let line = await atPrompt(person) { turn in
                    await sink.ask(mark) { await turn.read(nextLine) }
                }
                return line.map(accepted)
            }
        }
        let editor = LineEditor(
            prompt: "> ", sink: prompt, keyBytes: context.environment.keyBytes,
            onInterrupt: { kill(getpid(), SIGINT) })
        return { history in
            let line = await atPrompt(person) { await editor.read(history: history, $0) }
            return line.map(accepted)
        }
    }

    /// Reads at the prompt, between the questions of servers. Ctrl-C gives up a question, and not the
    /// conversation.
    private func atPrompt<T: Sendable>(
        _ person: Person, _ read: (TerminalTurn) async -> T?
    ) async -> T? {
        context.stop.onInterrupt { person.giveUp() != nil }
        defer { context.stop.onInterrupt(nil) }
        return await person.atPrompt(read)
    }

    /// Returns the text of a line, which is empty if it cannot be used; that is said.
    private func accepted(_ line: InputLine) -> String {
        switch line {
        case .text(let text): return text
        case .refused(let failure):
            console.failure(failure)
            return ""
        }
    }

    private func send(_ prompt: String) async throws(Failure) {
        var printer = AgentPrinter(
            console: console, printsEvents: options.printsEvents,
            namesSources: context.invocation.servers.count > 1)
        let turn = harness.streamHandle(prompt, rounds: options.rounds)
        do {
            for try await event in turn.events { printer.show(event) }
        } catch {
            printer.giveUp()
            warn(await keep(turn))
            let failure = AgentFailure(
                invocation: context.invocation, continuation: file.isKept ? file.continuation : nil)
            throw failure.failure(of: error)
        }
        let problem = await keep(turn)
        // A stream whose reader is cancelled ends like one that is complete.
        guard printer.isComplete else {
            printer.giveUp()
            warn(problem)
            throw StopReason.interrupted
        }
        if let problem, file.isChosen, !printer.isEmpty { throw problem }
        warn(problem)
        if printer.isEmpty {
            throw Failure(
                code: .toolError, kind: .toolError, message: "the model's answer is empty",
                hint: "send the message again, or use another model")
        }
    }

    /// Keeps the conversation with what was done in a turn; returns the reason why it is not kept.
    private func keep(_ turn: StreamHandle) async -> Failure? {
        // The events of a command that is stopped end before the calls are in the transcript.
        await turn.waitUntilEnded()
        let messages = await harness.transcript
        if messages.isEmpty { return nil }
        do throws(Failure) {
            if let note = try file.write(messages) { console.note("warning: \(note)") }
            return nil
        } catch {
            return error
        }
    }

    private func warn(_ problem: Failure?) {
        if let problem { console.note("warning: \(problem.message)") }
    }
}

extension Failure {
    /// Creates a failure with the description of an error, which has its details and its hint in lines of
    /// their own.
    init(describing text: String, hint: String? = nil) {
        var lines = text.split(separator: "\n").map { inlineText($0.trimmingSpaces()) }
        let own = lines.dropFirst().lastIndex { $0.hasPrefix("hint: ") }.map { lines.remove(at: $0) }
        self.init(
            code: .toolError, kind: .toolError, message: lines.first ?? "", details: Array(lines.dropFirst()),
            hint: own.map { String($0.dropFirst(6)) } ?? hint)
    }
}

/// The wording of errors that end a turn.
struct AgentFailure {
    let invocation: Invocation
    /// The flags that go on with the conversation; nil if it is not kept.
    let continuation: String?

    func failure(of error: any Error) -> Failure {
        switch error {
        case let error as TurnError:
            var failure = failure(of: error.cause)
            let done = "\(error)".split(separator: "\n").last ?? ""
            failure.details.append(inlineText(String(done)))
            if let continuation, failure.hint == nil {
                failure.hint = "\(continuation) goes on with the conversation"
            }
            return failure
        case let error as HarnessError:
            return Failure(describing: "\(error)", hint: programHint)
        case let error as ModelServerError: return failure(of: error)
        default: return other(error)
        }
    }

    private func failure(of error: ModelServerError) -> Failure {
        let code: ExitCode
        let kind: Failure.Kind
        switch error.cause.kind {
        case .cannotConnect, .tls: (code, kind) = (.unreachable, .cannotConnect)
        case .connectionClosed: (code, kind) = (.unreachable, .connectionClosed)
        case .authentication: (code, kind) = (.authentication, .authRequired)
        case .timeout: (code, kind) = (.timeout, .timeout)
        case .cancelled: return StopReason.interrupted
        default: (code, kind) = (.toolError, .toolError)
        }
        var failure = Failure(
            code: code, kind: kind,
            message: TerminalText.inline(MaskedText.urls(in: error.message), limit: 1000),
            hint: error.hint.map { inlineText(MaskedText.urls(in: $0)) }, status: error.cause.httpStatus)
        if code == .authentication {
            failure.hint = "--model-key-env VAR names the variable that holds the model's key"
        }
        return failure
    }

    private func other(_ error: any Error) -> Failure {
        var failure = FailureMapping.failure(error, method: nil, subject: nil, invocation: invocation)
        if case .program(let words) = invocation.options.agent.model, failure.code == .protocolError {
            failure.code = .unreachable
            failure.kind = .cannotStart
            let name = inlineText(words.first ?? "")
            let reason = failure.message.dropping(prefix: name + ": ") ?? failure.message
            failure.message = "cannot start the model \(name): \(reason)"
            failure.hint = failure.hint ?? "--model-command 'PROGRAM ARGS' names the program"
        }
        return failure
    }

    /// What to do about a model that is a program and failed.
    private var programHint: String? {
        guard case .program = invocation.options.agent.model else { return nil }
        return "run the program by hand: for each line of JSON on its stdin it writes its answer as one line"
    }
}
