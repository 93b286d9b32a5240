import MCPCore
import MCPHarness

/// A printer of what an agent does: its text on stdout, its calls on stderr, or every event as JSON.
struct AgentPrinter {
    let console: Console
    let printsEvents: Bool
    /// Whether calls are named with their server, because there are several.
    let namesSources: Bool
    /// Whether the answer is complete.
    private(set) var isComplete = false
    /// Whether the answer contains no text.
    private(set) var isEmpty = false
    /// The text that a pipe does not receive before it is known to be the answer.
    private var pending = ""
    /// Whether text was written that did not end its line.
    private var isInLine = false
    /// The last character of the text so far, while the next piece may continue it: an emoji of several, for
    /// example. While a question is open, the beginning of a line.
    private var held = ""
    /// The progress of the calls that run, by their IDs.
    private var progress: [String: ProgressLine] = [:]

    init(console: Console, printsEvents: Bool, namesSources: Bool = false) {
        self.console = console
        self.printsEvents = printsEvents
        self.namesSources = namesSources
    }

    mutating func show(_ event: HarnessEvent) {
        if case .completed(let reply) = event {
            isComplete = true
            isEmpty = reply.text.allSatisfy(\.isWhitespace)
        }
        if printsEvents { return console.json(RawJSON(AgentEventJSON.json(event))) }
        switch event {
        case .textDelta(let text): write(text)
        case .roundStarted: notePending()
        case .toolCallRequested(let request): requested(request)
        case .toolProgress(let id, let report): progress[id]?.show(report)
        case .toolCallCompleted(let result): completed(result)
        case .approvalRemembered(let request): noteCall(request.invocation)
        case .externalSources: note("  it uses sources outside this conversation")
        case .warning(let text):
            endLine()
            // The description of an error has its details and its hint in lines of their own.
            let lines = text.split(separator: "\n").prefix(8).map { inlineText($0.trimmingSpaces()) }
            console.note("warning: " + lines.joined(separator: "\n  "))
        case .completed(let reply): show(reply)
        case .usage, .toolInputDelta, .approvalRequested: break
        }
    }

    private mutating func write(_ text: String) {
        guard !console.isJSON else { return }
        guard console.stdout.isTerminal else { return pending += text }
        if prompt?.isAsking == true {
            // Whole lines stand above the question; the rest waits for its end, or for that of the answer.
            let end = text.lastIndex { $0 == "\n" || $0 == "\r\n" }.map(text.index(after:))
            held += text[..<(end ?? text.endIndex)]
            guard let end else { return }
            console.stdout.write(TerminalText.block(held, maxLine: .max))
            return held = String(text[end...])
        }
        let whole = held + text
        guard let last = whole.last else { return }
        held = Self.mayContinue(last) ? String(last) : ""
        console.stdout.write(TerminalText.block(held.isEmpty ? whole : String(whole.dropLast())))
        isInLine = whole.utf8.last != UInt8(ascii: "\n")
    }

    /// The terminal, if a person can be asked there.
    private var prompt: PromptSink? { console.stderr as? PromptSink }

    /// Whether a joiner or a variation selector behind a character could belong to it.
    private static func mayContinue(_ character: Character) -> Bool {
        guard let last = character.unicodeScalars.last, character.utf8.count <= maxHeld else { return false }
        return !last.isASCII || last.properties.isEmoji || last == "\r"
    }

    /// The longest character that is held back, in bytes.
    private static let maxHeld = 128

    private mutating func show(_ reply: HarnessReply) {
        if console.isJSON {
            console.json(RawJSON(AgentEventJSON.json(reply)))
        } else if console.stdout.isTerminal {
            endLine()
        } else if !isEmpty {
            console.stdout.write(reply.text + "\n")
        }
    }

    // MARK: Calls

    private mutating func requested(_ request: ToolExecutionRequest) {
        endLine()
        progress[request.invocation.callID] = ProgressLine(
            name: name(request.invocation), console: console)
        // The approval question shows it, possibly before this would be read.
        if case .ask = request.policy { return }
        noteCall(request.invocation)
    }

    private mutating func noteCall(_ invocation: ToolInvocation) {
        note("→ \(name(invocation)) \(inlineText(invocation.arguments))")
    }

    private mutating func completed(_ result: ToolExecutionResult) {
        progress.removeValue(forKey: result.invocation.callID)?.finish()
        let time = TimeSpan.text(result.duration)
        let text = result.status == .completed ? "" : ": \(inlineText(result.output.text))"
        note("← \(name(result.invocation)) \(result.status.rawValue) in \(time)\(text)")
    }

    private func name(_ invocation: ToolInvocation) -> String {
        let isNamed = namesSources && !invocation.source.name.isEmpty
        return (isNamed ? inlineText(invocation.source.name) + "/" : "") + inlineText(invocation.name)
    }

    private mutating func note(_ text: String) {
        endLine()
        console.note(console.noteStyle.dim(text))
    }

    /// Prints the pending text as a note: what a model says before it calls tools is not the answer.
    private mutating func notePending() {
        let maxLine = console.stderr.isTerminal ? TerminalText.maxLineLength : .max
        if !pending.isEmpty { note(TerminalText.block(pending, maxLine: maxLine)) }
        pending = ""
        endLine()
    }

    /// Ends the line that the model is writing, before something else is written.
    private mutating func endLine() {
        if !held.isEmpty {
            console.stdout.write(TerminalText.block(held, maxLine: .max))
            isInLine = true
        }
        held = ""
        // A question in the meantime has ended the line.
        if isInLine, prompt?.isBehindOutput != false { console.stdout.write("\n") }
        isInLine = false
    }

    /// Ends the output without an answer, so that the text so far is not taken for one.
    mutating func giveUp() {
        for line in progress.values { line.finish() }
        progress = [:]
        notePending()
    }
}
