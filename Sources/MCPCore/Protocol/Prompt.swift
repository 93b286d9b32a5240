/// A prompt as listed by `prompts/list` (server/prompts "Prompt").
public struct Prompt: RevisionedWireType {
    /// The name, unique within a server.
    public var name: String
    /// A human-readable name (2025-06-18 and later).
    public var title: String?
    /// The purpose of the prompt.
    public var description: String?
    /// The arguments that can be filled in.
    public var arguments: [PromptArgument]
    /// Icons (2025-11-25 and later).
    public var icons: [Icon]
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates a description of a prompt.
    public init(
        _ name: String, title: String? = nil, description: String? = nil,
        arguments: [PromptArgument] = [], icons: [Icon] = [], meta: JSONObject? = nil
    ) {
        self.name = name
        self.title = title
        self.description = description
        self.arguments = arguments
        self.icons = icons
        self.meta = meta
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "Prompt")
        name = try members.string("name")
        title = try members.optionalString("title")
        description = try members.optionalString("description")
        arguments = try members.array("arguments")
        icons = try members.array("icons")
        meta = try members.optionalObject("_meta")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("name", name)
        if revision.has(.structured) { writer.member("title", title) }
        writer.member("description", description)
        if !arguments.isEmpty {
            writer.key("arguments")
            writer.array(arguments, for: revision)
        }
        writer.icons(icons, for: revision)
        writer.meta(meta, for: revision)
        writer.endObject()
    }
}

/// An argument of a prompt.
public struct PromptArgument: RevisionedWireType {
    /// The name of the argument.
    public var name: String
    /// A human-readable name (2025-06-18 and later).
    public var title: String?
    /// A description of the value to enter.
    public var description: String?
    /// Whether the argument must be given.
    public var required: Bool

    /// Creates a description of an argument.
    public init(_ name: String, title: String? = nil, description: String? = nil, required: Bool = false) {
        self.name = name
        self.title = title
        self.description = description
        self.required = required
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "PromptArgument")
        name = try members.string("name")
        title = try members.optionalString("title")
        description = try members.optionalString("description")
        required = try members.optionalBool("required") ?? false
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("name", name)
        if revision.has(.structured) { writer.member("title", title) }
        writer.member("description", description)
        if required { writer.member("required", true) }
        writer.endObject()
    }
}

/// One message of a prompt.
public struct PromptMessage: RevisionedWireType {
    /// The author of the message.
    public var role: Role
    /// The content of the message: exactly one block.
    public var content: ContentBlock

    /// Creates a message.
    public init(_ role: Role, _ content: ContentBlock) {
        self.role = role
        self.content = content
    }

    /// Creates a message from the user with one text block.
    public static func user(_ text: String) -> PromptMessage { PromptMessage(.user, .text(text)) }
    /// Creates a message from the model with one text block.
    public static func assistant(_ text: String) -> PromptMessage { PromptMessage(.assistant, .text(text)) }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "PromptMessage")
        role = Role(rawValue: try members.string("role"))
        guard let content: ContentBlock = try members.optional("content") else {
            throw JSONError(.missingMember("content"), path: "")
        }
        self.content = content
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("role", role.rawValue)
        writer.key("content")
        content.write(to: &writer, for: revision)
        writer.endObject()
    }
}

/// The result of `prompts/get`.
public struct GetPromptResult: RevisionedWireType {
    /// The purpose of the prompt.
    public var description: String?
    /// The messages.
    public var messages: [PromptMessage]
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates a result.
    public init(_ messages: [PromptMessage], description: String? = nil, meta: JSONObject? = nil) {
        self.messages = messages
        self.description = description
        self.meta = meta
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "GetPromptResult")
        description = try members.optionalString("description")
        messages = try members.array("messages", required: true)
        meta = try members.optionalObject("_meta")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writeMembers(to: &writer, for: revision)
        writer.meta(meta, for: revision)
        writer.endObject()
    }

    func writeMembers(to writer: inout JSONWriter, for revision: Revision) {
        writer.member("description", description)
        writer.key("messages")
        writer.array(messages, for: revision)
    }
}
