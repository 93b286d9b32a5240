import MCPCore

/// A tool in the configuration: a command with everything that limits it.
struct ToolDefinition: Sendable, Hashable {
    /// The way in which the command's standard output becomes a result.
    enum ResultKind: String, CaseIterable, Sendable {
        case text, json, jsonlines
    }

    static let defaultTimeout = Duration.seconds(30)
    static let defaultMaxOutput = 256 << 10

    var name: String
    var title: String?
    var description: String?
    var input = ToolInput.empty
    var command: CommandTemplate
    /// The text for standard input, which is closed if this is `nil`.
    var standardInput: TemplateText?
    var workingDirectory: TemplateText
    /// The child's whole environment, except for what a call adds.
    var environment: [String: String]
    var timeout = Self.defaultTimeout
    /// The limit on standard output, in bytes.
    var maxOutput = Self.defaultMaxOutput
    var result = ResultKind.text
    var outputSchema: JSONValue?
    var annotations: ToolAnnotations?
    /// The number of calls that may run at the same time; `nil` for no limit.
    var concurrency: Int?

    /// The tool as clients see it.
    var tool: Tool {
        var tool = Tool(name, description: description, inputSchema: input.schema)
        tool.title = title
        tool.outputSchema = outputSchema
        tool.annotations = annotations
        return tool
    }
}
