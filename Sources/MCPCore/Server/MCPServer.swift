/// An MCP server: what it offers, and the ways to serve it.
///
/// One value serves any number of connections and transports, in every revision of the protocol at once;
/// state belongs to connections and sessions, never to the server. Tools, resources and prompts may be
/// registered before and while it serves.
///
/// ```swift
/// let server = MCPServer("calc", version: "1.0")
/// server.addTool("add", "Add two numbers", Argument("a"), Argument("b")) { (a: Double, b: Double) in a + b }
/// try await server.run(.stdio)
/// ```
public final class MCPServer: Sendable {
    private let counted = Counted(.mcpServer)

    /// Who the server says it is.
    public let identity: Implementation
    let dispatcher: Dispatcher
    /// Signs what clients carry for the server: cursors and session ids.
    let stateKey: [UInt8]

    /// Makes a server that offers nothing yet.
    ///
    /// - Parameters:
    ///   - name: the program's name, shown to people.
    ///   - version: its version.
    ///   - title: a name for people (2025-06-18 and later).
    ///   - instructions: how a model should use the server.
    ///   - options: limits, caching, the key for cursors and sessions, and where log lines go.
    public convenience init(
        _ name: String, version: String, title: String? = nil, instructions: String? = nil,
        options: ServerOptions = ServerOptions()
    ) {
        self.init(
            Implementation(name: name, version: version, title: title), instructions: instructions,
            options: options, clock: SystemClock())
    }

    init(
        _ identity: Implementation, instructions: String? = nil, options: ServerOptions,
        clock: any TimeSource
    ) {
        self.identity = identity
        stateKey = options.stateKey ?? SystemRandom().bytes(32)
        dispatcher = Dispatcher(
            identity: identity, instructions: instructions, options: options, stateKey: stateKey,
            clock: clock)
    }

    var options: ServerOptions { dispatcher.options }

    // MARK: Registering

    /// Registers a tool whose code is asynchronous: it runs as a task on the connection's loop.
    ///
    /// - Parameters:
    ///   - timeout: how long a call may take; nil is the server's `requestDeadline`.
    ///   - task: whether calls become tasks, which the handler does with `RequestContext.becomeTask`.
    /// - Throws: `RegistrationError` when the name is taken or no tool name, a schema is not valid, or the
    ///   tool has tasks and `ServerOptions.tasks` is nil.
    public func register(
        _ tool: Tool, timeout: Duration? = nil, task: TaskSupport = .never,
        handler: @escaping @Sendable (ToolCall, RequestContext) async throws -> CallToolResult
    ) throws(RegistrationError) {
        guard task == .never || options.tasks != nil else {
            throw RegistrationError(
                "the tool \(tool.name) has tasks, which are off; set ServerOptions.tasks to turn them on")
        }
        try register(ToolEntry(tool, timeout: timeout, task: task, handler: .asynchronous(handler)))
    }

    /// Registers a tool whose code blocks or computes for long: it runs on a thread of the system's pool.
    ///
    /// - Throws: `RegistrationError` when the name is taken or no tool name, or a schema is not valid.
    public func registerBlocking(
        _ tool: Tool, timeout: Duration? = nil,
        handler: @escaping @Sendable (ToolCall, RequestContext) throws -> CallToolResult
    ) throws(RegistrationError) {
        try register(ToolEntry(tool, timeout: timeout, handler: .offloaded(handler)))
    }

    /// Registers a tool that answers at once and writes its result straight into the answer: the fastest
    /// form.
    ///
    /// The code runs on the connection's own thread and must not block.
    /// - Throws: `RegistrationError` when the name is taken or no tool name, or a schema is not valid.
    public func registerRaw(
        _ tool: Tool,
        handler: @escaping @Sendable (RawJSON, RequestContext, inout ResultWriter) throws -> Void
    ) throws(RegistrationError) {
        try register(ToolEntry(tool, timeout: nil, handler: .synchronous(handler)))
    }

    func register(_ entry: ToolEntry) throws(RegistrationError) {
        try update { (draft) throws(RegistrationError) in
            if draft.tools.contains(where: { $0.tool.name == entry.tool.name }) {
                throw RegistrationError("the tool \(entry.tool.name) is registered already")
            }
            draft.tools.append(entry)
        }
    }

    /// Registers one resource.
    ///
    /// - Throws: `RegistrationError` when the address is taken.
    public func register(
        _ resource: Resource,
        read: @escaping @Sendable (RequestContext) async throws -> [ResourceContents]
    ) throws(RegistrationError) {
        try update { (draft) throws(RegistrationError) in
            if draft.resources.contains(where: { $0.resource.uri == resource.uri }) {
                throw RegistrationError("the resource \(resource.uri) is registered already")
            }
            draft.resources.append(ResourceEntry(resource: resource, read: read))
        }
    }

    /// Registers a family of resources; `read` gets the address and the template's variables,
    /// percent-decoded.
    ///
    /// - Throws: `RegistrationError` when the template is taken or not supported (`{name}` and `{+name}`
    ///   are).
    public func register(
        _ template: ResourceTemplate,
        read:
            @escaping @Sendable (
                _ uri: String, _ variables: [String: String], _ context: RequestContext
            ) async throws -> [ResourceContents]
    ) throws(RegistrationError) {
        let pattern = try URITemplate(template.uriTemplate)
        try update { (draft) throws(RegistrationError) in
            if draft.templates.contains(where: { $0.template.uriTemplate == template.uriTemplate }) {
                throw RegistrationError("the template \(template.uriTemplate) is registered already")
            }
            draft.templates.append(TemplateEntry(template: template, pattern: pattern, read: read))
        }
    }

    /// Registers a source of resources that are not known one by one.
    public func register(_ provider: any ResourceProvider) {
        // Nothing about a provider can clash, so the update cannot throw.
        try? update { $0.providers.append(provider) }
    }

    /// Registers a prompt; its required arguments are checked before `get` is called.
    ///
    /// - Throws: `RegistrationError` when the name is taken.
    public func register(
        _ prompt: Prompt,
        get:
            @escaping @Sendable (
                _ arguments: [String: String], _ context: RequestContext
            ) async throws -> GetPromptResult
    ) throws(RegistrationError) {
        try update { (draft) throws(RegistrationError) in
            if draft.prompts.contains(where: { $0.prompt.name == prompt.name }) {
                throw RegistrationError("the prompt \(prompt.name) is registered already")
            }
            draft.prompts.append(PromptEntry(prompt: prompt, get: get))
        }
    }
}
