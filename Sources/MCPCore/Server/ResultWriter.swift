/// A writer that writes the result of a synchronous tool directly into the response.
///
/// Call `text`, `content` or `structured` any number of times; a result without content is empty.
public struct ResultWriter: ~Copyable {
    var json: JSONWriter
    let revision: Revision
    private var isInContent = false
    private var hasContent = false
    private var isStructured = false
    /// The range of the structured content in the output, for validation against the tool's output schema.
    private(set) var structuredRange: Range<Int>?
    /// The `_meta` of a finished result, which is foreign data.
    private(set) var meta: JSONObject?

    init(json: consuming JSONWriter, revision: Revision) {
        self.json = json
        self.revision = revision
    }

    /// Whether the tool failed; the content describes the failure.
    public var isError = false

    private mutating func openContent() {
        guard !isInContent else { return }
        // A faulty handler loses this result, but does not end the process.
        if hasContent {
            json.fail(JSONError(.invalidValue("content was written after the structured result")))
        }
        json.key("content")
        json.beginArray()
        isInContent = true
        hasContent = true
    }

    private mutating func closeContent() {
        guard isInContent else { return }
        json.endArray()
        isInContent = false
    }

    /// Adds a block of text.
    public mutating func text(_ text: String) {
        openContent()
        json.beginObject()
        json.member("type", "text")
        json.member("text", text)
        json.endObject()
    }

    /// Adds a block of text from a JSON string of the request, without decoding it; for nil or a value of
    /// another kind, adds its JSON text.
    public mutating func text(_ value: RawJSON?) {
        guard let value else { return text("null") }
        guard value.kind == .string else { return text(String(value.bytes)) }
        openContent()
        json.beginObject()
        json.member("type", "text")
        json.key("text")
        json.raw(value)
        json.endObject()
    }

    /// Adds a block of any kind.
    public mutating func content(_ block: ContentBlock) {
        openContent()
        block.write(to: &json, for: revision)
    }

    /// Sets the result as JSON, and adds its text as a block for older clients (TOOL-16).
    public mutating func structured(_ value: some Encodable) throws {
        try structured(raw: RawJSON(encoding: value))
    }

    /// Sets the result from JSON that already exists.
    public mutating func structured(raw value: RawJSON) {
        if !hasContent { text(String(value.bytes)) }
        closeContent()
        if isStructured { json.fail(JSONError(.invalidValue("a result can have only one structured value"))) }
        isStructured = true
        guard revision.has(.anyStructured) || (revision.has(.structured) && value.kind == .object) else {
            return
        }
        json.key("structuredContent")
        json.checkDepth(of: value)
        let start = json.out.count
        json.raw(value)
        structuredRange = start ..< json.out.count
    }

    /// Writes the contents of a finished result.
    mutating func result(_ result: CallToolResult) throws {
        for block in result.content { content(block) }
        if !hasContent { openContent() }
        closeContent()
        if let value = result.structuredContent { structured(raw: RawJSON(value)) }
        if result.isError { isError = true }
        meta = result.meta
    }

    /// Closes everything that is open.
    mutating func close() {
        if !hasContent { openContent() }
        closeContent()
        if isError { json.member("isError", true) }
    }
}

extension JSONWriter {
    /// Checks the depth of a value that is spliced in, including the levels that it contains itself.
    fileprivate mutating func checkDepth(of value: RawJSON) {
        let limits = JSONLimits(maxDepth: maxDepth)
        let depth = depth
        let failure = unsafe value.bytes.withBytes { bytes -> JSONError? in
            var scanner = unsafe JSONScanner(bytes, limits: limits)
            do throws(JSONError) {
                try scanner.scanValue(depth: depth)
                return nil
            } catch {
                return error
            }
        }
        if let failure { fail(failure) }
    }
}
