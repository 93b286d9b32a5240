/// The tools of an app, and the handler that runs their actions.
///
/// It lives on the main actor, as the tools do; keep a reference to it while the app offers tools.
@MainActor public final class ClientToolRegistry {
    /// The handler that runs the actions of tools; if it is nil, they run here, one after the other.
    public weak var handler: (any ClientToolActionHandling)?
    private var tools: [(name: String, tool: any ClientTool)] = []
    /// Called after each change of the tools.
    package var onChange: (@MainActor () -> Void)?
    /// The servers that offer these tools.
    private var servers: [Weak] = []

    private struct Weak { weak var server: MCPServer? }

    /// Creates an empty registry.
    ///
    /// - Parameter handler: the handler that runs the actions of tools; it is not retained.
    public init(handler: (any ClientToolActionHandling)? = nil) { self.handler = handler }

    /// Adds a tool; one with the same name is replaced in place.
    public func register(tool: any ClientTool) {
        let name = tool.toolDefinition.name
        if let place = tools.firstIndex(where: { $0.name == name }) {
            tools[place].tool = tool
        } else {
            tools.append((name, tool))
        }
        updateServers()
    }

    /// Removes a tool; has no effect if there is none with this name.
    public func unregister(name: String) {
        tools.removeAll { $0.name == name }
        updateServers()
    }

    /// Returns the tools in the form that `POST /register-tools` accepts, in the order of their registration.
    public func registrationPayloads() -> [ToolRegistrationPayload] {
        tools.map { name, tool in
            let definition = tool.toolDefinition
            let instructions = Self.instructions(of: tool)
            return ToolRegistrationPayload(
                name: name, description: Self.description(of: definition, instructions) ?? "",
                instructions: instructions, parameters: definition.inputSchema,
                showExternalSourcesIndicator: tool.showExternalSourcesIndicator,
                scopes: tool.scopes.isEmpty ? nil : tool.scopes.sorted().map(\.name),
                timeoutMs: tool.timeout.map { Int(clamping: $0.milliseconds) })
        }
    }

    // MARK: Calls

    /// Returns the actions of the tool for this call; empty if the tool is not registered.
    public func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction] {
        tool(invocation.tool.name)?.handleInvocation(invocation) ?? []
    }

    /// Runs a call and returns the tool's own result, or runs its actions, after which the model is told that
    /// the call was carried out.
    ///
    /// - Throws: the error that the tool throws. For a tool that is not registered, the result has an
    ///   `isError` of true.
    public func dispatch(_ invocation: ClientToolInvocation) async throws -> ClientToolResult {
        guard let tool = tool(invocation.tool.name) else {
            return .error("This app has no tool \(invocation.tool.name). Nothing was done.")
        }
        if let result = try await tool.call(invocation) { return result }
        let actions = tool.handleInvocation(invocation)
        if let handler {
            handler.handle(actions)
        } else {
            for action in actions { action() }
        }
        return .text("\(invocation.tool.name): done")
    }

    private func tool(_ name: String) -> (any ClientTool)? { tools.first { $0.name == name }?.tool }

    // MARK: Serving

    /// Offers the tools on a server, and updates them whenever they change.
    func attach(_ server: MCPServer) {
        servers.removeAll { $0.server == nil || $0.server === server }
        servers.append(Weak(server: server))
        update(server)
    }

    private func updateServers() {
        for entry in servers { if let server = entry.server { update(server) } }
        onChange?()
    }

    private func update(_ server: MCPServer) {
        let entries = tools.compactMap { name, tool in entry(for: tool, named: name) }
        // The names are unique, and every entry was checked when it was created.
        try? server.update(isReplacement: true) { draft in
            draft.toolsComeAndGo = true
            draft.tools = entries
        }
    }

    /// Returns the entry of a tool; nil if no server can offer its name or schema.
    private func entry(for tool: any ClientTool, named name: String) -> ToolEntry? {
        let instructions = Self.instructions(of: tool)
        var shown = tool.toolDefinition
        shown.description = Self.description(of: shown, instructions)
        var meta = shown.meta ?? [:]
        if let instructions { meta[VendorKey.instructions] = .string(instructions) }
        if tool.showExternalSourcesIndicator { meta[VendorKey.externalSources] = true }
        if !tool.scopes.isEmpty {
            meta[VendorKey.scopes] = .array(tool.scopes.sorted().map { .string($0.name) })
        }
        if let timeout = tool.timeout { meta[VendorKey.timeout] = JSONValue(max(1, timeout.milliseconds)) }
        shown.meta = meta.isEmpty ? nil : meta
        let descriptor = ClientToolInvocation.ToolDescriptor(
            name: name, description: shown.description, instructions: instructions,
            parameters: RawJSON(shown.inputSchema).bytes.array)
        return try? ToolEntry(
            shown, timeout: .seconds(610),
            handler: .asynchronous { [weak self] call, context in
                guard let self else { return .error("This app no longer offers tools.") }
                return try await self.dispatch(
                    ClientToolInvocation(descriptor, call.arguments, context.meta))
            })
    }

    private static func instructions(of tool: any ClientTool) -> String? {
        let text = tool.instructions.trimmedLikeJavaScript()
        return text.isEmpty ? nil : text
    }

    private static func description(of tool: Tool, _ instructions: String?) -> String? {
        guard let text = tool.description, !text.trimmedLikeJavaScript().isEmpty else { return instructions }
        return text
    }
}

extension ClientToolInvocation {
    fileprivate init(_ tool: ToolDescriptor, _ arguments: RawJSON, _ meta: RawJSON?) {
        let hasArguments = arguments.value.objectValue?.isEmpty == false
        self.init(
            tool: tool, args: hasArguments ? arguments.bytes.array : nil,
            messageId: meta?[VendorKey.messageID]?.string, channelId: meta?[VendorKey.channelID]?.string,
            invocationId: meta?[VendorKey.invocationID]?.string ?? "")
    }
}
