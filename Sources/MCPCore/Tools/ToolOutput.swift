/// The output of a host tool: in the simplest case a text, written as a string literal.
public struct ToolOutput: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    /// The output as an MCP tool result.
    public var result: CallToolResult

    /// Creates output that consists of one text.
    public init(output: String) { result = .text(output) }

    /// Creates output that consists of one text.
    public init(stringLiteral value: String) { result = .text(value) }

    /// Creates output with content of any kind.
    public init(
        content: [ContentBlock], structuredContent: JSONValue? = nil, isError: Bool = false,
        meta: JSONObject? = nil
    ) {
        result = CallToolResult(
            content: content, structuredContent: structuredContent, isError: isError, meta: meta)
    }

    /// Creates output from an existing result.
    public init(_ result: CallToolResult) { self.result = result }

    /// Creates output with a value as structured content.
    ///
    /// - Throws: `EncodingError` when the value cannot be encoded.
    public static func json(_ value: some Encodable) throws -> ToolOutput {
        ToolOutput(.structured(try JSONValue(encoding: value)))
    }
}
