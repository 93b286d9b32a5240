public import MCPCore

/// What happens while a harness works.
public enum HarnessEvent: Sendable {
    /// A piece of the model's text.
    case textDelta(String)
    /// What the model's answer cost.
    case usage(ModelUsage)
    /// The calls of a round begin, counted from 1.
    case roundStarted(Int)
    /// A piece of a call's arguments as the model writes them; the name may come with a later piece.
    case toolInputDelta(callID: String, name: String?, partialArguments: String)
    /// The model, a view or the user calls a tool; whether it may run is decided next.
    case toolCallRequested(ToolExecutionRequest)
    /// The user is about to be asked.
    case approvalRequested(ApprovalRequest)
    /// The call that follows uses sources outside the conversation, which people are to be shown.
    case externalSources(callID: String)
    /// A tool tells how far it has come.
    case toolProgress(callID: String, Progress)
    /// A call is over, however it ended.
    case toolCallCompleted(ToolExecutionResult)
    /// Something that the program should know, in words.
    case warning(String)
    /// The answer; the last event.
    case completed(HarnessReply)
}

/// A call before it is decided upon.
public struct ToolExecutionRequest: Sendable {
    /// The call.
    public let invocation: ToolInvocation
    /// The tool; nil when there is none of this name.
    public let tool: Tool?
    /// What was decided for the tool.
    public let policy: ToolPolicy
    /// Who calls.
    public let requestedBy: ToolCaller
}

/// A call after it has ended.
public struct ToolExecutionResult: Sendable {
    /// How a call ends.
    public enum Status: String, Sendable, Hashable {
        /// The tool answered, and did not say that it failed.
        case completed
        /// It was not allowed to run.
        case denied
        /// The caller gave up.
        case cancelled
        /// The tool failed, or the call was not one that it can take.
        case failed
    }

    /// The call.
    public let invocation: ToolInvocation
    /// How it ended.
    public let status: Status
    /// What the caller gets.
    public let output: CallToolResult
    /// When it was requested.
    public let start: ContinuousClock.Instant
    /// How long it took, with the time for the approval.
    public let duration: Duration
}

/// The answer to one message.
public struct HarnessReply: Sendable {
    /// The model's text of the last round.
    public let text: String
    /// All calls, in the order in which the model made them.
    public let calls: [ToolExecutionResult]
    /// Rounds of calls.
    public let rounds: Int
    /// What all answers of the model cost together.
    public let usage: ModelUsage
}
