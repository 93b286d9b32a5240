public import MCPCore

/// A language model, of whatever make, as the harness uses it.
public protocol LanguageModel: Sendable {
    /// Answers a conversation. The stream ends with the answer; cancelling its reader stops the model.
    func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error>
}

/// What a model is asked.
public struct ModelRequest: Sendable {
    /// What the model is and how it shall behave; nil for nothing.
    public var system: String?
    /// The conversation so far.
    public var messages: [ModelMessage]
    /// The tools that may be called, by the names that the model uses.
    public var tools: [Tool]

    /// Asks.
    public init(system: String? = nil, messages: [ModelMessage], tools: [Tool] = []) {
        self.system = system
        self.messages = messages
        self.tools = tools
    }
}

/// One message of a conversation with a model.
public enum ModelMessage: Sendable, Hashable {
    /// What the user says.
    case user(String)
    /// What the model said, and the tools that it called.
    case assistant(String, [ModelToolCall])
    /// What the tools answered, in the order of the calls.
    case toolResults([ModelToolResult])
}

/// A call as the model wrote it.
public struct ModelToolCall: Sendable, Hashable {
    /// The id of the model's output item, where it has one.
    public var itemID: String?
    /// Names the call.
    public var callID: String
    /// The tool, by the name that the model was given.
    public var name: String
    /// The arguments, byte for byte.
    public var arguments: String

    /// Makes a call.
    public init(callID: String, itemID: String? = nil, name: String, arguments: String) {
        self.itemID = itemID
        self.callID = callID
        self.name = name
        self.arguments = arguments
    }
}

/// What the model gets to read of a result.
public struct ModelToolResult: Sendable, Hashable {
    /// The call.
    public var callID: String
    /// The tool, by the name that the model was given.
    public var name: String
    /// The content; structured content as text stands in front when the content has no text.
    public var content: [ContentBlock]
    /// The tool failed, or did not run.
    public var isError: Bool

    /// The content as text, block by block; what is no text is named in a line, such as
    /// `[image image/png, 3 kB, not shown]`.
    public var text: String { content.map(\.lines).joined(separator: "\n") }
}

/// A piece of a model's answer.
public enum ModelEvent: Sendable, Hashable {
    /// Text.
    case textDelta(String)
    /// A piece of the arguments of a call that follows as a whole.
    case toolCallDelta(callID: String, name: String?, partialArguments: String)
    /// A call.
    case toolCall(ModelToolCall)
    /// What the answer cost.
    case usage(ModelUsage)
    /// Why the model stopped, in its own word.
    case stop(String)
}

/// Tokens.
public struct ModelUsage: Sendable, Hashable {
    /// Of what the model read.
    public var inputTokens: Int
    /// Of what it wrote.
    public var outputTokens: Int

    /// Counts.
    public init(inputTokens: Int = 0, outputTokens: Int = 0) {
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
    }

    static func + (a: ModelUsage, b: ModelUsage) -> ModelUsage {
        ModelUsage(
            inputTokens: a.inputTokens &+ b.inputTokens, outputTokens: a.outputTokens &+ b.outputTokens)
    }
}

extension ModelEvent {
    /// What the event counts while it waits for its reader.
    var waitingBytes: Int {
        let texts: [String] =
            switch self {
            case .textDelta(let text): [text]
            case .toolCallDelta(let id, let name, let arguments): [id, name ?? "", arguments]
            case .toolCall(let call): [call.callID, call.itemID ?? "", call.name, call.arguments]
            case .stop(let reason): [reason]
            case .usage: []
            }
        return texts.reduce(64) { $0 + $1.utf8.count }
    }
}
