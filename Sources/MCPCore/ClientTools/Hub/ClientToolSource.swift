/// The tools of a channel's clients as a source for a tool harness in the same process.
///
/// The claims of connected programs about their tools are not trusted: unless a policy specifies otherwise,
/// the user is asked.
public struct ClientToolSource: ToolSource {
    /// The source's identifier.
    public let id: ToolSourceID
    /// The name that users see.
    public let displayName: String
    /// `.client`.
    public var kind: ToolSourceKind { .client }
    private let hub: ClientToolHub
    private let channel: String

    /// Creates a source for the tools of a channel; nil selects the hub's default channel.
    public init(_ hub: ClientToolHub, channel: String? = nil, id: ToolSourceID = "clients") {
        self.hub = hub
        self.channel = channel ?? hub.options.defaultChannel
        self.id = id
        displayName = "clients of \(self.channel)"
    }

    /// Returns the tools of the current clients, without the server's own.
    public func tools() async throws -> [Tool] { await hub.clientTools(of: channel) }

    /// Returns the instructions of the clients and of their tools, a line for each.
    public func instructions() async -> String? {
        let lines = await hub.clientInstructions(of: channel)
        return lines.isEmpty ? nil : ChannelServers.joined(nil, lines)
    }

    /// Passes the call to a client.
    ///
    /// - Throws: `MCPError` -32602 when the tool does not exist.
    public func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        try await hub.call(
            invocation.name, in: channel, RawJSON(invocation.argumentsJSON ?? [:]),
            meta: RawJSON(
                .object(invocation.addressed([VendorKey.messageID: .string(invocation.callID)]))),
            report: { invocation.progress($0.progress, total: $0.total, message: $0.message) })
    }

    /// A stream with an element whenever clients connect, change or disconnect.
    public var changes: AsyncStream<Void> {
        guard let bus = try? hub.server(for: channel).dispatcher.subscriptions.bus else {
            return AsyncStream { nil }
        }
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = bus.add(ToolListWatch { continuation.yield() })
            continuation.onTermination = { _ in bus.remove(number) }
        }
    }
}

/// An observer of changes to the tools of a server.
private final class ToolListWatch: ChangeSubscriber {
    private let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }

    func take(_ changes: [Change]) { if changes.contains(.toolsList) { tell() } }
}
