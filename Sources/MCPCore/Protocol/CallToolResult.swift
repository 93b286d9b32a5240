/// The result of a tool call (server/tools "Tool Result").
public struct CallToolResult: RevisionedWireType {
    /// The content that the model reads.
    public var content: [ContentBlock]
    /// The result as JSON: nil means absent, `.null` is the value null (TOOL-13). Before 2026-07-28 only
    /// objects are allowed.
    public var structuredContent: JSONValue?
    /// Whether the tool failed; `content` then contains the reason.
    public var isError: Bool
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates a result.
    public init(
        content: [ContentBlock] = [], structuredContent: JSONValue? = nil, isError: Bool = false,
        meta: JSONObject? = nil
    ) {
        self.content = content
        self.structuredContent = structuredContent
        self.isError = isError
        self.meta = meta
    }

    /// Creates a result with one text block.
    public static func text(_ text: String) -> CallToolResult { CallToolResult(content: [.text(text)]) }

    /// Creates a failed result with a text for the model.
    public static func error(_ text: String) -> CallToolResult {
        CallToolResult(content: [.text(text)], isError: true)
    }

    /// Creates a structured result that also contains its JSON as text for older clients (TOOL-16).
    public static func structured(_ value: JSONValue) -> CallToolResult {
        CallToolResult(content: [.text(value.serialized())], structuredContent: value)
    }

    /// The text of all text blocks, joined by newlines.
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

    /// Writes everything except `_meta`, which the era merges with its own.
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
