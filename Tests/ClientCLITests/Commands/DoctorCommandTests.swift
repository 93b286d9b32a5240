import MCPCore
import TestSupport
import Testing

/// Each step to a server by itself; a failure ends with 8 and says what to do.
@Suite(.timeLimit(.minutes(5))) struct DoctorCommandTests {
    /// A report without its times.
    static func plain(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasSuffix(" ms") || line.hasSuffix(" s")
                ? line.split(separator: " · ").dropLast().joined(separator: " · ") : String(line)
        }.joined(separator: "\n")
    }

    private func server() throws -> MCPServer {
        let server = MCPServer("ops", version: "1.4.0")
        try server.register(
            Tool(
                "now", description: "Returns the time.", inputSchema: ["type": "object"],
                annotations: ToolAnnotations(readOnlyHint: true))
        ) { _, _ in .text("now") }
        return server
    }

    private func harness() throws -> CommandHarness {
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        return harness
    }

    @Test(arguments: [nil, "140"]) func aGoodServer(columns: String?) async throws {
        var harness = try harness()
        harness.isTerminal = columns != nil
        harness.variables = ["NO_COLOR": "1"]
        harness.variables["COLUMNS"] = columns
        let ready = harness
        try await server().withPort { port in
            let outcome = await ready.run("doctor", "127.0.0.1:\(port)")
            #expect(outcome.code == .ok, "\(outcome.stdout)\(outcome.stderr)")
            #expect(
                Self.plain(outcome.stdout) == """
                    ok    tcp       connected
                    ok    discover  ops 1.4.0 · 2026-07-28 (also 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05)
                    ok    stream    open
                    ok    list      1 tool
                    ok    origin    a foreign Origin is refused (403)

                    """)
            #expect(outcome.stderr == "0 failures, 0 warnings\n")
            var narrow = ready
            narrow.isTerminal = true
            narrow.variables["COLUMNS"] = "60"
            let lines = await narrow.run("doctor", "127.0.0.1:\(port)").stdout.split(separator: "\n")
            #expect(lines.count > 5 && lines.allSatisfy { $0.count <= 60 }, "\(lines)")
            #expect(
                lines.contains { $0.hasPrefix("                ") && $0.contains("2024-11-05") }, "\(lines)")
            let json = try JSONValue(parsing: await ready.run("--json", "doctor", "127.0.0.1:\(port)").stdout)
            #expect(json["ok"] == true && json["steps"]?.arrayValue?.count == 5)
            // A name has addresses.
            let named = await ready.run("doctor", "localhost:\(port)")
            #expect(named.stdout.hasPrefix("ok    dns       "), "\(named.stdout)")
        }
    }

    @Test func definitionsWithDefectsFail() async throws {
        let server = try server()
        try server.register(
            Tool(
                "both", description: "Does\u{200B} it.", inputSchema: ["type": "object"],
                annotations: ToolAnnotations(readOnlyHint: true, destructiveHint: true))
        ) { _, _ in .text("") }
        let harness = CommandHarness(server: server)
        try await server.withPort { port in
            let outcome = await harness.run("doctor", "127.0.0.1:\(port)")
            #expect(outcome.code == .checkFailed)
            #expect(outcome.stdout.contains("\nfail  list      2 tools"), "\(outcome.stdout)")
            #expect(outcome.stdout.contains("tool both: "), "\(outcome.stdout)")
            #expect(outcome.stderr == "1 failure, 0 warnings\n")
        }
    }

    @Test func aLoginThatIsNeeded() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.challengeScope = "files:read"
        var setting = try LoginSetting(knobs)
        setting.harness.connectsToTargets = true
        let outcome = await setting.run("doctor", setting.server.url)
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        #expect(
            Self.plain(setting.plain(outcome.stdout)) == """
                ok    tcp       connected
                warn  login     needed to go on
                                POST ORIGIN/mcp: HTTP 401
                                GET ORIGIN/.well-known/oauth-protected-resource/mcp: HTTP 200
                                GET ORIGIN/.well-known/oauth-authorization-server: HTTP 200
                                authorization server: ORIGIN · scopes: files:read
                                hint: mcp-client login ORIGIN/mcp
                ok    origin    a foreign Origin is refused (403)

                """)
        #expect(outcome.stderr == "0 failures, 1 warning\n")
        #expect(await setting.run("doctor", "--strict", setting.server.url).code == .checkFailed)
        // Nothing was registered, opened or stored.
        #expect(setting.server.requests("/register").isEmpty && setting.files.isEmpty)
        await setting.end()
    }

    @Test func aLoginThatCannotWork() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.metadataIssuer = "https://id.example/"
        var setting = try LoginSetting(knobs)
        setting.harness.connectsToTargets = true
        let outcome = await setting.run("doctor", setting.server.url)
        #expect(outcome.code == .checkFailed)
        let text = setting.plain(outcome.stdout)
        #expect(text.contains("\nfail  login     "), "\(text)")
        for part in ["POST ORIGIN/mcp: HTTP 401", "expected: ORIGIN", "its metadata: https://id.example/"] {
            #expect(text.contains("                \(part)"), "\(text)")
        }
        await setting.end()
    }

    @Test func anAddressThatIsNoServer() async throws {
        let harness = try harness()
        try await server().withPort { port in
            let outcome = await harness.run("doctor", "http://127.0.0.1:\(port)/other")
            #expect(outcome.code == .checkFailed)
            #expect(outcome.stdout.contains("\nfail  discover  "), "\(outcome.stdout)")
            #expect(outcome.stdout.contains("404"), "\(outcome.stdout)")
        }
    }

    @Test func aServerThatIsNotThere() async throws {
        let recorder = try RequestRecorder()
        let port = recorder.port
        recorder.stop()
        let outcome = await (try harness()).run("doctor", "127.0.0.1:\(port)")
        #expect(outcome.code == .checkFailed)
        #expect(
            outcome.stdout.hasPrefix("fail  tcp       cannot connect to 127.0.0.1:\(port)"),
            "\(outcome.stdout)")
        let name = await (try harness()).run("doctor", "http://no-such-host.invalid/mcp")
        #expect(name.code == .checkFailed)
        #expect(
            name.stdout.hasPrefix("fail  dns       cannot find the address of no-such-host.invalid"),
            "\(name.stdout)")
    }

    /// A proxy that keeps responses back, and a server that serves pages of other sites.
    @Test func aProxyThatBuffersAndAServerForEveryPage() async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .result(heard, Script.discovered)
            case "tools/list": .result(heard, #"{"resultType":"complete","tools":[]}"#)
            case "subscriptions/listen": HTTPPeer.Answer(pieces: [], then: .hang)
            default: .status(404)
            }
        }
        defer { peer.stop() }
        let outcome = await (try harness()).run("doctor", "http://\(peer.endpoint)/mcp")
        #expect(outcome.code == .ok)
        #expect(outcome.stdout.contains("\nwarn  stream    no byte within 5 s"), "\(outcome.stdout)")
        #expect(
            outcome.stdout.contains("\nwarn  origin    a foreign Origin is not refused (HTTP 200)\n"),
            "\(outcome.stdout)")
    }

    /// A stream that the server refuses is no slow one.
    @Test(arguments: [
        (500, "the server answered GET with HTTP 500", "the server failed; its own log may say why"),
        (
            503, "the server refused GET with HTTP 503",
            "the server behind this address is not available now; try again later"
        ),
    ])
    func aStreamThatIsRefused(status: Int, text: String, hint: String) async throws {
        let peer = try HTTPPeer { heard in
            switch (heard.method, heard.rpcMethod) {
            case ("GET", _): .status(status)
            case (_, "initialize"):
                .result(
                    heard, Script.initialized(capabilities: #"{"tools":{"listChanged":true}}"#),
                    headers: "Mcp-Session-Id: s\r\n")
            case (_, "notifications/initialized"): .status(202)
            case (_, "tools/list"): .result(heard, #"{"tools":[]}"#)
            default: .status(400)
            }
        }
        defer { peer.stop() }
        let outcome = await (try harness()).run("doctor", "http://\(peer.endpoint)/mcp")
        #expect(outcome.code == .ok)
        #expect(
            outcome.stdout.contains("\nwarn  stream    \(text)\n                hint: \(hint)\n"),
            "\(outcome.stdout)")
        #expect(!outcome.stderr.contains("cannot be received"), "\(outcome.stderr)")
    }

    // MARK: Programs

    @Test func programs() async throws {
        let good = try await ProgramRunner.client("doctor", "--", ProgramRunner.server, "--demo")
        #expect(good.code == 0, "\(good.stdout)\(good.stderr)")
        let names = good.stdout.split(separator: "\n").filter { $0.hasPrefix("ok") }.map {
            $0.split(separator: " ")[1]
        }
        #expect(names == ["program", "discover", "list"], "\(good.stdout)")
        let missing = try await ProgramRunner.client("doctor", "--", "no-such-program-here")
        #expect(missing.code == 8)
        #expect(
            missing.stdout.hasPrefix("fail  program   ") && missing.stdout.contains("/usr/bin:/bin"),
            "\(missing.stdout)")
        let dead = try await ProgramRunner.client(
            "doctor", "--", "/bin/sh", "-c", "read x; echo unknown option >&2; exit 3")
        #expect(dead.code == 8)
        #expect(
            dead.stdout.contains("fail  discover  /bin/sh exited with status 3 before answering"),
            "\(dead.stdout)")
        #expect(dead.stdout.contains("                stderr: unknown option\n"), "\(dead.stdout)")
        #expect(!dead.stdout.contains("hint: mcp-client doctor"))
    }
}
