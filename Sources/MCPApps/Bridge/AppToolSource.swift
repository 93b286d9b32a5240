public import MCPCore

/// The tools that a view offers, for a harness (MCP Apps 2026-01-26 "App-Provided Tools").
///
/// They are untrusted: they need approval like every tool of a view, their results are checked against the
/// schema that the view declared, and they end with the view. At most 50 tools count, a call may take at most
/// 30 s, and a result may have at most 10 MB.
public struct AppToolSource: ToolSource {
    /// The number of tools of one view that count: 50. Further ones are omitted.
    public static let maxTools = 50
    /// The longest time that a call may take: 30 s.
    public static let callTimeout: Duration = .seconds(30)
    /// The maximum size of a result: 10,000,000 bytes of JSON.
    public static let maxResultBytes = 10_000_000
    /// The maximum size of a tool's title and of its description: 4 KiB each. The rest is cut off.
    static let maxTextBytes = 4 << 10
    /// The maximum size of a tool's schemas: 64 KiB each. A tool with a larger one is omitted.
    static let maxSchemaBytes = 64 << 10
    /// The minimum time between two `changes`: 1 s.
    public static let changesPause: Duration = .seconds(1)

    /// The source's identifier; it is prefixed to the tool's name if the server, or another view, has a tool
    /// with the same name.
    public let id: ToolSourceID
    /// The name that users see: the view and its server.
    public let displayName: String
    /// `.app`.
    public var kind: ToolSourceKind { .app }

    private let timeout: Duration
    private let list: @Sendable () async throws -> [Tool]
    private let callTool: @Sendable (_ name: String, _ arguments: JSONObject) async throws -> CallToolResult
    private let changed: @Sendable () -> AsyncStream<Void>

    /// Creates a source for the tools of one view.
    /// - Parameters:
    ///   - displayName: a name for the view and its server, such as `view of weather, Forecasts`.
    ///   - timeout: the longest time that a call may take.
    ///   - changes: returns a stream with an element whenever the tools changed; the source forwards it at
    ///     most once a second.
    ///   - list: requests the view's tools. It throws once the view is closed.
    ///   - call: asks the view to run a tool. It throws once the view is closed.
    public init(
        id: ToolSourceID, displayName: String, timeout: Duration = callTimeout,
        changes: @escaping @Sendable () -> AsyncStream<Void> = { AsyncStream { nil } },
        list: @escaping @Sendable () async throws -> [Tool],
        call: @escaping @Sendable (_ name: String, _ arguments: JSONObject) async throws -> CallToolResult
    ) {
        self.id = id
        self.displayName = displayName
        self.timeout = timeout
        self.list = list
        callTool = call
        changed = changes
    }

    /// Returns the first 50 tools of the view. They include tools that the view hides from models: the
    /// harness filters those out.
    public func tools() async throws -> [Tool] {
        try await list().prefix(Self.maxTools).compactMap(Self.bounded)
    }

    /// Returns the tool with texts of limited size; nil if a schema is too large.
    private static func bounded(_ tool: Tool) -> Tool? {
        let schemas = [tool.inputSchema, tool.outputSchema].compactMap(\.self)
        guard schemas.allSatisfy({ RawJSON($0).bytes.count <= maxSchemaBytes }) else { return nil }
        var tool = tool
        tool.title = tool.title?.cleaned(maxBytes: maxTextBytes)
        tool.description = tool.description?.cleaned(maxBytes: maxTextBytes)
        return tool
    }

    /// Returns the first 50 tools of all pages.
    ///
    /// - Parameter page: requests the page for a cursor from the view.
    static func allTools(_ page: (_ cursor: String?) async throws -> JSONValue) async throws -> [Tool] {
        var tools: [Tool] = []
        var cursor: String?
        repeat {
            let page = try await page(cursor)
            let found = (page["tools"]?.arrayValue ?? []).compactMap { try? Tool(json: $0) }
            // A page without a tool ends the list, even if it names a next page.
            cursor = found.isEmpty ? nil : page["nextCursor"]?.stringValue
            tools += found.compactMap(bounded)
        } while cursor != nil && tools.count < maxTools
        return Array(tools.prefix(maxTools))
    }

    /// Asks the view to run a tool.
    /// - Throws: `MCPError` -32000 when the call takes too long, or its result is too long or does not match
    ///   the tool's output schema; the view's own error, if it returned one.
    public func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        let arguments = invocation.argumentsJSON?.objectValue ?? [:]
        let name = invocation.name
        let (tool, result): (Tool?, CallToolResult)
        do {
            (tool, result) = try await Race.run(within: timeout) {
                // The tool as it was declared before the call.
                let tool = try await tools().first { $0.name == name }
                return (tool, try await callTool(name, arguments))
            }
        } catch is Race.TimedOut {
            throw refusal("\(name) did not answer within \(timeout).")
        }
        guard result.json.serialized().utf8.count <= Self.maxResultBytes else {
            throw refusal("\(name) returned more than \(Self.maxResultBytes / 1_000_000) MB.")
        }
        if !result.isError, let schema = tool?.outputSchema { try check(result, schema, name) }
        return result
    }

    /// A stream with an element whenever the view's tools changed, at most once a second.
    public var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                defer { continuation.finish() }
                for await _ in changed() {
                    continuation.yield()
                    try? await Task.pause(for: Self.changesPause)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Checks that a successful result matches the schema that the tool declared (server/tools "Output
    /// Schema").
    private func check(_ result: CallToolResult, _ schema: JSONValue, _ name: String) throws(MCPError) {
        let compiled: CompiledSchema
        do {
            compiled = try CompiledSchema(schema)
        } catch {
            throw refusal("The output schema of \(name) cannot be used: \(error)")
        }
        guard let content = result.structuredContent else {
            throw refusal("\(name) declared an output schema but returned no structured content.")
        }
        if let first = compiled.validate(content).first {
            throw refusal("The result of \(name) does not match its output schema: \(first)")
        }
    }

    private func refusal(_ text: String) -> MCPError {
        AppBridgeMachine.refusal("\(text) Its result was not used; it comes from the \(displayName).")
    }
}
