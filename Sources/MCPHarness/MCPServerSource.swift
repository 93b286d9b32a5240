public import MCPCore

/// The tools of an MCP server, through a client of yours, which remains yours to close.
public struct MCPServerSource: ToolSource {
    /// The name of the source.
    public let id: ToolSourceID
    /// The name shown to a person: the server's title.
    public let displayName: String
    /// `.server`.
    public var kind: ToolSourceKind { .server }
    /// The identity of the server, under which decisions are remembered.
    public let identity: String
    private let client: MCPClient
    private let timeout: Duration?

    /// Creates a source with the tools of a connected server.
    ///
    /// - Parameters:
    ///   - timeout: the maximum time without a message from the server; nil uses the client's own timeout.
    ///   - identity: the server's address or its whole command line, or a digest of them, so that a decision
    ///     that is kept permanently applies to this server only; nil uses the ID. The description of a
    ///     `ClientTarget` is too little: it names a program without its arguments.
    public init(
        _ client: MCPClient, id: ToolSourceID, timeout: Duration? = nil, identity: String? = nil
    ) {
        self.client = client
        self.id = id
        self.timeout = timeout
        self.identity = identity ?? id.name
        displayName = client.serverInfo?.title ?? client.serverInfo?.name ?? id.name
    }

    /// Returns the tools from all pages.
    public func tools() async throws -> [Tool] { try await client.listTools() }

    /// Returns the server's instructions.
    public func instructions() -> String? { client.instructions }

    /// Calls the tool; cancelling the task also cancels the call at the server.
    public func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        let arguments = invocation.argumentsJSON?.objectValue ?? [:]
        let options = CallOptions(timeout: timeout, meta: invocation.addressed()) { progress in
            invocation.progress(progress.progress, total: progress.total, message: progress.message)
        }
        return try await client.callTool(invocation.name, arguments, options: options)
    }

    /// A stream with an element once the server begins to report changes of its list, since it may have
    /// changed before, and each time it reports one; ends if the server sends no such notifications.
    public var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                defer { continuation.finish() }
                let subscription = try await client.listen(SubscriptionFilter(toolsListChanged: true))
                continuation.yield()
                for try await _ in subscription { continuation.yield() }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
