import MCPCore
import MCPHarness

/// A printer of what an agent does: its text on stdout, its calls on stderr, or every event as JSON.
struct AgentPrinter {
    let console: Console
    let printsEvents: Bool
    /// Whether the answer is complete.
    private(set) var isComplete = false
    /// The text that a pipe does not receive before it is known to be the answer.
    private var pending = ""
    private var hasWritten = false

    init(console: Console, printsEvents: Bool) {
        self.console = console
        self.printsEvents = printsEvents
    }

    mutating func show(_ event: HarnessEvent) {
        if case .completed = event { isComplete = true }
        if printsEvents { return console.json(RawJSON(AgentEventJSON.json(event))) }
        switch event {
        case .textDelta(let text):
            guard !console.isJSON else { return }
            guard console.stdout.isTerminal else { return pending += text }
            console.stdout.write(TerminalText.block(text))
            hasWritten = true
        case .roundStarted: notePending()
        case .toolCallRequested(let request):
            // The approval question shows it, possibly before this would be read.
            if case .ask = request.policy { return }
            let name = inlineText(request.invocation.name)
            console.note(console.noteStyle.dim("→ \(name) \(inlineText(request.invocation.arguments))"))
        case .toolCallCompleted(let result):
            let time = TimeSpan.text(result.duration)
            let text = result.status == .completed ? "" : ": \(inlineText(result.output.text))"
            let name = inlineText(result.invocation.name)
            console.note(console.noteStyle.dim("← \(name) \(result.status.rawValue) in \(time)\(text)"))
        case .warning(let text): console.note("warning: \(inlineText(text))")
        case .completed(let reply):
            if console.isJSON {
                console.json(RawJSON(AgentEventJSON.json(reply)))
            } else {
                console.stdout.write(console.stdout.isTerminal ? "\n" : reply.text + "\n")
            }
        case .usage, .toolInputDelta, .approvalRequested, .externalSources, .toolProgress:
            break
        }
    }

    /// Prints the pending text as a note: what a model says before it calls tools is not the answer.
    private mutating func notePending() {
        if !pending.isEmpty { console.note(console.noteStyle.dim(TerminalText.block(pending))) }
        pending = ""
    }

    /// Ends the output when there is no answer: the text so far must not pass for one.
    mutating func giveUp() {
        notePending()
        if hasWritten { console.stdout.write("\n") }
    }
}

/// Events as JSON: `{"event": …}` with the members of each event.
enum AgentEventJSON {
    static func json(_ event: HarnessEvent) -> JSONValue {
        switch event {
        case .textDelta(let text): ["event": "text", "delta": .string(text)]
        case .usage(let usage): ["event": "usage", "usage": json(usage)]
        case .roundStarted(let round): ["event": "round", "round": JSONValue(round)]
        case .toolInputDelta(let id, _, let partial):
            ["event": "toolInput", "callId": .string(id), "partialArguments": .string(partial)]
        case .toolCallRequested(let request):
            [
                "event": "toolCallRequested", "call": json(request.invocation),
                "policy": .string(word(request.policy)), "scopes": scopes(request.policy),
            ]
        case .approvalRequested(let request):
            [
                "event": "approvalRequested", "call": json(request.invocation),
                "scopes": scopes(request.policy),
            ]
        case .externalSources(let id): ["event": "externalSources", "callId": .string(id)]
        case .toolProgress(let id, let progress):
            ["event": "toolProgress", "callId": .string(id), "progress": JSONValue(progress.progress)]
        case .toolCallCompleted(let result): ["event": "toolCallCompleted", "result": json(result)]
        case .warning(let text): ["event": "warning", "message": .string(text)]
        case .completed(let reply): ["event": "completed", "reply": json(reply)]
        }
    }

    static func json(_ reply: HarnessReply) -> JSONValue {
        [
            "text": .string(reply.text), "rounds": JSONValue(reply.rounds),
            "calls": .array(reply.calls.map(json)), "usage": json(reply.usage),
        ]
    }

    private static func json(_ invocation: ToolInvocation) -> JSONValue {
        [
            "callId": .string(invocation.callID), "source": .string(invocation.source.name),
            "name": .string(invocation.name), "arguments": .string(invocation.arguments),
        ]
    }

    private static func json(_ result: ToolExecutionResult) -> JSONValue {
        [
            "call": json(result.invocation), "status": .string(result.status.rawValue),
            "text": .string(result.output.text), "durationMs": JSONValue(result.duration / .milliseconds(1)),
        ]
    }

    private static func json(_ usage: ModelUsage) -> JSONValue {
        ["inputTokens": JSONValue(usage.inputTokens), "outputTokens": JSONValue(usage.outputTokens)]
    }

    private static func word(_ policy: ToolPolicy) -> String {
        switch policy {
        case .automatic: "automatic"
        case .ask: "ask"
        case .deny: "deny"
        }
    }

    private static func scopes(_ policy: ToolPolicy) -> JSONValue {
        .array(policy.scopes.sorted().map { .string($0.name) })
    }
}
