import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPServerDaemon

/// Fault row 93: many more calls than there are places for, at a real program.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OverloadTests {
    /// How many calls have ended, and how.
    private final class Counts: Sendable {
        private let ends = Mutex<[String: Int]>([:])
        var good: Int { ends.withLock { $0["good"] ?? 0 } }
        var busy: Int { ends.withLock { $0["busy"] ?? 0 } }
        var all: Int { ends.withLock { $0.values.reduce(0, +) } }

        func add(_ text: String) {
            ends.withLock { $0[text.contains("busy") ? "busy" : text, default: 0] += 1 }
        }
    }

    private static func outcome(of tool: String, _ client: MCPClient) async -> String {
        do {
            let result = try await client.callTool(tool)
            return result.isError ? result.content.first?.text ?? "" : "good"
        } catch { return "\(error)" }
    }

    /// What finds a place is served; all the others hear at once that the server is busy, before a single one
    /// of those has ended; and afterwards everything is as before.
    @Test func theExcessIsRefusedAtOnce() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"""
            { "tools": { "t": { "exec": ["sh", "-c", "while ! test -e open; do sleep 0.02; done"],
              "concurrency": 4, "timeout": "1m" }, "free": { "exec": ["echo", "good"] } } }
            """#)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        // Some run and some wait: five times as many come.
        let places = 4 + CallSlots.maxWaiting
        var clients: [MCPClient] = []
        for _ in 0 ..< 10 { clients.append(try await MCPClient.connect(.unix(path: program.socket))) }
        let counts = Counts()
        let calls = (0 ..< 5 * places).map { number in
            let client = clients[number % clients.count]
            return Task { counts.add(await Self.outcome(of: "t", client)) }
        }
        #expect(await eventually(milliseconds: 60_000) { counts.busy == 4 * places })
        #expect(counts.good == 0)
        // A tool without a queue of its own is served meanwhile.
        let result = try await clients[0].callTool("free")
        #expect(result.content.first?.text == "good\n")
        try directory.write("open", "")
        for call in calls { await call.value }
        #expect(counts.good == places && counts.all == 5 * places)
        #expect(try await clients[0].callTool("t").isError == false)
        for client in clients { await client.close() }
        await program.stop()
    }

    #if os(Linux)
    /// A caller who asks for more than everything leaves places to others.
    @Test func oneCallerLeavesPlacesToOthers() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeFIFO("gate")
        try directory.write(
            "mcp.jsonc",
            """
            { "auth": { "tokens": "tokens.json" },
              "tools": { "t": { "exec": ["cat", "gate"], "timeout": "5m" }, "free": { "exec": ["echo", "good"] } } }
            """)
        let file = "\(directory.path)/mcp.jsonc"
        func token(_ name: String) async throws -> String {
            let launch = ProcessLaunch(
                try WatchedProgram.path(), ["token", "new", name, "--allow", "*", "-c", file],
                environment: WatchedProgram.environment)
            let result = try await Offload.run { try ProcessRunner.run(launch) }
            try #require(result.status == .exited(0))
            return String(decoding: result.output.filter { $0 != 0x0A }, as: UTF8.self)
        }
        let (greedy, modest) = (try await token("greedy"), try await token("modest"))
        let program = try await WatchedProgram(["-c", file, "--listen", "127.0.0.1:0"])
        let url = "http://127.0.0.1:\(try #require(program.port))/mcp"
        func client(_ token: String) async throws -> MCPClient {
            var options = ClientOptions()
            options.headers = [("Authorization", "Bearer \(token)")]
            return try await MCPClient.connect(.http(url), options: options)
        }
        let shared = CallSlots(CommandTool.maxRunning, areShared: true)
        let places = shared.maxOfOne + CallSlots.maxWaitingOfOne
        var clients: [MCPClient] = []
        for _ in 0 ..< 8 { clients.append(try await client(greedy)) }
        let counts = Counts()
        let calls = (0 ..< places + 50).map { number in
            let client = clients[number % clients.count]
            return Task { counts.add(await Self.outcome(of: "t", client)) }
        }
        // What is beyond its part hears so at once; the rest runs and waits.
        #expect(await eventually(milliseconds: 60_000) { counts.busy >= 50 })
        let other = try await client(modest)
        for _ in 0 ..< 5 { #expect(try await other.callTool("free").text == "good\n") }
        #expect(counts.all == counts.busy)
        for call in calls { call.cancel() }
        for client in clients + [other] { await client.close() }
        await program.stop()
    }
    #endif
}
