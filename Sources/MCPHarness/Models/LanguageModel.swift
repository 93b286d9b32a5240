public import MCPCore

/// A language model of any kind, as used by the harness.
public protocol LanguageModel: Sendable {
    /// Answers a conversation. The stream ends with the answer; cancelling its reader stops the model.
    func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error>
}

/// A request to a model.
public struct ModelRequest: Sendable {
    /// A description of what the model is and how it should behave; nil for none.
    public var system: String?
    /// The conversation so far.
    public var messages: [ModelMessage]
    /// The tools that may be called, under the names that the model uses.
    public var tools: [Tool]

    /// Creates a request.
    public init(system: String? = nil, messages: [ModelMessage], tools: [Tool] = []) {
        self.system = system
        self.messages = messages
        self.tools = tools
    }
}

/// One message of a conversation with a model.
public enum ModelMessage: Sendable, Hashable {
    /// A message from the user.
    case user(String)
    /// The model's text, and the tools that it called.
    case assistant(String, [ModelToolCall])
    /// The results of the tools, in the order of the calls.
    case toolResults([ModelToolResult])
}

/// A call as the model wrote it.
public struct ModelToolCall: Sendable, Hashable {
    /// The ID of the model's output item, if it has one.
    public var itemID: String?
    /// The identifier of the call.
    public var callID: String
    /// The tool, under the name that was given to the model.
    public var name: String
    /// The arguments, byte for byte.
    public var arguments: String

    /// Creates a call.
    public init(callID: String, itemID: String? = nil, name: String, arguments: String) {
        self.itemID = itemID
        self.callID = callID
        self.name = name
        self.arguments = arguments
    }
}

/// The part of a result that the model reads.
public struct ModelToolResult: Sendable, Hashable {
    /// The call.
    public var callID: String
    /// The tool, under the name that was given to the model.
    public var name: String
    /// The content; if it contains no text, structured content is put in front of it as text.
    public var content: [ContentBlock]
    /// Whether the tool failed, or did not run.
    public var isError: Bool

    /// Creates a result.
    public init(callID: String, name: String, content: [ContentBlock], isError: Bool = false) {
        self.callID = callID
        self.name = name
        self.content = content
        self.isError = isError
    }

    /// The content as text, block by block. A block that is not text is described in a line: for example,
    /// `[image image/png, 3 kB, not shown]`.
    public var text: String { content.map(\.lines).joined(separator: "\n") }
}

/// A piece of a model's answer.
public enum ModelEvent: Sendable, Hashable {
    /// Text.
    case textDelta(String)
    /// A piece of the arguments of a call that follows as a whole later.
    case toolCallDelta(callID: String, name: String?, partialArguments: String)
    /// A call.
    case toolCall(ModelToolCall)
    /// The cost of the answer.
    case usage(ModelUsage)
    /// Something that a person should know, such as that the model is asked again after a failure.
    case warning(String)
    /// The model's stop reason, in its own word.
    case stop(String)
}

/// The number of tokens used.
public struct ModelUsage: Sendable, Hashable {
    /// The number of tokens that the model read.
    public var inputTokens: Int
    /// The number of tokens that the model wrote.
    public var outputTokens: Int

    /// Creates a usage from token counts.
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
    /// The size that the event counts as while it waits for its reader.
    var waitingBytes: Int {
        let texts: [String] =
            switch self {
            case .textDelta(let text): [text]
            case .toolCallDelta(let id, let name, let arguments): [id, name ?? "", arguments]
            case .toolCall(let call): [call.callID, call.itemID ?? "", call.name, call.arguments]
            case .stop(let text), .warning(let text): [text]
            case .usage: []
            }
        return texts.reduce(64) { $0 + $1.utf8.count }
    }
}
