/// What a host tool returns: a text in the simplest case, written as a literal.
public struct ToolOutput: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// The result as every tool of MCP has it.
    public var result: CallToolResult

    /// A text.
    public init(output: String) { result = .text(output) }

    /// A text.
    public init(stringLiteral value: String) { result = .text(value) }

    /// Content of any kind.
    public init(
        content: [ContentBlock], structuredContent: JSONValue? = nil, isError: Bool = false,
        meta: JSONObject? = nil
    ) {
        result = CallToolResult(
            content: content, structuredContent: structuredContent, isError: isError, meta: meta)
    }

    /// A result that is there already.
    public init(_ result: CallToolResult) { self.result = result }

    /// A value as structured content.
    /// - Throws: `EncodingError` when it cannot be encoded.
    public static func json(_ value: some Encodable) throws -> ToolOutput {
        ToolOutput(.structured(try JSONValue(encoding: value)))
    }
}
