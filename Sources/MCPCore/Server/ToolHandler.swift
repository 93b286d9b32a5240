import Synchronization

/// A call of a tool: the tool's name and the arguments, which fit the tool's schema.
public struct ToolCall: Sendable {
    /// The tool's name.
    public let name: String
    /// The arguments: an object, as received.
    public let arguments: RawJSON

    /// Decodes the arguments as your type.
    /// - Throws: `JSONError` with the path of the value that does not fit.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T { try arguments.decode(type) }
}

/// The way in which a tool's code is called.
enum ToolHandler: Sendable {
    /// Runs on the connection's own thread and writes its result directly into the response.
    case synchronous(@Sendable (RawJSON, RequestContext, inout ResultWriter) throws -> Void)
    /// Runs as a task on the connection's loop.
    case asynchronous(@Sendable (ToolCall, RequestContext) async throws -> CallToolResult)
    /// Runs as a task, at another server, whose result is sent as it came as far as the revisions allow.
    case forwarded(@Sendable (ToolCall, RequestContext) async throws -> ForwardedResult)
    /// Runs on a separate thread from the system's pool, because it blocks.
    case offloaded(@Sendable (ToolCall, RequestContext) throws -> CallToolResult)
}

/// The result of a request at another server.
struct ForwardedResult: Sendable {
    /// The result object, as received.
    let json: RawJSON
    /// The revision that it was received in.
    let revision: Revision
}

/// A registered tool with everything that is computed once.
final class ToolEntry: Sendable {
    let tool: Tool
    let handler: ToolHandler
    let input: CompiledSchema
    let output: CompiledSchema?
    let timeout: Duration?
    /// The plan for mirrored arguments; nil for most tools, which mirror no argument.
    let headers: HeaderPlan?
    let taskSupport: TaskSupport
    /// Returns arguments that may fit in place of some that do not; nil for none. Nil: they are refused.
    let mending: (@Sendable (RawJSON) -> RawJSON?)?
    /// The scopes that a call requires.
    let scopes: [String]
    /// A number that no other entry of the process has, from 1.
    let number = ToolEntry.last.add(1, ordering: .relaxed).newValue
    private static let last = Atomic<UInt64>(0)

    init(
        _ tool: Tool, timeout: Duration?, task: TaskSupport = .never, scopes: [String] = [],
        schemas: SchemaOptions = .init(), mending: (@Sendable (RawJSON) -> RawJSON?)? = nil,
        handler: ToolHandler
    ) throws(RegistrationError) {
        try Self.check(tool)
        self.tool = tool
        self.handler = handler
        self.timeout = timeout
        headers = try Self.headers(of: tool)
        taskSupport = task
        self.mending = mending
        self.scopes = scopes
        input = try Self.compile(tool.inputSchema, "input", of: tool, schemas)
        output = try tool.outputSchema.map { (schema) throws(RegistrationError) in
            try Self.compile(schema, "output", of: tool, schemas)
        }
    }

    /// Creates the entry of a tool of another server, which checks the arguments itself.
    init(
        forwarding tool: Tool, timeout: Duration,
        _ body: @escaping @Sendable (ToolCall, RequestContext) async throws -> ForwardedResult
    ) throws(RegistrationError) {
        self.tool = tool
        self.timeout = timeout
        handler = .forwarded(body)
        headers = try Self.headers(of: tool)
        taskSupport = .never
        mending = nil
        scopes = []
        input = try Self.compile(["type": "object"], "input", of: tool, .init())
        output = nil
    }

    /// Whether the tool is one of another server.
    var isForwarded: Bool { if case .forwarded = handler { true } else { false } }

    private static func check(_ tool: Tool) throws(RegistrationError) {
        let isName = tool.name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30 ... 0x39, 0x41 ... 0x5A, 0x61 ... 0x7A, 0x5F, 0x2D, 0x2E: true
            default: false
            }
        }
        guard isName, (1 ... 128).contains(tool.name.utf8.count) else {
            throw RegistrationError(
                "the tool name \"\(tool.name)\" must be 1 to 128 characters of A-Z a-z 0-9 _ - .")
        }
        guard tool.inputSchema["type"]?.stringValue == "object" else {
            throw RegistrationError("the input schema of \(tool.name) must have \"type\": \"object\"")
        }
    }

    private static func headers(of tool: Tool) throws(RegistrationError) -> HeaderPlan? {
        do {
            return try HeaderPlan(tool.inputSchema)
        } catch {
            throw RegistrationError("x-mcp-header in the input schema of \(tool.name): \(error)")
        }
    }

    private static func compile(
        _ schema: JSONValue, _ which: String, of tool: Tool, _ options: SchemaOptions
    ) throws(RegistrationError) -> CompiledSchema {
        do {
            return try CompiledSchema(schema, options: options)
        } catch {
            throw RegistrationError("the \(which) schema of \(tool.name): \(error)")
        }
    }
}
