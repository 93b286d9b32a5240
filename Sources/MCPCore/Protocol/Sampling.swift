/// A request to the client's model (client/sampling).
public struct CreateMessageRequest: RevisionedWireType {
    /// The conversation so far.
    public var messages: [SamplingMessage]
    /// The maximum length of the answer, in tokens.
    public var maxTokens: Int
    /// Preferences for choosing the model.
    public var modelPreferences: ModelPreferences?
    /// The system prompt.
    public var systemPrompt: String?
    /// `none`, `thisServer` or `allServers` (deprecated).
    public var includeContext: String?
    /// The sampling temperature.
    public var temperature: Double?
    /// Strings that end the answer.
    public var stopSequences: [String]
    /// Metadata for the model's provider.
    public var metadata: JSONObject?
    /// Tools that the model may use (2025-11-25 and later).
    public var tools: [Tool]
    /// Whether the model must use a tool: `auto`, `required` or `none` (2025-11-25 and later).
    public var toolChoice: String?

    /// Creates a request with a conversation.
    public init(_ messages: [SamplingMessage], maxTokens: Int, systemPrompt: String? = nil) {
        self.messages = messages
        self.maxTokens = maxTokens
        self.systemPrompt = systemPrompt
        stopSequences = []
        tools = []
    }

    /// Creates a request with a single message from the user.
    public init(_ text: String, maxTokens: Int, systemPrompt: String? = nil) {
        self.init([.user(text)], maxTokens: maxTokens, systemPrompt: systemPrompt)
    }

    /// Reads the params.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "CreateMessageRequest")
        messages = try members.array("messages", required: true)
        guard let maxTokens = try members.optionalInt("maxTokens") else {
            throw JSONError(.missingMember("maxTokens"), path: "")
        }
        self.maxTokens = maxTokens
        modelPreferences = try members.optional("modelPreferences")
        systemPrompt = try members.optionalString("systemPrompt")
        includeContext = try members.optionalString("includeContext")
        temperature = try members.optionalDouble("temperature")
        stopSequences = try members.strings("stopSequences")
        metadata = try members.optionalObject("metadata")
        tools = try members.array("tools")
        toolChoice = try members.optionalObject("toolChoice").flatMap { $0["mode"]?.stringValue ?? "auto" }
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.key("messages")
        writer.array(messages, for: revision)
        writer.member("modelPreferences", modelPreferences?.json)
        writer.member("systemPrompt", systemPrompt)
        writer.member("includeContext", includeContext)
        writer.member("temperature", temperature)
        writer.member("maxTokens", maxTokens)
        if !stopSequences.isEmpty {
            writer.member("stopSequences", .array(stopSequences.map(JSONValue.string)))
        }
        if let metadata { writer.member("metadata", metadata) }
        if revision.has(.samplingTools) {
            if !tools.isEmpty {
                writer.key("tools")
                writer.array(tools, for: revision)
            }
            if let toolChoice { writer.member("toolChoice", ["mode": .string(toolChoice)] as JSONObject) }
        }
        writer.endObject()
    }

    /// The reason why the tool uses and tool results in the conversation do not match; nil when they do
    /// (SAMP-08, SAMP-09).
    public var balanceProblem: String? {
        var open: Set<String> = []
        for message in messages {
            let results = message.content.filter { $0.type == .toolResult }
            if !results.isEmpty, results.count != message.content.count {
                return "a message with tool results must contain nothing else"
            }
            if !open.isEmpty || !results.isEmpty {
                let answered = Set(results.compactMap { $0.toolResult?.toolUseID })
                guard message.role == .user, answered == open, answered.count == results.count else {
                    return "every tool use must have exactly one result in the next message"
                }
            }
            open = Set(message.content.compactMap { $0.toolUse?.id })
            if !open.isEmpty, message.role != .assistant { return "only the assistant may use tools" }
        }
        return open.isEmpty ? nil : "every tool use must have exactly one result in the next message"
    }
}

/// One message of a conversation with a model.
public struct SamplingMessage: RevisionedWireType {
    /// The author of the message.
    public var role: Role
    /// The content: one block before 2025-11-25, any number since.
    public var content: [ContentBlock]
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates a message.
    public init(_ role: Role, _ content: [ContentBlock], meta: JSONObject? = nil) {
        self.role = role
        self.content = content
        self.meta = meta
    }

