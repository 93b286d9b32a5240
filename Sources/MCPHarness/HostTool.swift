public import MCPCore

/// A tool whose code is a closure of this program: declaration and handler in one.
public struct HostTool: Sendable {
    /// What models and people see.
    public let tool: Tool
    /// Whether it may run; automatic unless you say otherwise, whatever its annotations claim.
    public let policy: ToolPolicy
    /// Its arguments are checked against the schema before it runs. Without the check the handler also gets
    /// text that is no JSON.
    public var checksArguments = true
    /// It never runs at the same time as other tools.
    public var isSerial = false
    let handler: @Sendable (ToolInvocation) async throws -> ToolOutput

    /// Declares a tool.
    /// - Parameters:
    ///   - inputSchema: a JSON Schema with `"type": "object"`.
    ///   - handler: what it throws the model reads as the tool's failure.
    public init(
        _ name: String, description: String, inputSchema: JSONValue, outputSchema: JSONValue? = nil,
        annotations: ToolAnnotations? = nil, policy: ToolPolicy = .automatic,
        handler: @escaping @Sendable (ToolInvocation) async throws -> ToolOutput
    ) {
        tool = Tool(
            name, description: description, inputSchema: inputSchema, outputSchema: outputSchema,
            annotations: annotations)
        self.policy = policy
        self.handler = handler
    }

    /// Declares a tool, with its name by label.
    public init(
        name: String, description: String, inputSchema: JSONValue, policy: ToolPolicy = .automatic,
        handler: @escaping @Sendable (ToolInvocation) async throws -> ToolOutput
    ) {
        self.init(
            name, description: description, inputSchema: inputSchema, policy: policy, handler: handler)
    }
}

/// The tools of this program.
public struct HostToolSource: ToolSource {
    /// Its name.
    public let id: ToolSourceID
    /// `.host`.
    public var kind: ToolSourceKind { .host }
    private let list: [Tool]
    private let byName: [String: HostTool]

    /// Puts tools together.
    ///
    /// - Parameter declared: tools that a manifest lists; each of them needs a handler among `tools`.
    /// - Throws: `HarnessError.duplicateTool`, and `.missingToolHandler` for what is only declared.
    public init(
        _ tools: [HostTool], declared: [Tool] = [], id: ToolSourceID = "host"
    ) throws(HarnessError) {
        var byName: [String: HostTool] = [:]
        for tool in tools {
            guard byName.updateValue(tool, forKey: tool.tool.name) == nil else {
                throw .duplicateTool(tool.tool.name)
            }
        }
        for tool in declared where byName[tool.name] == nil { throw .missingToolHandler(tool.name) }
        self.id = id
        self.byName = byName
        list = tools.map(\.tool)
    }

    /// The tools, in their order.
    public func tools() -> [Tool] { list }

    /// Runs the handler.
    public func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        guard let tool = byName[invocation.name] else {
            throw HarnessError.missingToolHandler(invocation.name)
        }
        return try await tool.handler(invocation).result
    }

    /// The policy that was declared with the tool.
    public func ownPolicy(of tool: String) -> ToolPolicy? { byName[tool]?.policy }

    /// As declared.
    public func checksArguments(of tool: String) -> Bool { byName[tool]?.checksArguments ?? true }

    /// As declared.
    public func isSerial(_ tool: String) -> Bool { byName[tool]?.isSerial ?? false }
}
