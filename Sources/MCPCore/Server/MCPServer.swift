/// An MCP server: what it offers, and the ways to serve it.
///
/// One instance serves any number of connections and transports, in every protocol revision at once; state
/// belongs to connections and sessions, never to the server. Tools, resources and prompts may be registered
/// before and while it serves.
///
/// ```swift
/// let server = MCPServer("calc", version: "1.0")
/// server.addTool("add", "Add two numbers", Argument("a"), Argument("b")) { (a: Double, b: Double) in a + b }
/// try await server.run(.stdio)
/// ```
public final class MCPServer: Sendable {
    private let counted = Counted(.mcpServer)

    /// The identity that the server declares.
    public let identity: Implementation
    let dispatcher: Dispatcher
    let stateKeys: StateKeys

    /// Creates a server that offers nothing yet.
    ///
    /// - Parameters:
    ///   - name: the program's name, shown to people.
    ///   - version: the program's version.
    ///   - title: a name for people (2025-06-18 and later).
    ///   - instructions: how a model should use the server.
    ///   - options: limits, caching, the key for cursors and sessions, and the destination of log lines.
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
        stateKeys = StateKeys(
            options.stateKey ?? SystemRandom().bytes(32), others: options.acceptedStateKeys)
        dispatcher = Dispatcher(
            identity: identity, instructions: instructions, options: options, stateKeys: stateKeys,
            clock: clock)
    }

    var options: ServerOptions { dispatcher.options }

    /// Returns whether the server currently has a tool of this name, for whoever may call it.
    public func hasTool(named name: String) -> Bool {
        dispatcher.registry.current.contents.tools.contains { $0.tool.name == name }
    }
}
