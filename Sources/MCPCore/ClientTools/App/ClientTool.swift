/// A JSON value, by the name that tools written for other libraries use.
public typealias Value = JSONValue

/// Something that an app does on the main actor for a tool.
public typealias ClientToolAction = () -> Void

/// What a tool of an app answers.
public typealias ClientToolResult = CallToolResult

/// A tool whose code runs in an app that is connected to a server, on the app's main actor.
///
/// Tools that should not run there are registered on an `MCPServer` that a `ClientToolProvider` offers.
@MainActor public protocol ClientTool: AnyObject {
    /// Name, description and schema. Without a description the instructions stand in for it.
    var toolDefinition: Tool { get }
    /// When a model should use the tool: one line of the server's instructions.
    var instructions: String { get }
    /// Whether people are shown that the tool uses sources outside the conversation.
    var showExternalSourcesIndicator: Bool { get }
    /// What to do: the handler of the registry runs the actions in their order, and the model is told that it
    /// was done.
    func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction]
    /// Answers with a result of its own; nil leaves the call to `handleInvocation`. What it throws the model
    /// reads as the tool's failure.
    func call(_ invocation: ClientToolInvocation) async throws -> ClientToolResult?
}

extension ClientTool {
    /// None.
    public var instructions: String { "" }
    /// False.
    public var showExternalSourcesIndicator: Bool { false }
    /// Nothing.
    public func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction] { [] }
    /// Nil: the actions decide.
    public func call(_ invocation: ClientToolInvocation) async throws -> ClientToolResult? { nil }
}

/// Runs what tools want done: an app presents alerts, forms or screens here.
@MainActor public protocol ClientToolActionHandling: AnyObject {
    /// Runs the actions in their order.
    func handle(_ actions: [ClientToolAction])
}

extension Tool {
    /// Describes a tool, with its name by label.
    public init(
        name: String, description: String? = nil, inputSchema: JSONValue = ["type": "object"],
        annotations: ToolAnnotations? = nil
    ) {
        self.init(name, description: description, inputSchema: inputSchema, annotations: annotations)
    }
}
