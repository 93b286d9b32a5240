import Synchronization
package import Testing

@testable package import MCPCore

/// A hub with one tool of its own in each channel, and providers in the same process.
package final class HubFixture: Sendable {
    package let clock = ManualClock()
    package let hub: ClientToolHub
    /// Lines of the audit log.
    package let lines: Lines

    package final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        package func add(_ line: String) { state.withLock { $0.append(line) } }
        package var all: [String] { state.withLock { $0 } }
    }

    package init(tasks: TaskOptions? = nil, _ change: (inout ClientToolOptions) -> Void = { _ in }) {
        let lines = Lines()
        var options = ClientToolOptions()
        options.log = { lines.add($0) }
        change(&options)
        self.lines = lines
        hub = ClientToolHub(options: options, clock: clock) { channel in
            var serverOptions = ServerOptions()
            serverOptions.limits.maxRequestsInFlight = 256
            serverOptions.tasks = tasks
            let server = MCPServer(
                "hub", version: "1", instructions: "Channel \(channel).", options: serverOptions)
            server.addTool("builtin", "Of the server") { () in "own" }
            return server
        }
    }

    /// A server of tools that say who ran them.
    package static func provider(
        _ tools: [Tool], _ name: String = "p",
        handler: @escaping @Sendable (ToolCall, RequestContext) async throws -> CallToolResult = { call, _ in
            .text(call.name)
        }
    ) throws -> MCPServer {
        let server = ClientToolProvider.emptyServer()
        for tool in tools { try server.register(tool, handler: handler) }
        return server
    }

    /// A server for tools that are registered later.
    package static func emptyProvider() -> MCPServer { ClientToolProvider.emptyServer() }

    /// A server of the tools of a registry.
    @MainActor package static func provider(_ registry: ClientToolRegistry) -> MCPServer {
        let server = ClientToolProvider.emptyServer()
        registry.attach(server)
        return server
    }

    package static func tool(_ name: String, _ description: String = "x", idempotent: Bool? = nil) -> Tool {
        Tool(
            name, description: description, inputSchema: ["type": "object"],
            annotations: idempotent.map { ToolAnnotations(idempotentHint: $0) })
    }

    /// Attaches a provider in the same process.
    @discardableResult
    package func attach(
        _ server: MCPServer, _ clientID: String, channel: String = "a",
        revision: ClientOptions.ProtocolChoice = .auto
    ) async throws -> MCPClient {
        var options = ProviderLink.options
        options.protocol = revision
        let client = try await MCPClient.connect(.inProcess(server), options: options)
        try await hub.attach(client, channel: channel, clientID: clientID)
        return client
    }

    /// An agent of a channel.
    package func agent(
        _ channel: String = "a", revision: ClientOptions.ProtocolChoice = .auto
    ) async throws -> MCPClient {
        var options = ClientOptions()
        options.protocol = revision
        return try await MCPClient.connect(.inProcess(try hub.server(for: channel)), options: options)
    }

    /// Moves the time on and lets the hub do what is due.
    package func advance(_ duration: Duration) async {
        clock.advance(by: duration)
        await hub.tick()
    }

    /// Waits until the hub knows that a client is gone, and that so many calls have failed with it: it hears of
    /// each on its own.
    package func lossIsKnown(calls: Int = 0, _ location: SourceLocation = #_sourceLocation) async {
        await until("the loss is known", location) { counts in
            counts.disconnects == calls && lines.all.contains { $0.contains("disconnected") }
        }
    }

    /// Waits until the hub is as wanted, for 20 s at most.
    package func until(
        _ what: Comment, _ location: SourceLocation = #_sourceLocation,
        _ isReached: (ClientToolCounts) -> Bool
    ) async {
        for _ in 0 ..< 2_000 {
            if isReached(await hub.counts) { return }
            try? await Task.sleep(for: .milliseconds(10))
        }
        Issue.record(what, sourceLocation: location)
    }
}

extension MCPClient {
    /// What a tool says, without what its server says of itself.
    package func said(
        _ name: String, _ arguments: JSONObject = [:], options: CallOptions = CallOptions()
    ) async throws -> CallToolResult {
        var result = try await callTool(name, arguments, options: options)
        result.meta = nil
        return result
    }
}