    /// Creates a message from the user with one text block.
    public static func user(_ text: String) -> SamplingMessage { SamplingMessage(.user, [.text(text)]) }
    /// Creates a message from the model with one text block.
    public static func assistant(_ text: String) -> SamplingMessage {
        SamplingMessage(.assistant, [.text(text)])
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "SamplingMessage")
        role = Role(rawValue: try members.string("role"))
        content = try members.blocks("content")
        meta = try members.optionalObject("_meta")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("role", role.rawValue)
        writer.blocks(content, for: revision)
        writer.meta(meta, for: revision)
        writer.endObject()
    }
}

/// The answer of the client's model (client/sampling "Result Fields").
public struct CreateMessageResult: RevisionedWireType {
    /// The author of the answer: the assistant.
    public var role: Role
    /// The content: one block before 2025-11-25, any number since.
    public var content: [ContentBlock]
    /// The model's name.
    public var model: String
    /// The reason why the model stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or another word.
    public var stopReason: String?
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates an answer.
    public init(
        role: Role = .assistant, content: [ContentBlock], model: String, stopReason: String? = "endTurn"
    ) {
        self.role = role
        self.content = content
        self.model = model
        self.stopReason = stopReason
    }

    /// The text of the first text block in the answer.
    public var text: String? { content.lazy.compactMap(\.text).first }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "CreateMessageResult")
        role = Role(rawValue: try members.string("role"))
        content = try members.blocks("content")
        model = try members.string("model")
        stopReason = try members.optionalString("stopReason")
        meta = try members.optionalObject("_meta")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("role", role.rawValue)
        writer.blocks(content, for: revision)
        writer.member("model", model)
        writer.member("stopReason", stopReason)
        writer.meta(meta, for: revision)
        writer.endObject()
    }
}

/// Preferences for choosing the model; the client decides (client/sampling "Model Preferences").
public struct ModelPreferences: WireType {
    /// Parts of model names, most preferred first (SAMP-06).
    public var hints: [String]
    /// The importance of low cost, from 0 to 1.
    public var costPriority: Double?
    /// The importance of speed, from 0 to 1.
    public var speedPriority: Double?
    /// The importance of intelligence, from 0 to 1.
    public var intelligencePriority: Double?

    /// Creates preferences.
    public init(
        hints: [String] = [], costPriority: Double? = nil, speedPriority: Double? = nil,
        intelligencePriority: Double? = nil
    ) {
        self.hints = hints
        self.costPriority = costPriority
        self.speedPriority = speedPriority
        self.intelligencePriority = intelligencePriority
    }

    /// Reads the value; a hint without a name is ignored.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "ModelPreferences")
        hints = members["hints"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
        costPriority = try members.optionalDouble("costPriority")
        speedPriority = try members.optionalDouble("speedPriority")
        intelligencePriority = try members.optionalDouble("intelligencePriority")
    }

    /// The preferences as JSON.
    public var json: JSONValue {
        var object = JSONObject()
        if !hints.isEmpty { object["hints"] = .array(hints.map { ["name": .string($0)] }) }
        object["costPriority"] = costPriority.flatMap(JSONValue.init(finite:))
        object["speedPriority"] = speedPriority.flatMap(JSONValue.init(finite:))
        object["intelligencePriority"] = intelligencePriority.flatMap(JSONValue.init(finite:))
        return .object(object)
    }
}

extension MemberReader {
    /// Reads one block, or an array of blocks.
    fileprivate func blocks(_ key: String) throws(JSONError) -> [ContentBlock] {
        if case .array = self[key] { return try array(key) }
        guard let block: ContentBlock = try optional(key) else {
            throw JSONError(.missingMember(key), path: "")
        }
        return [block]
    }
}

extension JSONWriter {
    /// Writes one block as an object, and several as an array if the revision supports it; otherwise only the
    /// first.
    fileprivate mutating func blocks(_ blocks: [ContentBlock], for revision: Revision) {
        key("content")
        if blocks.count == 1 || !revision.has(.samplingTools) {
            (blocks.first ?? .text("")).write(to: &self, for: revision)
        } else {
            array(blocks, for: revision)
        }
    }
}
