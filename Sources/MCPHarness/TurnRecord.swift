import MCPCore

/// What a turn has achieved so far: it is kept when the turn ends early.
struct TurnRecord {
    /// The conversation with the finished rounds: every call in it has a result.
    private(set) var messages: [ModelMessage]
    private(set) var calls: [ToolExecutionResult] = []
    private(set) var rounds = 0
    /// The IDs of calls that are in use, also of those that the model began to write and did not make.
    private(set) var ids: CallIDs
    private(set) var usage = ModelUsage()

    init(_ messages: [ModelMessage]) {
        self.messages = messages
        ids = CallIDs(messages)
    }

    /// Notes an answer of the model.
    mutating func note(_ turn: ModelTurn) {
        usage = usage + turn.usage
        ids = turn.ids
    }

    /// Adds a finished round.
    mutating func add(
        _ turn: ModelTurn, _ results: [ToolExecutionResult], _ shown: [ModelToolResult]
    ) {
        rounds += 1
        calls += results
        messages += [.assistant(turn.text, turn.calls), .toolResults(shown)]
    }

    func reply(_ text: String) -> HarnessReply {
        HarnessReply(
            text: text, calls: calls, rounds: rounds, usage: usage,
            messages: messages + [.assistant(text, [])])
    }

    /// Returns the error to throw: with the finished calls, if there are any.
    func error(for cause: any Error) -> any Error {
        if calls.isEmpty || cause is CancellationError || Task.isCancelled { return cause }
        return TurnError(cause: cause, calls: calls, rounds: rounds, usage: usage, messages: messages)
    }
}
