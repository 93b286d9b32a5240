/// A JSON value, under the name that tools written for other libraries use.
public typealias Value = JSONValue

/// An action that an app performs on the main actor for a tool.
public typealias ClientToolAction = () -> Void

/// The result of a tool of an app.
public typealias ClientToolResult = CallToolResult

/// A tool whose code runs in an app that is connected to a server, on the app's main actor.
///
/// Tools that should not run there are registered on an `MCPServer` that a `ClientToolProvider` offers.
@MainActor public protocol ClientTool: AnyObject {
    /// The name, description and schema. Without a description, the instructions are used instead.
    var toolDefinition: Tool { get }
    /// The guidance for a model on when to use the tool: one line of the server's instructions.
    var instructions: String { get }
    /// Whether users are shown that the tool uses sources outside the conversation.
    var showExternalSourcesIndicator: Bool { get }
    /// What the tool needs access to, such as `.location`: people are told before they decide on a call.
    /// Empty by default.
    var scopes: Set<PermissionScope> { get }
    /// The longest time that a call may take, for tools that wait for a person: at most 10 min. Nil, the
    /// default, leaves it to the server, which waits 30 s.
    var timeout: Duration? { get }
    /// Returns the actions to perform: the handler of the registry runs them in order, and the model is told
    /// that the call was carried out.
    func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction]
    /// Returns a result of its own; nil leaves the call to `handleInvocation`. The model receives a thrown
    /// error as the tool's failure.
    func call(_ invocation: ClientToolInvocation) async throws -> ClientToolResult?
}

extension ClientTool {
    /// No instructions.
    public var instructions: String { "" }
    /// No external sources.
    public var showExternalSourcesIndicator: Bool { false }
    /// No scopes.
    public var scopes: Set<PermissionScope> { [] }
    /// The timeout of the server.
    public var timeout: Duration? { nil }
    /// Returns no actions.
    public func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction] { [] }
    /// Returns nil: the call is left to the actions.
    public func call(_ invocation: ClientToolInvocation) async throws -> ClientToolResult? { nil }
}

/// The handler that runs the actions of tools: an app presents alerts, forms or screens here.
@MainActor public protocol ClientToolActionHandling: AnyObject {
    /// Runs the actions in order.
    func handle(_ actions: [ClientToolAction])
}

extension Tool {
    /// Creates a tool description, with a label for the name.
    public init(
        name: String, description: String? = nil, inputSchema: JSONValue = ["type": "object"],
        annotations: ToolAnnotations? = nil
    ) {
        self.init(name, description: description, inputSchema: inputSchema, annotations: annotations)
    }
}
