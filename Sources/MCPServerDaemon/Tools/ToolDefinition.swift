import MCPCore

/// A tool in the configuration: a command with everything that limits it.
struct ToolDefinition: Sendable, Hashable {
    /// The way in which the command's standard output becomes a result.
    enum ResultKind: String, CaseIterable, Sendable {
        case text, json, jsonlines
    }

    /// The way in which the command's output becomes progress.
    struct Progress: Sendable, Hashable {
        enum Format: String, CaseIterable, Sendable {
            /// Each line is a message.
            case lines
            /// Lines that are `{"progress": 3, "total": 10, "message": "…"}` are progress and no output.
            case jsonlines
        }

        /// The names of the streams in the configuration.
        enum Source: String, CaseIterable, Sendable {
            case stdout, stderr
        }

        var format: Format
        var source = Source.stdout

        var stream: ProcessRunner.OutputStream { source == .stdout ? .output : .errors }
    }

    /// What happens to output beyond `maxOutput`.
    enum Overflow: String, CaseIterable, Sendable {
        /// The command is stopped.
        case error
        /// The rest is dropped, and the command continues.
        case truncate
        /// The result is a preview; clients read the whole as a resource.
        case resource
    }

    /// Whether calls become tasks.
    enum TaskUse: String, CaseIterable, Sendable {
        case never, optional, required

        var support: TaskSupport {
            switch self {
            case .never: .never
            case .optional: .optional
            case .required: .required
            }
        }
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
    /// `nil`: the output is not progress.
    var progress: Progress?
    /// The exit statuses that mean success, besides 0.
    var successStatuses: Set<Int32> = []
    /// The question that the user must accept before the command runs.
    var confirmation: TemplateText?
    var overflow = Overflow.error
    /// The time for which the result of a call is also that of identical calls.
    var cacheTTL: Duration?
    var task = TaskUse.never
    var limits = ResourceLimits()
    /// What confines the command; `nil` if nothing does.
    var sandbox: SandboxDefinition?

    /// Everything that limits the command's process.
    var restriction: ProcessRestriction {
        sandbox?.restriction(limits) ?? ProcessRestriction(limits: limits)
    }

    /// The tool as clients see it.
    var tool: Tool {
        var tool = Tool(name, description: description, inputSchema: input.schema)
        tool.title = title
        tool.outputSchema = outputSchema
        tool.annotations = annotations
        return tool
    }
}
