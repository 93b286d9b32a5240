import MCPCore
import Synchronization
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

#if os(Linux)
/// The daemon with programs behind it: good ones, and every kind of bad one.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UpstreamProgramTests {
    /// A server of 2025-06-18 in 40 lines, whose behaviour its arguments choose.
    static let script = """
        import json, os, sys, time
        mode = sys.argv[1] if len(sys.argv) > 1 else ""
        if mode == "exit":
            print("no module named mcp " + os.environ.get("TOKEN", ""), file=sys.stderr); sys.exit(3)
        if mode == "slow": time.sleep(2)
        if mode == "noise": print("Starting up..."); print("{half a message")
        def send(message): print(json.dumps(message), flush=True)
        tools = [{"name": n, "inputSchema": {"type": "object"}} for n in ("pid", "env", "die", "hang", "ask", "leak")]
        if mode == "hostile":
            tools += [{"name": "pid", "inputSchema": {"type": "object"}}, {"name": 7}, {"name": "bad", "inputSchema": 1},
                      {"name": "esc\\u001b[2J", "description": "x\\u202ey", "inputSchema": {"$ref": "http://x/"}}]
        asked = {}
        for line in sys.stdin:
            m = json.loads(line)
            if "method" not in m:
                send({"jsonrpc": "2.0", "id": asked.pop(m["id"]), "result": {"content": [{"type": "text",
                      "text": json.dumps(m.get("result", m.get("error")))}]}})
                continue
            if "id" not in m: continue
            id, method, params = m["id"], m["method"], m.get("params", {})
            with open(__file__ + ".methods", "a") as methods: methods.write(method + "\\n")
            def answer(result): send({"jsonrpc": "2.0", "id": id, "result": result})
            def text(value): answer({"content": [{"type": "text", "text": value}]})
            if method == "initialize":
                answer({"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}},
                        "serverInfo": {"name": "script", "version": "1"}})
            elif method == "tools/list":
                if mode == "hostile":
                    send({"jsonrpc": "2.0", "id": 999, "result": {}})
                    tools.append({"name": "t%d" % len(tools), "inputSchema": {"type": "object"}})
                    for _ in range(500): send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
                answer({"tools": tools})
            elif method == "tools/call":
                name = params["name"]
                if name == "pid": text(str(os.getpid()))
                elif name == "env": text(" ".join(sorted(os.environ)))
                elif name == "die": print("last words", file=sys.stderr, flush=True); os._exit(9)
                elif name == "hang": open(__file__ + ".hangs", "w")
                elif name == "leak":
                    words = "refused " + os.environ["TOKEN"]
                    print(words, file=sys.stderr, flush=True)
                    send({"jsonrpc": "2.0", "id": id, "error": {"code": -5, "message": words, "data": {"t": words}}})
                elif name == "ask":
                    asked["q%s" % id] = id
                    send({"jsonrpc": "2.0", "id": "q%s" % id, "method": "elicitation/create", "params": {
                          "message": "Name?", "requestedSchema": {"type": "object",
                          "properties": {"name": {"type": "string"}}}}})
                else: text(name)
            else: send({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no " + method}})
        """

    private final class Fixture {
        let directory: TemporaryDirectory
        let program: WatchedProgram

        init(
            _ servers: String, _ more: String = "", environment: [String: String] = [:]
        ) async throws {
            directory = try TemporaryDirectory()
            try directory.write("s.py", UpstreamProgramTests.script)
            try directory.write("mcp.jsonc", Self.configuration(servers, more))
            let socket = "\(directory.path)/s.sock"
            program = try await WatchedProgram(
                ["-c", "\(directory.path)/mcp.jsonc", "--listen", "unix://\(socket)"], socket: socket,
                environment: WatchedProgram.environment.merging(environment) { $1 })
        }

        private static func configuration(_ servers: String, _ more: String = "") -> String {
            "{ \"mcpServers\": { \(servers) }\(more) }"
        }

        /// Changes the configuration, which makes the daemon read it again.
        func write(_ servers: String) throws {
            try directory.write("mcp.jsonc", Self.configuration(servers))
        }

        func client(_ options: ClientOptions = ClientOptions()) async throws -> MCPClient {
            try await MCPClient.connect(.unix(path: program.socket), options: options)
        }
    }

    private static func entry(_ name: String, _ mode: String = "", _ more: String = "") -> String {
        #""\#(name)": { "command": "python3", "args": ["${configDir}/s.py", "\#(mode)"]\#(more) }"#
    }

    private static func isAlive(_ pid: Int32) -> Bool { kill(pid, 0) == 0 }

    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    @Test func aProgramIsStartedWithItsEnvironmentOnly() async throws {
        let fixture = try await Fixture(
            Self.entry("s", "", #", "env": { "OWN": "${SECRET}" }"#),
            environment: ["SECRET": "hunter22", "OTHER": "x"])
        let client = try await fixture.client()
        let names = Set(try await client.callTool("env").text.split(separator: " ").map(String.init))
        #expect(names.isSuperset(of: ["HOME", "LANG", "OWN", "PATH"]))
        #expect(!names.contains("OTHER") && !names.contains("SECRET"))
        await client.close()
        await fixture.program.stop()
    }

    /// The error names the exit status and the last words, at once, and no secret.
    @Test func aProgramThatEndsWhileItStarts() async throws {
        let fixture = try await Fixture(
            Self.entry("bad", "exit", #", "env": { "TOKEN": "${SECRET}" }"#) + "," + Self.entry("good"),
            environment: ["SECRET": "hunter22"])
        let client = try await fixture.client()
        #expect(try await client.listTools().count == 6)
        #expect(
            await fixture.program.logs("python3 exited with status 3; stderr: no module named mcp •••"))
        #expect(!fixture.program.output.contains("hunter22"))
        await client.close()
        await fixture.program.stop()
    }

    /// An error that names a secret: not for the caller, not for operators, and not in a recording.
    @Test func anErrorThatContainsASecret() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("s.py", Self.script)
        try directory.makeDirectory("flight")
        try directory.write("secret", "hunter22")
        let entry = Self.entry("s", "", #", "env": { "TOKEN": "${file:secret}" }"#)
        let (socket, admin) = ("\(directory.path)/s", "unix://\(directory.path)/admin")
        try directory.write(
            "mcp.jsonc",
            #"{ "admin": { "listen": "\#(admin)" }, "observe": { "log": { "level": "debug" }, "#
                + #""audit": { "file": "audit" }, "recorder": { "dir": "flight", "dumpOn": ["SIGUSR1"] } }, "#
                + #""mcpServers": { \#(entry) } }"#)
        let program = try await WatchedProgram(configuration: "\(directory.path)/mcp.jsonc", socket: socket)
        let client = try await MCPClient.connect(.unix(path: socket))
        let error = await #expect(throws: MCPError.self) { try await client.callTool("leak") }
        #expect(error == MCPError(code: -5, message: "refused •••", data: ["t": "refused •••"]))
        await client.close()
        let launch = ProcessLaunch(
            try WatchedProgram.path(), ["errors", "--admin", admin], environment: WatchedProgram.environment)
        let errors = try await Offload.run { try ProcessRunner.run(launch) }
        #expect(String(decoding: errors.output, as: UTF8.self).contains("refused"))
        program.signal(SIGUSR1)
        #expect(await program.logs(#""event":"exchanges recorded""#))
        #expect(await program.logs("upstream output"))
        await program.stop()
        let names = try Files.names(in: "\(directory.path)/flight").names.map { "flight/\($0)" }
        #expect(names.count == 1)
        for name in names + ["audit"] {
            let bytes = try Files.read("\(directory.path)/\(name)", maxBytes: 1 << 20)
            #expect(!String(decoding: bytes, as: UTF8.self).contains("hunter22"), "\(name)")
        }
        #expect(!program.output.contains("hunter22"))
        #expect(!String(decoding: errors.output, as: UTF8.self).contains("hunter22"))
    }

    @Test func aProgramThatIsKilledIsStartedAgain() async throws {
        let fixture = try await Fixture(Self.entry("s"))
        let client = try await fixture.client()
        let pid = try #require(Int32(try await client.callTool("pid").text))
        let hanging = Task { try await client.callTool("hang") }
        #expect(await eventually { Self.exists("\(fixture.directory.path)/s.py.hangs") })
        kill(pid, SIGKILL)
        let lost = try await hanging.value
        #expect(lost.isError && lost.text.contains("killed by signal 9"), "\(lost.text)")
        let other = try await client.callTool("pid")
        #expect(Int32(other.text) != nil && other.text != "\(pid)", "\(other.text)")
        let died = try await client.callTool("die")
        #expect(died.isError && died.text.contains("status 9") && died.text.contains("last words"))
        await client.close()
        await fixture.program.stop()
    }

    /// The first servers of a daemon may come with a reload, after which more of them change.
    @Test func serversThatAReloadBrings() async throws {
        let fixture = try await Fixture("")
        var options = ClientOptions()
        options.cache = false
        let client = try await fixture.client(options)
        #expect(try await client.listTools().isEmpty)
        try fixture.write(Self.entry("one", "slow"))
        #expect(await fixture.program.logs("upstream ready"))
        #expect(try await client.listTools().count == 6)
        #expect(try await client.callTool("pid").isError == false)
        try fixture.write(Self.entry("one", "slow") + "," + Self.entry("two", "slow", #", "prefix": "two_""#))
        #expect(await fixture.program.logs(#""mcpServer":"two","tools":6"#), "\(fixture.program.output)")
        #expect(try await client.listTools().count == 12)
        await client.close()
        await fixture.program.stop()
    }

    @Test func aProgramThatStartsSlowlyOrNoisilyWorks() async throws {
        let fixture = try await Fixture(
            Self.entry("slow", "slow", #", "prefix": "slow_""#) + "," + Self.entry("noisy", "noise"))
        let client = try await fixture.client()
        #expect(try await client.listTools().count == 12)
        #expect(try await client.callTool("slow_pid").isError == false)
        #expect(try await client.callTool("pid").isError == false)
        await client.close()
        await fixture.program.stop()
    }

    /// Lists that change each time, duplicates, nonsense and floods: what is usable is offered.
    @Test func aHostileProgramDoesNoHarm() async throws {
        let fixture = try await Fixture(
            Self.entry("h", "hostile") + "," + Self.entry("g", "", #", "prefix": "g_""#))
        let client = try await fixture.client()
        let tools = try await client.listTools()
        #expect(tools.contains { $0.name == "esc__2J" && $0.description == "xy" })
        #expect(tools.count { $0.name == "pid" } == 1 && !tools.contains { $0.name == "bad" })
        #expect(try await client.callTool("pid").isError == false)
        #expect(try await client.callTool("g_pid").isError == false)
        #expect(await fixture.program.logs("listed twice"))
        await client.close()
        await fixture.program.stop()
    }

    @Test func nothingOutlivesTheDaemon() async throws {
        for signal in [SIGKILL, SIGTERM] {
            let fixture = try await Fixture(Self.entry("s"))
            let client = try await fixture.client()
            let pid = try #require(Int32(try await client.callTool("pid").text))
            fixture.program.signal(signal)
            #expect(await eventually { !Self.isAlive(pid) })
            await client.close()
            _ = await fixture.program.wait()
        }
    }

    @Test func anIdleProgramIsStoppedAndStartedAgain() async throws {
        let fixture = try await Fixture(Self.entry("s", "", #", "idle": "300ms""#))
        let client = try await fixture.client()
        let pid = try #require(Int32(try await client.callTool("pid").text))
        #expect(await eventually { !Self.isAlive(pid) })
        #expect(try await client.listTools().count == 6)
        #expect(try await client.callTool("pid").text != "\(pid)")
        await client.close()
        await fixture.program.stop()
    }

    @Test func aReloadKeepsWhatDidNotChange() async throws {
        let fixture = try await Fixture(
            Self.entry("kept") + "," + Self.entry("gone", "", #", "prefix": "gone_""#))
        let client = try await fixture.client()
        let kept = try await client.callTool("pid").text
        let gone = try #require(Int32(try await client.callTool("gone_pid").text))
        let new = Self.entry("kept") + "," + Self.entry("new", "", #", "prefix": "new_""#)
        try fixture.directory.write("mcp.jsonc", "{ \"mcpServers\": { \(new) } }")
        #expect(await fixture.program.logs("reloaded"))
        #expect(try await client.callTool("new_pid").isError == false)
        #expect(try await client.callTool("pid").text == kept)
        #expect(await eventually { !Self.isAlive(gone) })
        await #expect(throws: MCPError.self) { try await client.callTool("gone_pid") }
        await client.close()
        await fixture.program.stop()
    }

    @Test func aRequiredProgramThatFailsEndsTheStart() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"{ "mcpServers": { "s": { "command": "sh", "args": ["-c", "echo why >&2; exit 4"], "required": true } } }"#
        )
        let launch = ProcessLaunch(
            try WatchedProgram.path(),
            ["-c", "\(directory.path)/mcp.jsonc", "--listen", "unix://\(directory.path)/s"],
            environment: WatchedProgram.environment)
        let result = try await Offload.run { try ProcessRunner.run(launch) }
        #expect(result.status == .exited(1))
        let errors = String(decoding: result.errors, as: UTF8.self)
        #expect(errors.contains("not started: s: sh exited with status 4; stderr: why"), "\(errors)")
    }

    /// A server of 2025-06-18 asks; callers of both eras answer.
    @Test(arguments: [ProtocolVersion.v2026_07_28, .v2025_06_18])
    func aProgramAsksItsCaller(_ version: ProtocolVersion) async throws {
        let fixture = try await Fixture(Self.entry("s", "", #", "perPrincipal": true"#))
        var options = ClientOptions()
        options.protocol = .exactly(version)
        options.onElicit = { request in
            #expect(request.message == "Name?")
            return ElicitResult(.accept, content: ["name": "Ada"])
        }
        let client = try await fixture.client(options)
        let result = try await client.callTool("ask")
        #expect(result.text.contains("Ada"), "\(result.text)")
        await client.close()
        // A caller who cannot be asked: the server is told so, and answers.
        options.onElicit = nil
        let mute = try await fixture.client(options)
        let refused = try await mute.callTool("ask")
        #expect(refused.text.contains("code"), "\(refused.text)")
        await mute.close()
        await fixture.program.stop()
    }

    /// A question that nobody answers keeps no later call of the same principal from asking. Callers without
    /// authorization may be several people: what one of their calls asks, none of the others sees.
    @Test(arguments: [true, false]) func anAbandonedQuestion(isOfOnePerson: Bool) async throws {
        let fixture = try await Fixture(
            Self.entry("s", "", #", "perPrincipal": true, "concurrency": 1"#),
            isOfOnePerson ? #", "auth": { "peers": [{ "uid": \#(geteuid()) }] }"# : "")
        let (questions, asked) = AsyncStream.makeStream(of: Void.self)
        var options = ClientOptions()
        options.onElicit = { _ in
            asked.yield()
            try await Task.sleep(for: .seconds(600))
            return ElicitResult(.cancel)
        }
        let absent = try await fixture.client(options)
        let abandoned = Task { try await absent.callTool("ask") }
        for await _ in questions { break }
        abandoned.cancel()
        _ = await abandoned.result
        await absent.close()
        options.onElicit = { _ in ElicitResult(.accept, content: ["name": "Ada"]) }
        let client = try await fixture.client(options)
        for _ in 0 ..< 3 {
            let result = try await client.callTool("ask")
            #expect(result.text.contains(isOfOnePerson ? "Ada" : "-32601"), "\(result.text)")
        }
        await client.close()
        await fixture.program.stop()
    }

    /// A call waits for a server that connects for the first time, also when another reload replaces it.
    @Test func aCallWaitsForWhatReplacesItsServer() async throws {
        let prefix = #", "prefix": "other_""#
        let fixture = try await Fixture(Self.entry("s"))
        let client = try await fixture.client()
        try fixture.write(
            Self.entry("s", "slow", #", "concurrency": 2"#) + "," + Self.entry("other", "", prefix))
        #expect(await fixture.program.logs("\"event\":\"reloaded\""))
        let call = Task { try await client.callTool("other_pid") }
        try fixture.write(
            Self.entry("s", "slow", #", "concurrency": 3"#) + "," + Self.entry("other", "slow", prefix))
        #expect(try await call.value.isError == false)
        await client.close()
        await fixture.program.stop()
    }

    /// A program whose entry names the revision is opened with that one.
    @Test(arguments: [(#", "protocol": "2025-06-18""#, "initialize"), ("", "server/discover")])
    func anEntryNamesTheRevision(_ key: String, _ first: String) async throws {
        let fixture = try await Fixture(Self.entry("s", "", key))
        let client = try await fixture.client()
        #expect(try await client.callTool("pid").isError == false)
        let methods = try ConfigFile.text(at: "\(fixture.directory.path)/s.py.methods", shownAs: "methods")
        #expect(methods.hasPrefix("\(first)\n"), "\(methods)")
        await client.close()
        await fixture.program.stop()
    }

    /// The connection that all callers share declares nothing, and passes no question on.
    @Test func aSharedProgramCannotAsk() async throws {
        let fixture = try await Fixture(Self.entry("s"))
        var options = ClientOptions()
        options.onElicit = { _ in ElicitResult(.accept, content: ["name": "Ada"]) }
        let client = try await fixture.client(options)
        let result = try await client.callTool("ask")
        #expect(result.text.contains("-32601"), "\(result.text)")
        await client.close()
        await fixture.program.stop()
    }

    @Test func manyCallersOfOneProgram() async throws {
        let fixture = try await Fixture(Self.entry("s", "", #", "concurrency": 4"#))
        let socket = fixture.program.socket
        try await withThrowingTaskGroup { group in
            for _ in 0 ..< 200 {
                group.addTask {
                    let client = try await MCPClient.connect(.unix(path: socket))
                    #expect(try await client.callTool("pid").isError == false)
                    await client.close()
                }
            }
            try await group.waitForAll()
        }
        await fixture.program.stop()
    }

    @Test func exposeServesADirectory() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("docs")
        try directory.write("docs/a.md", "first")
        let socket = "\(directory.path)/s.sock"
        let program = try await WatchedProgram(
            ["expose", "--listen", "unix://\(socket)", "\(directory.path)/docs"], socket: socket)
        let client = try await MCPClient.connect(.unix(path: socket))
        let uri = try #require(try await client.listResources().first?.uri)
        let read = try await client.request("resources/read", ["uri": .string(uri)])
        #expect(uri.hasSuffix("/a.md") && read["contents"]?[0]?["text"]?.string == "first")
        await client.close()
        await program.stop()
    }

    @Test func exposeServesAProgram() async throws {
        let directory = try TemporaryDirectory()
        try directory.write("s.py", Self.script)
        let socket = "\(directory.path)/s.sock"
        let program = try await WatchedProgram(
            ["expose", "--listen", "unix://\(socket)", "--", "python3", "\(directory.path)/s.py"],
            socket: socket)
        let client = try await MCPClient.connect(.unix(path: socket))
        #expect(try await client.listTools().count == 6)
        await client.close()
        await program.stop()
    }
}
#endif
