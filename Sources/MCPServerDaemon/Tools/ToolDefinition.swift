import MCPCore

/// A tool of the configuration: a command with everything that bounds it.
struct ToolDefinition: Sendable, Hashable {
    /// How the command's standard output becomes a result.
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
    /// Nil: standard input is closed.
    var standardInput: TemplateText?
    var workingDirectory: TemplateText
    /// The child's whole environment but for what a call adds.
    var environment: [String: String]
    var timeout = Self.defaultTimeout
    /// Bytes of standard output.
    var maxOutput = Self.defaultMaxOutput
    var result = ResultKind.text
    var outputSchema: JSONValue?
    var annotations: ToolAnnotations?
    /// Calls that run at the same time; nil is as many as come.
    var concurrency: Int?

    /// What clients see.
    var tool: Tool {
        var tool = Tool(name, description: description, inputSchema: input.schema)
        tool.title = title
        tool.outputSchema = outputSchema
        tool.annotations = annotations
        return tool
    }
}
