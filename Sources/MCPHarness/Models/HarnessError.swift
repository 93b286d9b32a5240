/// Why a harness could not be made, or did not come to an answer.
public enum HarnessError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A tool is declared and has no handler.
    case missingToolHandler(String)
    /// Two tools of one source have the same name.
    case duplicateTool(String)
    /// Two sources have the same name.
    case duplicateSource(String)
    /// The model still wants to call tools after so many rounds; none of those calls ran.
    case toolLoopLimitExceeded(limit: Int)
    /// A call was denied, and the harness was told to end then.
    case toolApprovalDenied(tool: String, reason: String?)
    /// There is no tool of this name, and no model to tell.
    case unknownTool(String)
    /// Another answer is being worked out; a conversation has one turn at a time.
    case busy
    /// What the model said is more than is taken: the limit in bytes.
    case responseTooLarge(limit: Int)
    /// The model failed, in words.
    case model(String)
    /// So many events of a turn waited for their reader; the turn was cancelled.
    case eventsUnread(limit: Int)

    /// What happened, for a person.
    public var description: String {
        switch self {
        case .missingToolHandler(let name): "the tool \(name) is declared and has no handler"
        case .duplicateTool(let name): "there are two tools with the name \(name)"
        case .duplicateSource(let name): "there are two sources with the name \(name)"
        case .toolLoopLimitExceeded(let limit):
            "the model wants to call tools again after \(limit) rounds; these calls were not made"
        case .toolApprovalDenied(let tool, let reason):
            "\(tool) was not allowed" + (reason.map { ": \($0)" } ?? "")
        case .unknownTool(let name): "there is no tool with the name \(name)"
        case .busy: "the harness is at work on another message"
        case .responseTooLarge(let limit): "the model's answer is longer than \(limit) bytes"
        case .model(let text): text
        case .eventsUnread(let limit): "the turn was cancelled: \(limit) of its events were not read"
        }
    }
}

extension HarnessError {
    static var tooManyCalls: HarnessError {
        .model("the model made more than \(CallIDs.maximum) calls in one answer")
    }
}
