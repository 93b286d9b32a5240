/// What a tool answers (server/tools "Tool Result").
public struct CallToolResult: RevisionedWireType {
    /// What the model reads.
    public var content: [ContentBlock]
    /// The result as JSON: nil is absent, `.null` is the value null (TOOL-13). Objects only before
    /// 2026-07-28.
    public var structuredContent: JSONValue?
    /// The tool failed; `content` says why.
    public var isError: Bool
    /// Foreign data.
    public var meta: JSONObject?

    /// Makes a result.
    public init(
        content: [ContentBlock] = [], structuredContent: JSONValue? = nil, isError: Bool = false,
        meta: JSONObject? = nil
    ) {
        self.content = content
        self.structuredContent = structuredContent
        self.isError = isError
        self.meta = meta
    }

    /// A result of one text.
    public static func text(_ text: String) -> CallToolResult { CallToolResult(content: [.text(text)]) }

    /// A failure with a text for the model.
    public static func error(_ text: String) -> CallToolResult {
        CallToolResult(content: [.text(text)], isError: true)
    }

    /// A structured result, with its JSON as text beside it for older clients (TOOL-16).
    public static func structured(_ value: JSONValue) -> CallToolResult {
        CallToolResult(content: [.text(value.serialized())], structuredContent: value)
    }

    /// All text blocks, joined by newlines.
    public var text: String { content.compactMap(\.text).joined(separator: "\n") }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "CallToolResult")
        content = try members.array("content")
        structuredContent = members.object["structuredContent"]
        isError = try members.optionalBool("isError") ?? false
        meta = try members.optionalObject("_meta")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writeMembers(to: &writer, for: revision)
        writer.meta(meta, for: revision)
        writer.endObject()
    }

    /// Everything but `_meta`, which the era merges with its own.
    func writeMembers(to writer: inout JSONWriter, for revision: Revision) {
        writer.key("content")
        writer.array(content, for: revision)
        if let structuredContent, shows(structuredContent, in: revision) {
            writer.member("structuredContent", structuredContent)
        }
        if isError { writer.member("isError", true) }
    }

    private func shows(_ value: JSONValue, in revision: Revision) -> Bool {
        revision.has(.anyStructured) || (revision.has(.structured) && value.objectValue != nil)
    }
}
