import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if os(Linux)
/// What operators see of servers behind this one, and of a reload: a failure never looks like "no tools".
@Suite(.serialized, .timeLimit(.minutes(5))) struct UpstreamStatusTests {
    private struct Outcome {
        var status: ProcessExit
        var output: String
    }

    private func run(_ arguments: String...) async throws -> Outcome {
        let launch = ProcessLaunch(
            try WatchedProgram.path(), arguments, environment: WatchedProgram.environment)
        let result = try await Offload.run { try ProcessRunner.run(launch) }
        return Outcome(status: result.status, output: String(decoding: result.output, as: UTF8.self))
    }

    private static func configuration(_ directory: TemporaryDirectory) -> String {
        """
        { "server": { "name": "ops", "version": "1.4.0" },
          "admin": { "listen": "unix://\(directory.path)/admin.sock" },
          "mcpServers": {
            "bad": { "command": "sh", "args": ["-c", "echo no module named mcp >&2; exit 3"], "restart": "never" },
            "good": { "command": "python3", "args": ["${configDir}/s.py"] } } }
        """
    }

    /// The text with numbers that differ from run to run replaced.
    private static func stable(_ text: String) -> String {
        text.replacing(/up \d+ s/, with: "up N s").replacing(/pid \d+/, with: "pid N")
            .replacing(/\d+\.\d MB/, with: "N MB")
    }

    @Test func theStateOfEachServer() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("s.py", UpstreamProgramTests.script)
        try directory.write("mcp.jsonc", Self.configuration(directory))
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        #expect(await program.logs(#""event":"upstream failed","mcpServer":"bad""#))
        #expect(await program.logs(#""event":"upstream ready","mcpServer":"good""#))
        let client = try await MCPClient.connect(.unix(path: program.socket))
        // The other server is not hidden.
        #expect(try await client.listTools().count == 6)
        #expect(try await client.callTool("pid").isError == false)
        await client.close()

        let admin = AdminClient(address: try ConfiguredAddress(unixPath: "\(directory.path)/admin.sock"))
        var connections = 1
        for _ in 0 ..< 2_000 where connections != 0 {
            await pause()
            let status = try JSONValue(parsing: try await admin.send("GET", "/status").body)
            connections = status["connections"]?.intValue ?? 0
        }
        let people = try await run("status", "--admin", "unix://\(directory.path)/admin.sock")
        #expect(people.status == .exited(0))
        let served = people.output.firstMatch(of: /served (\d+)/).map { String($0.1) } ?? ""
        let mean = people.output.firstMatch(of: /(\d+) ms/).map { String($0.1) } ?? ""
        #expect(
            Self.stable(people.output)
                == """
                ops 1.4.0  ready  up N s  pid N  N MB
                connections 0  in flight 0  served \(served)  failed 0  refused 0  commands 0
                TOOL  CALLS     FAILED    MEAN
                pid   1         0         \(mean) ms
                UPSTREAM  STATE       CALLS     FAILED    ERROR
                bad       failed      0         0         sh exited with status 3; stderr: no module named mcp
                good      ready       1         0         -

                """)
        let ready = try await admin.send("GET", "/readyz")
        #expect(ready.status == 200)
        #expect(
            String(decoding: ready.body, as: UTF8.self)
                == "ready\nupstream bad: failed\nupstream good: ready\n")
        let metrics = String(decoding: try await admin.send("GET", "/metrics").body, as: UTF8.self)
        for line in [
            #"mcp_server_upstream_ready{upstream="bad"} 0"#, #"mcp_server_upstream_ready{upstream="good"} 1"#,
            #"mcp_server_upstream_calls_total{upstream="good"} 1"#,
            #"mcp_server_upstream_errors_total{upstream="good"} 0"#,
        ] { #expect(metrics.contains("\n\(line)\n"), "\(line)") }
        await program.stop()
    }

    /// An attempt that is being made has no time until the next one.
    @Test func theNextAttempt() {
        func line(_ state: String, _ pause: JSONValue) -> String? {
            ControlCommand.lines([
                "upstreams": [["name": "a", "state": .string(state), "nextTryMilliseconds": pause]]
            ]).last
        }
        #expect(line("connecting", 0)?.contains("next try") == false)
        #expect(line("failed", 0)?.contains("next try") == false)
        #expect(line("failed", 1_500)?.hasSuffix("(next try in 2 s)") == true)
    }

    /// A reload tries a server that failed again, although its entry is the same.
    @Test func aReloadTriesAgain() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("s.py", UpstreamProgramTests.script)
        try directory.write(
            "mcp.jsonc",
            """
            { "admin": { "listen": "unix://\(directory.path)/admin.sock" },
              "mcpServers": {
                "late": { "command": "python3", "args": ["${configDir}/late.py"], "restart": "never" } } }
            """)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        #expect(await program.logs(#""event":"upstream failed","mcpServer":"late""#))
        try directory.write("late.py", UpstreamProgramTests.script)
        let admin = AdminClient(address: try ConfiguredAddress(unixPath: "\(directory.path)/admin.sock"))
        #expect(try await admin.send("POST", "/reload").status == 200)
        #expect(await program.logs(#""event":"upstream ready","mcpServer":"late""#))
        await program.stop()
    }

    /// A program that hangs is given up after some calls without an answer, and started again.
    @Test func aProgramThatHangs() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "hang.py",
            """
            import json, sys, time
            for line in sys.stdin:
                asked = json.loads(line)
                if "id" not in asked: continue
                answer = {"jsonrpc": "2.0", "id": asked["id"]}
                if asked["method"] == "initialize":
                    answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                        "serverInfo": {"name": "hang", "version": "1"}}
                elif asked["method"] == "tools/list":
                    answer["result"] = {"tools": [{"name": "hang", "inputSchema": {"type": "object"}}]}
                elif asked["method"] == "tools/call": time.sleep(600)
                else: answer["error"] = {"code": -32601, "message": "no"}
                print(json.dumps(answer), flush=True)
            """)
        try directory.write(
            "mcp.jsonc",
            #"{ "mcpServers": { "hang": { "command": "python3", "args": ["${configDir}/hang.py"], "timeout": "1s" } } }"#
        )
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        #expect(await program.logs(#""event":"upstream ready","mcpServer":"hang""#))
        let client = try await MCPClient.connect(.unix(path: program.socket))
        for _ in 1 ... 3 { #expect(try await client.callTool("hang").isError) }
        #expect(await program.logs(#""event":"upstream failed","mcpServer":"hang""#))
        #expect(await program.logs(#""event":"upstream ready","mcpServer":"hang""#, times: 2))
        await client.close()
        await program.stop()
    }

    /// After a configuration that cannot be used, the server is ready and says so.
    @Test func aFailedReloadIsAHeader() async throws {
        let directory = try TemporaryDirectory()
        let admin = AdminClient(address: try ConfiguredAddress(unixPath: "\(directory.path)/admin.sock"))
        func write(_ tools: String) throws {
            try directory.write(
                "mcp.jsonc",
                #"{ "admin": { "listen": "unix://\#(directory.path)/admin.sock" }, "tools": \#(tools) }"#)
        }
        try write(#"{ "one": { "exec": ["true"] } }"#)
        let program = try await WatchedProgram(
            configuration: "\(directory.path)/mcp.jsonc", socket: "\(directory.path)/s")
        func header() async throws -> String? {
            let answer = try await admin.send("GET", "/readyz")
            #expect(answer.status == 200)
            return answer.fields["Mcp-Last-Reload"]
        }
        #expect(try await header() == nil)
        try write("7")
        #expect(try await admin.send("POST", "/reload").status == 422)
        #expect(try await header() == "failed")
        let people = try await run("status", "--admin", "unix://\(directory.path)/admin.sock")
        #expect(people.output.contains("not reloaded: the running configuration stays"), "\(people)")
        #expect(people.output.contains("mcp.jsonc:1:"))
        try write(#"{ "two": { "exec": ["true"] } }"#)
        #expect(try await admin.send("POST", "/reload").status == 200)
        #expect(try await header() == nil)
        await program.stop()
    }
}
#endif
