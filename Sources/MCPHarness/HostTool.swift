public import MCPCore

/// A tool whose code is a closure of this program: its declaration and handler in one.
public struct HostTool: Sendable {
    /// The declaration that models and people see.
    public let tool: Tool
    /// The policy that decides whether the tool may run; automatic unless you specify otherwise, whatever its
    /// annotations claim.
    public let policy: ToolPolicy
    /// Whether the arguments are checked against the schema before the tool runs. Without the check, the
    /// handler may also receive text that is not JSON.
    public var checksArguments = true
    /// Whether the tool must never run at the same time as other tools.
    public var isSerial = false
    let handler: @Sendable (ToolInvocation) async throws -> ToolOutput

    /// Declares a tool.
    ///
    /// - Parameters:
    ///   - inputSchema: a JSON Schema with `"type": "object"`.
    ///   - handler: the code of the tool; the model reads an error that it throws as the tool's failure.
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

    /// Declares a tool, with a label for its name.
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
    /// The name of the source.
    public let id: ToolSourceID
    /// `.host`.
    public var kind: ToolSourceKind { .host }
    private let list: [Tool]
    private let byName: [String: HostTool]
    private let text: String?

    /// Creates a source from tools.
    ///
    /// - Parameters:
    ///   - declared: tools listed in a manifest; each of them needs a handler in `tools`.
    ///   - instructions: what a model is told about the use of the tools; nil for nothing.
    /// - Throws: `HarnessError.duplicateTool`; `.missingToolHandler` for a tool that is only declared;
    ///   `.invalidTool` for an input schema that is not valid.
    public init(
        _ tools: [HostTool], declared: [Tool] = [], id: ToolSourceID = "host", instructions: String? = nil
    ) throws(HarnessError) {
        var byName: [String: HostTool] = [:]
        for tool in tools {
            guard byName.updateValue(tool, forKey: tool.tool.name) == nil else {
                throw .duplicateTool(tool.tool.name)
            }
            do {
                _ = try CompiledSchema(tool.tool.inputSchema)
            } catch {
                throw .invalidTool(tool.tool.name, reason: "\(error)")
            }
        }
        for tool in declared where byName[tool.name] == nil { throw .missingToolHandler(tool.name) }
        self.id = id
        self.byName = byName
        text = instructions
        list = tools.map(\.tool)
    }

    /// Returns the instructions.
    public func instructions() -> String? { text }

    /// Returns the tools in their declared order.
    public func tools() -> [Tool] { list }

    /// Runs the tool's handler.
    public func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        guard let tool = byName[invocation.name] else {
            throw HarnessError.missingToolHandler(invocation.name)
        }
        return try await tool.handler(invocation).result
    }

    /// Returns the policy that was declared with the tool.
    public func ownPolicy(of tool: String) -> ToolPolicy? { byName[tool]?.policy }

    /// Returns whether arguments are checked, as declared with the tool.
    public func checksArguments(of tool: String) -> Bool { byName[tool]?.checksArguments ?? true }

    /// Returns whether the tool runs alone, as declared with the tool.
    public func isSerial(_ tool: String) -> Bool { byName[tool]?.isSerial ?? false }
}
