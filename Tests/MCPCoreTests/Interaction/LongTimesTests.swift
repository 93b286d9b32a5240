import MCPCore
import TestSupport
import Testing

/// The times of all options, as long and as short as there are: nothing traps, and the longest is as good as none.
@Suite(.timeLimit(.minutes(5))) struct LongTimesTests {
    static let extremes: [Duration] = [.seconds(Int64.max), .zero, .seconds(Int64.min)]

    private static func server(_ time: Duration) throws -> MCPServer {
        var options = ServerOptions()
        options.limits.requestDeadline = time
        options.limits.inputTimeout = time
        options.listTTL = time
        options.readTTL = time
        options.stateLifetime = time
        var tasks = TaskOptions()
        (tasks.ttl, tasks.maxTTL, tasks.pollInterval, tasks.deadline) = (time, time, time, time)
        options.tasks = tasks
        let server = MCPServer("s", version: "1", options: options)
        try server.register(Tool("now"), timeout: time) { _, _ in .text("done") }
        try server.register(Tool("later"), timeout: time, task: .optional) { _, context in
            try await context.becomeTask(ttl: time)
            return .text("done later")
        }
        return server
    }

    private static func options(_ time: Duration, _ version: String) -> ClientOptions {
        var options = ClientOptions()
        options.protocol = .exactly(ProtocolVersion(version))
        (options.timeout, options.connectTimeout, options.probeTimeout) = (time, time, time)
        return options
    }

    /// What comes of a conversation; with the longest times it has to be all.
    private static func talk(_ target: ClientTarget, _ time: Duration, _ version: String) async throws {
        let isLong = time > .zero
        do {
            let client = try await MCPClient.connect(target, options: options(time, version))
            for name in ["now", "later"] {
                let call = CallOptions(timeout: time, deadline: time)
                let result = try? await client.callTool(name, options: call)
                #expect(!isLong || result?.text.hasPrefix("done") == true)
            }
            if isLong { #expect(try await client.listTools().count == 2) }
            await client.close()
        } catch {
            #expect(!isLong, "\(error)")
        }
    }

    @Test(arguments: extremes, ["2026-07-28", "2025-11-25"])
    func inMemoryAndStdio(_ time: Duration, _ version: String) async throws {
        let server = try Self.server(time)
        try await Self.talk(.inProcess(server), time, version)
        try await Self.talk(.pipes(server), time, version)
    }

    @Test(arguments: extremes, ["2026-07-28", "2025-11-25"])
    func http(_ time: Duration, _ version: String) async throws {
        var options = HTTPServerOptions()
        options.loops = 1
        (options.headTimeout, options.bodyTimeout, options.idleTimeout) = (time, time, time)
        (options.writeTimeout, options.keepAliveInterval, options.drainTimeout) = (time, time, time)
        let running = try Self.server(time).start([.http(.tcp(port: 0), options: options)])
        let port = try running.port()
        try await Self.talk(.http("http://127.0.0.1:\(port)/mcp"), time, version)
        await running.stop()
    }
}
