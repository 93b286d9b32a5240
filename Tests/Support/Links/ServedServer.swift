package import MCPCore
import Synchronization

/// A server on one leg, and the clients that talk to it.
package final class ServedServer: Sendable {
    package let setting: Setting
    private let server: MCPServer
    private let running: RunningServer?
    private let clients = Mutex<[RawClient]>([])

    package init(_ setting: Setting, _ server: MCPServer) throws {
        self.setting = setting
        self.server = server
        guard setting.leg == .http else {
            running = nil
            return
        }
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .seconds(2)
        running = try server.start([.http(.tcp(port: 0), options: options)])
    }

    /// The port of the HTTP leg.
    package func port() throws -> UInt16 {
        guard let running else { throw NothingThere() }
        return try running.port()
    }

    /// One more client, which has not said anything yet.
    package func silentClient(capabilities: JSONObject = [:]) throws -> RawClient {
        let recorder = MessageRecorder([.server], version: setting.version)
        let link: any RawLink =
            switch setting.leg {
            case .inMemory: MemoryLink(server, recorder)
            case .stdio: try StdioLink(server, recorder)
            case .http: HTTPLink(port: try port(), recorder)
            }
        let client = RawClient(setting, link, recorder, capabilities: capabilities)
        clients.withLock { $0.append(client) }
        return client
    }

    /// One more client, which has done what its revision asks for at the beginning.
    package func client(capabilities: JSONObject = [:]) async throws -> RawClient {
        let client = try silentClient(capabilities: capabilities)
        try await client.open()
        return client
    }

    /// Our own client, which speaks the revision of the setting.
    package func connect(_ options: ClientOptions = ClientOptions()) async throws -> MCPClient {
        var options = options
        options.protocol = .exactly(ProtocolVersion(setting.version))
        let target: ClientTarget =
            switch setting.leg {
            case .inMemory: .inProcess(server)
            case .stdio: .pipes(server)
            case .http: .http("http://127.0.0.1:\(try port())/mcp")
            }
        return try await MCPClient.connect(target.recorded([.client, .server]), options: options)
    }

    /// The server ends: over HTTP by itself, on the other legs because its client ends its input.
    package func stopServer() async {
        if let running { return await running.stop() }
        for client in clients.withLock({ $0 }) { await client.close() }
    }

    package func stop() async {
        for client in clients.withLock({ $0 }) { await client.close() }
        await running?.stop()
    }
}

/// Serves `server` on one leg while `body` talks to it with raw messages.
package func withServer(
    _ setting: Setting, _ server: MCPServer, _ body: (ServedServer) async throws -> Void
) async throws {
    let served = try ServedServer(setting, server)
    do {
        try await body(served)
    } catch {
        await served.stop()
        throw error
    }
    await served.stop()
}

/// The same with one client that has opened the conversation as its revision does.
package func withClient(
    _ setting: Setting, _ server: MCPServer, _ body: (RawClient) async throws -> Void
) async throws {
    try await withServer(setting, server) { served in try await body(try await served.client()) }
}

/// Serves `server` while `body` talks to it with a client that answers questions.
package func withAskedClient(
    _ setting: Setting, _ server: MCPServer, capabilities: JSONObject = AskedClient.everything,
    answering: @escaping @Sendable (AskedClient.Asked) async -> TestAnswer,
    _ body: (AskedClient) async throws -> Void
) async throws {
    try await withServer(setting, server) { served in
        try await body(AskedClient(try await served.client(capabilities: capabilities), answering))
    }
}
