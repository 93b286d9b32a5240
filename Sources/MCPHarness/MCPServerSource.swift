public import MCPCore

/// The tools of an MCP server, through a client of yours, which stays yours to close.
public struct MCPServerSource: ToolSource {
    /// Its name.
    public let id: ToolSourceID
    /// What a person reads: the server's title.
    public let displayName: String
    /// `.server`.
    public var kind: ToolSourceKind { .server }
    private let client: MCPClient
    private let timeout: Duration?

    /// Makes the tools of a connected server known.
    /// - Parameters:
    ///   - timeout: how long the server may be silent; nil is the client's own.
    public init(_ client: MCPClient, id: ToolSourceID, timeout: Duration? = nil) {
        self.client = client
        self.id = id
        self.timeout = timeout
        displayName = client.serverInfo?.title ?? client.serverInfo?.name ?? id.name
    }

    /// The tools, of all pages.
    public func tools() async throws -> [Tool] { try await client.listTools() }

    /// Calls the tool; a task that is cancelled cancels it at the server too.
    public func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        let arguments = invocation.argumentsJSON?.objectValue ?? [:]
        let options = CallOptions(timeout: timeout) { progress in
            invocation.progress(progress.progress, total: progress.total, message: progress.message)
        }
        return try await client.callTool(invocation.name, arguments, options: options)
    }

    /// Says when the server tells that its list has changed; ends when it does not tell.
    public var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                defer { continuation.finish() }
                let subscription = try await client.listen(SubscriptionFilter(toolsListChanged: true))
                for try await _ in subscription { continuation.yield() }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
