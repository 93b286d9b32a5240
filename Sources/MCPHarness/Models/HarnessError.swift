import MCPCore

/// An error that explains why a harness could not be created, or did not produce a reply.
public enum HarnessError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A declared tool has no handler.
    case missingToolHandler(String)
    /// Two tools of one source have the same name.
    case duplicateTool(String)
    /// Two sources have the same name.
    case duplicateSource(String)
    /// Two sources have names that look alike, so that a model could take one for the other.
    case confusableSources(String, String)
    /// A host tool cannot be called, for this reason: its input schema is not valid.
    case invalidTool(String, reason: String)
    /// A saved conversation cannot be used, for this reason.
    case invalidTranscript(String)
    /// The model requested tool calls after the maximum number of rounds; none of those calls ran.
    case toolLoopLimitExceeded(limit: Int)
    /// A call was denied, and the harness is configured to end the turn in that case.
    case toolApprovalDenied(tool: String, reason: String?)
    /// No tool has this name, and there is no model to report this to.
    case unknownTool(String)
    /// Another turn is in progress; a conversation has one turn at a time.
    case busy
    /// The model's answer exceeds the limit, which is given in bytes.
    case responseTooLarge(limit: Int)
    /// The model failed, with a description.
    case model(String)
    /// This many events of a turn were waiting for their reader; the turn was cancelled.
    case eventsUnread(limit: Int)

    /// A description of the error, for a person.
    public var description: String {
        switch self {
        case .missingToolHandler(let name): "the tool \(name) is declared but has no handler"
        case .duplicateTool(let name): "there are two tools named \(name)"
        case .duplicateSource(let name): "there are two sources named \(name)"
        case .confusableSources(let one, let other):
            "the names of the sources \(one) and \(other) look alike; give one of them another name"
        case .invalidTool(let name, let reason): "the tool \(name) cannot be called: \(reason)"
        case .invalidTranscript(let reason): "the conversation cannot be continued: \(reason)"
        case .toolLoopLimitExceeded(let limit):
            "the model requested more tool calls after \(limit) rounds; these calls were not made"
        case .toolApprovalDenied(let tool, let reason):
            "\(tool) was not allowed" + (reason.map { ": \($0)" } ?? "")
        case .unknownTool(let name): "no tool named \(name)"
        case .busy: "the harness is busy with another message"
        case .responseTooLarge(let limit): "the model's answer is longer than \(limit) bytes"
        case .model(let text): text
        case .eventsUnread(let limit): "the turn was cancelled: \(limit) of its events were not read"
        }
    }
}

extension HarnessError {
    /// Returns the words of a model, or of its server, in one line: in a line of their own, they could pass
    /// for words of this program.
    static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ").cleaned(maxBytes: 1_000)
    }

    package static var tooManyCalls: HarnessError {
        .model("the model made more than \(CallIDs.maximum) calls in one answer")
    }
}
