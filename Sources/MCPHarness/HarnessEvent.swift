public import MCPCore

/// An event that occurs while a harness is working.
public enum HarnessEvent: Sendable {
    /// A piece of the model's text.
    case textDelta(String)
    /// The cost of the model's answer.
    case usage(ModelUsage)
    /// A round of calls begins; rounds are counted from 1.
    case roundStarted(Int)
    /// A piece of a call's arguments, sent while the model is writing them; the name may arrive with a later
    /// piece.
    case toolInputDelta(callID: String, name: String?, partialArguments: String)
    /// The model, a view or the user requests a tool call; whether it may run is decided next.
    case toolCallRequested(ToolExecutionRequest)
    /// The user is about to be asked.
    case approvalRequested(ApprovalRequest)
    /// A remembered decision allows the call, so that nobody is asked.
    case approvalRemembered(ApprovalRequest)
    /// The next call uses sources outside the conversation, which must be shown to people.
    case externalSources(callID: String)
    /// A tool reports its progress.
    case toolProgress(callID: String, ProgressReport)
    /// A call has ended, whatever its outcome.
    case toolCallCompleted(ToolExecutionResult)
    /// A problem that the program should know about, in words.
    case warning(String)
    /// The reply; the last event.
    case completed(HarnessReply)
}

/// A call before the decision on whether it may run.
public struct ToolExecutionRequest: Sendable {
    /// The call.
    public let invocation: ToolInvocation
    /// The tool; nil when no tool has this name.
    public let tool: Tool?
    /// The policy that applies to the tool.
    public let policy: ToolPolicy
    /// The caller.
    public let requestedBy: ToolCaller
}

/// A call after it has ended.
public struct ToolExecutionResult: Sendable {
    /// The outcome of a call.
    public enum Status: String, Sendable, Hashable {
        /// The tool returned a result that does not report a failure.
        case completed
        /// The call was not allowed to run.
        case denied
        /// The caller gave up.
        case cancelled
        /// The tool failed, or the call was not valid for it.
        case failed
    }

    /// The call.
    public let invocation: ToolInvocation
    /// The outcome.
    public let status: Status
    /// The result that the caller receives.
    public let output: CallToolResult
    /// The time at which the call was requested.
    public let start: ContinuousClock.Instant
    /// The duration of the call, without the time for the approval.
    public let duration: Duration
    /// The time that the user took to decide, and that the question waited for others; zero if no one was
    /// asked.
    public let approvalDuration: Duration
}

/// The reply to one message.
public struct HarnessReply: Sendable {
    /// The model's text from the last round.
    public let text: String
    /// All calls, in the order in which the model made them.
    public let calls: [ToolExecutionResult]
    /// The number of rounds of calls.
    public let rounds: Int
    /// The total cost of all answers of the model.
    public let usage: ModelUsage
    /// The conversation including this reply.
    public let messages: [ModelMessage]
}
