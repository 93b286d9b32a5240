/// A model's request to use a tool, inside a sampling message (2025-11-25 and later).
public struct ToolUse: Sendable, Hashable {
    /// The identifier of this use, which its result repeats.
    public var id: String
    /// The name of the tool.
    public var name: String
    /// The arguments.
    public var input: JSONObject

    /// Creates a request.
    public init(id: String, name: String, input: JSONObject) {
        self.id = id
        self.name = name
        self.input = input
    }

    init(_ members: MemberReader) throws(JSONError) {
        id = try members.string("id")
        name = try members.string("name")
        input = try members.optionalObject("input") ?? [:]
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("name", name)
        writer.member("input", input)
    }
}

/// The result of a tool use, inside a sampling message (2025-11-25 and later).
public struct ToolUseResult: Sendable, Hashable {
    /// The ID of the tool use that this result belongs to.
    public var toolUseID: String
    /// The content that the model reads.
    public var content: [ContentBlock]
    /// The result as JSON.
    public var structuredContent: JSONValue?
    /// Whether the tool failed.
    public var isError: Bool

    /// Creates a result.
    public init(
        toolUseID: String, content: [ContentBlock], structuredContent: JSONValue? = nil, isError: Bool = false
    ) {
        self.toolUseID = toolUseID
        self.content = content
        self.structuredContent = structuredContent
        self.isError = isError
    }

    init(_ members: MemberReader) throws(JSONError) {
        toolUseID = try members.string("toolUseId")
        content = try members.array("content")
        structuredContent = members.object["structuredContent"]
        isError = try members.optionalBool("isError") ?? false
    }

    func writeMembers(to writer: inout JSONWriter, for revision: Revision) {
        writer.member("toolUseId", toolUseID)
        writer.key("content")
        writer.array(content, for: revision)
        writer.member("structuredContent", structuredContent)
        writer.member("isError", isError)
    }
}
