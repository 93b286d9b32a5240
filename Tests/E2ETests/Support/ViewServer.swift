import MCPCore
import Synchronization
import TestSupport

/// An MCP server of this process whose tools have views, and which notes what it is asked.
final class ViewServer: Sendable {
    let server: MCPServer
    private let running: RunningServer
    private let seen = Mutex<[(tool: String, arguments: String)]>([])
    private let reads = Mutex<[String]>([])
    private let cancelled = Mutex<[String]>([])
    /// Lets calls of `slow`, and of tools named `slow…` with a view, end; and documents of those named `late…`
    /// be read.
    let gate = Gate()

    let port: UInt16
    var url: String { "http://127.0.0.1:\(port)/mcp" }

    /// The arguments of the calls so far, as they came.
    func calls(of tool: String) -> [String] {
        seen.withLock { $0.filter { $0.tool == tool }.map(\.arguments) }
    }

    /// The addresses of views that were read.
    var readAddresses: [String] { reads.withLock { $0 } }

    /// The calls that were given up while they waited.
    var cancelledCalls: [String] { cancelled.withLock { $0 } }

    /// - Parameters:
    ///   - views: the documents by the name of the tool that shows them.
    ///   - meta: `_meta.ui` of their contents.
    init(_ name: String, views: [String: String] = [:], meta: JSONObject? = nil, port: UInt16? = nil) throws {
        let server = MCPServer(name, version: "1.0")
        self.server = server
        var http = HTTPServerOptions()
        http.drainTimeout = .milliseconds(100)
        http.loops = 1
        // Not one that another program is given while this server is away.
        self.port = try port ?? freePort()
        running = try server.start([.http([.tcp(port: self.port)], options: http)])
        for (tool, html) in views { try add(tool, html, meta) }
        try add("echo", description: "Sends back what it gets") { arguments, _ in
            CallToolResult(content: [.text(String(arguments.bytes))])
        }
        let destructive = ToolAnnotations(readOnlyHint: false, destructiveHint: true)
        try add("wipe", annotations: destructive) { _, _ in .text("wiped") }
        try add("hidden", visibility: ["app"]) { _, _ in .text("for views") }
        try add("model_only", visibility: ["model"]) { _, _ in .text("for models") }
        try add("slow") { [self] _, context in
            try await wait("slow", context)
            return .text("at last")
        }
        try add("broken") { _, _ in .error("the disk is full") }
    }

    func stop() async { await running.stop() }

    private func wait(_ tool: String, _ context: RequestContext) async throws {
        for step in 1 ... 2 { await context.progress(Double(step), total: 3, message: "step \(step)") }
        await gate.wait()
        guard Task.isCancelled else { return }
        cancelled.withLock { $0.append(tool) }
        throw CancellationError()
    }

    // MARK: Registering

    static let readOnly = ToolAnnotations(readOnlyHint: true, openWorldHint: false)

    private func add(_ tool: String, _ html: String, _ meta: JSONObject?) throws {
        let uri = "ui://\(tool)/view"
        let definition = Tool(
            tool, description: "Shows \(tool)", inputSchema: ["type": "object"], annotations: Self.readOnly,
            meta: ["ui": ["resourceUri": .string(uri)]])
        try server.register(definition) { [self] call, context in
            note(tool, call.arguments)
            if tool.hasPrefix("slow") { try await wait(tool, context) }
            return CallToolResult(
                content: [.text("text of \(tool)")], structuredContent: ["tool": .string(tool)],
                meta: ["for": "the view"])
        }
        let contents = ResourceContents(
            uri: uri, mimeType: "text/html;profile=mcp-app", text: html,
            meta: meta.map { ["ui": .object($0)] })
        let resource = Resource(uri, name: tool, mimeType: "text/html;profile=mcp-app")
        try server.register(resource) { [self] _ in
            reads.withLock { $0.append(uri) }
            if tool.hasPrefix("late") { await gate.wait() }
            return [contents]
        }
    }

    func add(
        _ name: String, description: String? = nil, schema: JSONValue = ["type": "object"],
        annotations: ToolAnnotations? = readOnly, visibility: [String]? = nil,
        _ body: @escaping @Sendable (RawJSON, RequestContext) async throws -> CallToolResult
    ) throws {
        let list = visibility.map { JSONValue.array($0.map { .string($0) }) }
        let tool = Tool(
            name, description: description, inputSchema: schema, annotations: annotations,
            meta: list.map { ["ui": ["visibility": $0]] })
        try server.register(tool) { [self] call, context in
            note(name, call.arguments)
            return try await body(call.arguments, context)
        }
    }

    private func note(_ tool: String, _ arguments: RawJSON) {
        seen.withLock { $0.append((tool, String(arguments.bytes))) }
    }
}

/// Something that is waited for until it is opened, or the wait is cancelled.
final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [Int: CheckedContinuation<Void, Never>], last: Int)>(
        (false, [:], 0))

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    func wait() async {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
