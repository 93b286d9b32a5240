/// The tools of an app, and who runs what they want done.
///
/// It lives on the main actor, where the tools do; keep it as long as the app offers tools.
@MainActor public final class ClientToolRegistry {
    /// Runs the actions of tools; nil runs them here, one after the other.
    public weak var handler: (any ClientToolActionHandling)?
    private var tools: [(name: String, tool: any ClientTool)] = []
    /// Servers that offer these tools.
    private var servers: [Weak] = []

    private struct Weak { weak var server: MCPServer? }

    /// An empty registry.
    ///
    /// - Parameter handler: runs the actions of tools; it is not kept alive.
    public init(handler: (any ClientToolActionHandling)? = nil) { self.handler = handler }

    /// Adds a tool; one of the same name is replaced at its place.
    public func register(tool: any ClientTool) {
        let name = tool.toolDefinition.name
        if let place = tools.firstIndex(where: { $0.name == name }) {
            tools[place].tool = tool
        } else {
            tools.append((name, tool))
        }
        updateServers()
    }

    /// Takes a tool away; without effect when there is none of this name.
    public func unregister(name: String) {
        tools.removeAll { $0.name == name }
        updateServers()
    }

    /// The tools in the form that `POST /register-tools` takes, in the order of their registration.
    public func registrationPayloads() -> [ToolRegistrationPayload] {
        tools.map { name, tool in
            let definition = tool.toolDefinition
            let instructions = Self.instructions(of: tool)
            return ToolRegistrationPayload(
                name: name, description: Self.description(of: definition, instructions) ?? "",
                instructions: instructions, parameters: definition.inputSchema,
                showExternalSourcesIndicator: tool.showExternalSourcesIndicator)
        }
    }

    // MARK: Calls

    /// What the tool wants done; nothing for a tool that is not there.
    public func handleInvocation(_ invocation: ClientToolInvocation) -> [ClientToolAction] {
        tool(invocation.tool.name)?.handleInvocation(invocation) ?? []
    }

    /// Runs a call: the tool's own result, or its actions, after which the model is told that it was done.
    ///
    /// - Throws: what the tool throws. A tool that is not there is a result whose `isError` is true.
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

    /// Offers the tools on a server, now and whenever they change.
    func attach(_ server: MCPServer) {
        servers.removeAll { $0.server == nil || $0.server === server }
        servers.append(Weak(server: server))
        update(server)
    }

    private func updateServers() {
        for entry in servers { if let server = entry.server { update(server) } }
    }

    private func update(_ server: MCPServer) {
        let entries = tools.compactMap { name, tool in entry(for: tool, named: name) }
        // Names differ, and every entry was checked when it was made.
        try? server.update(isReplacement: true) { draft in
            draft.toolsComeAndGo = true
            draft.tools = entries
        }
    }

    /// Nil for a tool whose name or schema no server can offer.
    private func entry(for tool: any ClientTool, named name: String) -> ToolEntry? {
        let instructions = Self.instructions(of: tool)
        var shown = tool.toolDefinition
        shown.description = Self.description(of: shown, instructions)
        var meta = shown.meta ?? [:]
        if let instructions { meta[VendorKey.instructions] = .string(instructions) }
        if tool.showExternalSourcesIndicator { meta[VendorKey.externalSources] = true }
        shown.meta = meta.isEmpty ? nil : meta
        let descriptor = ClientToolInvocation.ToolDescriptor(
            name: name, description: shown.description, instructions: instructions,
            parameters: RawJSON(shown.inputSchema).bytes.array)
        return try? ToolEntry(
            shown, timeout: .seconds(610),
            handler: .asynchronous { [weak self] call, context in
                guard let self else { return .error("This app offers no tools any more.") }
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
