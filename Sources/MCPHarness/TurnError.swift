import MCPCore

/// An error that ended a turn in which tools have already run.
///
/// The finished rounds stay in the conversation, so that the next message can build on them. A turn in which
/// nothing ran throws the cause itself, and leaves the conversation as it was; a cancelled turn throws
/// `CancellationError`, and its finished rounds stay in the conversation, too.
public struct TurnError: Error, Sendable, CustomStringConvertible {
    /// What ended the turn: a `HarnessError` such as `toolLoopLimitExceeded`, or an error of the model.
    public let cause: any Error
    /// The calls that have ended, in the order in which the model made them.
    public let calls: [ToolExecutionResult]
    /// The number of finished rounds.
    public let rounds: Int
    /// The cost of the model's answers so far.
    public let usage: ModelUsage
    /// The conversation with the finished rounds.
    public let messages: [ModelMessage]

    /// A description for a person: the cause, and which tools ran before.
    public var description: String {
        let shown = 5
        let names = calls.prefix(shown).map { "\($0.invocation.name) (\($0.status.rawValue))" }
        let more = calls.count > shown ? " and \(calls.count - shown) more" : ""
        return "\(cause)\nbefore that: " + names.joined(separator: ", ") + more
    }
}
