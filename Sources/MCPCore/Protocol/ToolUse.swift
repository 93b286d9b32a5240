/// A model's wish to use a tool, inside a sampling message (2025-11-25 and later).
public struct ToolUse: Sendable, Hashable {
    /// Names this use; its result repeats it.
    public var id: String
    /// The tool.
    public var name: String
    /// The arguments.
    public var input: JSONObject

    /// Makes a wish.
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

/// What a tool answered to a model, inside a sampling message (2025-11-25 and later).
public struct ToolUseResult: Sendable, Hashable {
    /// The use that is answered.
    public var toolUseID: String
    /// What the model reads.
    public var content: [ContentBlock]
    /// The result as JSON.
    public var structuredContent: JSONValue?
    /// The tool failed.
    public var isError: Bool

    /// Makes a result.
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
