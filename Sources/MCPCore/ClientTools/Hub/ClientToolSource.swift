/// The tools of a channel's clients as a source for a tool harness in the same process.
///
/// What connected programs claim about their tools is not trusted: unless a policy says otherwise, the user
/// is asked.
public struct ClientToolSource: ToolSource {
    /// Its name.
    public let id: ToolSourceID
    /// What a person reads.
    public let displayName: String
    /// `.client`.
    public var kind: ToolSourceKind { .client }
    private let hub: ClientToolHub
    private let channel: String

    /// The tools of a channel; nil is the hub's default channel.
    public init(_ hub: ClientToolHub, channel: String? = nil, id: ToolSourceID = "clients") {
        self.hub = hub
        self.channel = channel ?? hub.options.defaultChannel
        self.id = id
        displayName = "clients of \(self.channel)"
    }

    /// The tools of the clients that are there; the server's own are none of them.
    public func tools() async throws -> [Tool] { await hub.clientTools(of: channel) }

    /// Gives the call to a client.
    ///
    /// - Throws: `MCPError` -32602 when there is no such tool.
    public func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        try await hub.call(
            invocation.name, in: channel, RawJSON(invocation.argumentsJSON ?? [:]),
            meta: RawJSON([VendorKey.messageID: .string(invocation.callID)]),
            report: { invocation.progress($0.progress, total: $0.total, message: $0.message) })
    }

    /// Says when clients come, change or go.
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

/// Hears that the tools of a server are others now.
private final class ToolListWatch: ChangeSubscriber {
    private let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }

    func take(_ changes: [Change]) { if changes.contains(.toolsList) { tell() } }
}
