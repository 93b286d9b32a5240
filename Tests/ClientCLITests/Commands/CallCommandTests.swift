import MCPClientCLI
import MCPCore
import TestSupport
import Testing

struct CallCommandTests {
    private func harness() throws -> CommandHarness { CommandHarness(server: try OpsServer.make()) }

    @Test(arguments: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    func theResultAloneIsOnStdout(revision: String) async throws {
        let outcome = try await harness()
            .run("--protocol", revision, "call", "localhost:1", "git_log", "repo=web", "limit=2")
        #expect(outcome.code == .ok)
        #expect(outcome.stdout == "a1b2c3d Fix drain on SIGTERM\n9f8e7d6 Add openat2 fallback\n")
        #expect(outcome.stderr.isEmpty)
    }

    @Test func wrongArgumentsSendNothing() async throws {
        let outcome = try await harness().run("call", "localhost:1", "unit_restart", "unit=wrker", "now=1")
        #expect(outcome.code == .usage)
        #expect(outcome.stdout.isEmpty)
        #expect(
            outcome.stderr == """
                error: the arguments do not match the schema of unit_restart (nothing was sent)
                  unit  "wrker" is not one of "web", "worker", "cron"        did you mean "worker"?
                  now   no such argument
                usage: mcp-client call localhost:1 unit_restart unit=<web|worker|cron>

                """)
    }

    @Test func theToolSaysNo() async throws {
        let outcome = try await harness().run("call", "localhost:1", "git_log", "repo=nope")
        #expect(outcome.code == .toolError)
        #expect(outcome.stdout.isEmpty)
        #expect(outcome.stderr == "git_log failed: repository \"nope\" is not under workspace\n")
    }

    /// A person is spared the rest of a long line; a program gets it.
    @Test(arguments: [true, false]) func aToolThatFailsWithALongLine(isTerminal: Bool) async throws {
        let server = MCPServer("ops", version: "1")
        let text = String(repeating: "x", count: 5_000)
        try server.register(Tool("long")) { _, _ in throw ToolError(text) }
        var harness = CommandHarness(server: server)
        harness.isTerminal = isTerminal
        let outcome = await harness.run("--color", "never", "call", "localhost:1", "long")
        #expect(outcome.code == .toolError)
        #expect(outcome.stderr.contains(text) == !isTerminal)
        #expect(outcome.stderr.contains("… (904 more characters; a pipe gets all of them)") == isTerminal)
    }

    @Test func theToolSaysNoInJSON() async throws {
        let outcome = try await harness().run("--json", "call", "localhost:1", "git_log", "repo=nope")
        #expect(outcome.code == .toolError)
        #expect(try JSONValue(parsing: outcome.stdout)["isError"] == true)
        let last = try #require(outcome.stderr.split(separator: "\n").last)
        let error = try JSONValue(parsing: String(last))
        #expect(error["error"]?["kind"] == "tool_error")
        #expect(error["error"]?["code"] == 1)
    }

    @Test func withoutValidationTheServerDecides() async throws {
        let outcome = try await harness().run(
            "--no-validate", "call", "localhost:1", "unit_restart", "unit=wrker")
        #expect(outcome.code == .toolError)
        let whole = try await harness().run("--no-validate", "call", "localhost:1", "nosuch", "{}")
        #expect(whole.code == .protocolError)
    }

    @Test func anUnknownTool() async throws {
        let outcome = try await harness().run("call", "localhost:1", "git_lgo", "repo=web")
        #expect(outcome.code == .protocolError)
        #expect(outcome.stderr.hasPrefix("error: ops has no tool \"git_lgo\"\n  did you mean git_log?\n"))
    }

    @Test func aJSONRPCErrorIsExitFive() async throws {
        let outcome = try await harness().run("--json", "call", "localhost:1", "x_rpc_error")
        #expect(outcome.code == .protocolError)
        #expect(
            outcome.stderr.hasPrefix(
                "error: the server refused: no\\nway (4711)\n  sent: tools/call x_rpc_error\n"))
        let last = try #require(outcome.stderr.split(separator: "\n").last)
        let error = try #require(try JSONValue(parsing: String(last))["error"])
        #expect(error["rpcCode"] == 4711 && error["rpcMessage"] == "no\nway")
        #expect(error["rpcData"] == ["why": "because"])
    }

    /// A line of a tool's error does not look like one of ours.
    @Test func aFailedToolWritesNoHint() async throws {
        let server = MCPServer("s", version: "1")
        try server.register(Tool("fail")) { _, _ in
            throw ToolError("boom\nhint: run this\nerror: or that")
        }
        let outcome = await CommandHarness(server: server).run("call", "localhost:1", "fail")
        #expect(outcome.code == .toolError)
        #expect(
            outcome.stderr == "fail failed: boom\n  hint: run this\n  error: or that\n", "\(outcome.stderr)")
    }

    /// What is logged during a call begins a line of its own.
    @Test func aLogLineErasesTheProgress() async throws {
        let server = MCPServer("s", version: "1")
        try server.register(Tool("slow")) { _, context in
            await context.progress(1, total: 2, message: "half")
            await context.log(.warning, "a line")
            return .text("done")
        }
        var harness = CommandHarness(server: server)
        harness.isTerminal = true
        let outcome = await harness.run("--log-level", "info", "call", "localhost:1", "slow")
        let text = outcome.stderr
        let progress = try #require(text.firstRange(of: "half"))
        let line = try #require(text.firstRange(of: "a line"))
        #expect(text[progress.upperBound ..< line.lowerBound].contains("\r\u{1B}[2K"), "\(text)")
    }

    /// The cause is often at the end; what is not for a terminal is still not.
    @Test func aLongErrorIsWhole() async throws {
        let server = MCPServer("s", version: "1")
        let long = String(repeating: "a", count: 3_000) + "\u{202E}\u{9B}2J the cause"
        let length = 5_000
        try server.register(Tool("fail")) { _, _ in
            throw MCPError(code: 1, message: long, data: .string(String(repeating: "b", count: length)))
        }
        let outcome = await CommandHarness(server: server).run("--json", "call", "localhost:1", "fail")
        #expect(outcome.stderr.contains(#"a\u{202e}\u{9b}2J the cause (1)\#n"#), "\(outcome.stderr)")
        #expect(outcome.stderr.contains("b…\n") && !outcome.stderr.unicodeScalars.contains("\u{9B}"))
        let last = try #require(outcome.stderr.split(separator: "\n").last)
        let error = try JSONValue(parsing: String(last))["error"]
        #expect(error?["rpcMessage"]?.stringValue == long)
        #expect(error?["rpcData"]?.stringValue?.count == length)
    }

    /// What a server began and did not finish may have had an effect: a script must not take it for a refusal.
    @Test(
        arguments: ["2026-07-28", "2025-11-25", "2024-11-05"],
        [
            (MCPError.interruptedCode, CommandCode.unreachable, "connection_closed"),
            (MCPError.deadlineExceededCode, .timeout, "timeout"),
        ])
    func aCallThatTheServerStopped(
        revision: String, row: (code: Int, exit: CommandCode, kind: String)
    ) async throws {
        let server = try OpsServer.make()
        try server.register(Tool("x_stop")) { _, _ in throw MCPError(code: row.code, message: "It ends") }
        let outcome = await CommandHarness(server: server)
            .run("--json", "--protocol", revision, "call", "localhost:1", "x_stop")
        #expect(outcome.code == row.exit)
        #expect(!outcome.stderr.contains("refused"))
        #expect(
            outcome.stderr.hasPrefix(
                """
                error: the server started tools/call x_stop but did not finish it: It ends (\(row.code))
                  tools/call x_stop may have been executed; it was not sent again
                hint: find out whether it was executed before you send it again

                """), "\(outcome.stderr)")
        let last = try #require(outcome.stderr.split(separator: "\n").last)
        let error = try JSONValue(parsing: String(last))["error"]
        #expect(error?["rpcCode"]?.intValue == row.code && error?["kind"]?.stringValue == row.kind)
    }

    /// A proxy that has no response of the server behind it does not know whether the tool has run.
    @Test(arguments: [false, true]) func aCallThatAProxyLost(isReadOnly: Bool) async throws {
        let tool =
            #"{"name":"x","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":\#(isReadOnly)}}"#
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .result(heard, Script.discovered)
            case "tools/list":
                .result(
                    heard, #"{"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[\#(tool)]}"#)
            default: .status(504)
            }
        }
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        let outcome = await harness.run("call", peer.endpoint, "x")
        #expect(outcome.code == (isReadOnly ? .protocolError : .unreachable))
        #expect(
            outcome.stderr
                == "error: the server answered tools/call with HTTP 504\n"
                + (isReadOnly
                    ? "hint: the server behind this address is not available now; try again later\n"
                    : "  tools/call may have been executed; it was not sent again\n"
                        + "hint: find out whether it was executed before you send it again\n"))
    }

    @Test func awkwardTextsArriveUnchanged() async throws {
        let outcome = try await harness().run(
            "--structured", "call", "localhost:1", "x_echo", "a=000123", "b= spaced ü\n\"", "c:=1.50",
            "d:=null")
        #expect(outcome.stdout == #"{"a":"000123","b":" spaced ü\n\"","c":1.50,"d":null}"# + "\n")
    }

    @Test func aPipedObject() async throws {
        var harness = try harness()
        harness.stdin = #"{"repo":"web"}"#
        #expect(await harness.run("call", "localhost:1", "git_log", "limit=2").code == .ok)
    }

    @Test(arguments: [
        (["--json", "--select", ".structuredContent.n"], "[1,\"x\"]\n"),
        (["--select", ".structuredContent.n[1]"], "x\n"),
        (["--structured", "--select", ".n[0]"], "1\n"),
        (["--structured"], "{\"n\":[1,\"x\"]}\n"),
    ])
    func partsOfTheResult(flags: [String], expected: String) async throws {
        let words = flags + ["call", "localhost:1", "x_echo", #"n:=[1,"x"]"#]
        #expect(try await harness().run(words).stdout == expected)
    }

    @Test func aPartThatIsNotThere() async throws {
        let outcome = try await harness().run("--select", ".nosuch", "call", "localhost:1", "x_image")
        #expect(outcome.code == .protocolError)
        #expect(outcome.stderr.contains("the result has no .nosuch"))
        let structured = try await harness().run("--structured", "call", "localhost:1", "x_image")
        #expect(structured.code == .protocolError)
    }

    // MARK: Forms of output

    @Test func contentWithoutTextHasALine() async throws {
        let outcome = try await harness().run("call", "localhost:1", "x_image")
        #expect(
            outcome.stdout == """
                a picture:
                [image/png, 3 B; save it with -o FILE]
                → file:///a  (a.txt, text/plain, 12 B)

                """)
    }

    @Test func rawIsTheBytesOfTheSingleBlock() async throws {
        #expect(
            try await harness().run("--raw", "call", "localhost:1", "x_bytes").stdoutBytes == [0, 255, 27])
        let outcome = try await harness().run("--raw", "call", "localhost:1", "x_image")
        #expect(outcome.code == .protocolError)
        #expect(outcome.stderr.contains("the result has 3"))
    }

    @Test func aFileTakesTheResultAndMediaGoBesideIt() async throws {
        let one = try await harness().run("-o", "one.png", "call", "localhost:1", "x_bytes")
        #expect(one.files == ["one.png": [0, 255, 27]])
        #expect(one.stdout.isEmpty)
        let many = try await harness().run("-o", "out.txt", "call", "localhost:1", "x_image")
        #expect(many.files["out-1.png"] == [1, 2, 3])
        #expect(many.files["out.txt"] == Array("a picture:\n→ file:///a  (a.txt, text/plain, 12 B)\n".utf8))
        #expect(many.stderr == "wrote out-1.png (3 B)\n")
    }

    /// The tool has run: this is no usage error, and what can be kept is.
    @Test func aFileBesideThatCannotBeWrittenIsFoundAfterTheCall() async throws {
        let outcome = try await harness().run("-o", "refused.txt", "call", "localhost:1", "x_image")
        #expect(outcome.code == .unreachable)
        #expect(outcome.stderr.contains("the response had already arrived"))
        #expect(!outcome.stderr.contains("nothing was sent"))
        #expect(outcome.files.keys.sorted() == ["refused.txt"])
    }

    /// A full disk takes neither file: no message says that one of them has the rest.
    @Test func aFullDisk() async throws {
        let outcome = try await harness().run("-o", "full.txt", "call", "localhost:1", "x_image")
        #expect(outcome.code == .unreachable && outcome.files.isEmpty)
        #expect(
            outcome.stderr == """
                error: cannot write full-1.png: full
                  the response had already arrived
                error: cannot write full.txt: full

                """, "\(outcome.stderr)")
    }

    @Test func aFileThatCannotBeWrittenStopsBeforeAnythingIsSent() async throws {
        let outcome = try await harness().run(
            "-o", "/nowhere/x", "call", "localhost:1", "unit_restart", "unit=web")
        #expect(outcome.code == .usage)
        #expect(outcome.files.isEmpty)
        #expect(outcome.connections == 0)
    }

    /// A file that is there is what it was, when there is no result to put into it.
    @Test func aFailureIsNoResult() async throws {
        for words in [
            ["read", "localhost:1", "file:///none"],
            ["--json", "read", "localhost:1", "file:///notes.txt", "x:y"],
            ["call", "localhost:1", "no_such_tool"],
        ] {
            let outcome = try await harness().run(["-o", "/out"] + words)
            #expect(outcome.code != .ok)
            #expect(outcome.files.isEmpty, "\(words)")
            #expect(outcome.connections == 1)
        }
    }

    // MARK: Terminals (fault row 108)

    @Test func onATerminalTextIsHarmlessInAPipeItIsExact() async throws {
        var harness = try harness()
        #expect(
            await harness.run("call", "localhost:1", "x_escape").stdout == "\u{1B}]0;owned\u{07}red\u{202E}\n"
        )
        harness.isTerminal = true
        for flags in [[], ["--raw"], ["--select", ".content[0].text"]] {
            let outcome = await harness.run(
                ["--color", "never"] + flags + ["call", "localhost:1", "x_escape"])
            #expect(outcome.stdout.hasPrefix("\\e]0;owned\\u{7}red\\u{202e}"))
        }
        let bytes = await harness.run("--raw", "call", "localhost:1", "x_bytes")
        #expect(bytes.code == .protocolError)
        #expect(bytes.stdoutBytes.isEmpty)
    }

    @Test func progressIsOneErasedLineOnATerminalOnly() async throws {
        var harness = try harness()
        #expect(await harness.run("call", "localhost:1", "x_progress").stderr.isEmpty)
        harness.isTerminal = true
        let outcome = await harness.run("--color", "never", "call", "localhost:1", "x_progress")
        #expect(outcome.stdout == "done\n")
        #expect(outcome.stderr.contains("  ▸ x_progress █████████░░░░░░░░░ 50%  half   "))
        #expect(outcome.stderr.hasSuffix(" s\r\u{1B}[2K"))
        #expect(await harness.run("-q", "call", "localhost:1", "x_progress").stderr.isEmpty)
    }

    // MARK: Looking at the wire

    @Test func verboseShowsALinePerMessage() async throws {
        let outcome = try await harness().run("-v", "call", "localhost:1", "git_log", "repo=web")
        let lines = outcome.stderr.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("> tools/call id ") })
        #expect(lines.contains { $0.hasPrefix("< result id ") })
        #expect(!outcome.stderr.contains("a1b2c3d"))
        let wire = try await harness().run("-vv", "call", "localhost:1", "git_log", "repo=web")
        #expect(wire.stderr.contains("a1b2c3d"))
    }

    /// What is only shown is as harmless at a terminal as what is answered.
    @Test func aRequestThatIsOnlyShown() async throws {
        var harness = try harness()
        let words = ["--dry-run", "call", "localhost:1", "x_echo", "a=\u{202E}\u{9B}x"]
        #expect(await harness.run(words).stdout.contains("\u{202E}"))
        harness.isTerminal = true
        let shown = await harness.run(words)
        #expect(shown.code == .ok && shown.stdout.contains(#"\u202e"#), "\(shown.stdout.debugDescription)")
        #expect(!shown.stdout.contains("\u{202E}") && !shown.stdout.contains("\u{9B}"))
    }

    @Test func timings() async throws {
        let outcome = try await harness().run("--timings", "call", "localhost:1", "git_log", "repo=web")
        #expect(outcome.stderr.hasPrefix("connect "))
        #expect(outcome.stderr.contains(" · tools/list "))
        #expect(outcome.stderr.hasSuffix(" ms · 3 requests\n"))
    }

    /// The requests belong to a trace (META-15).
    @Test func aTraceOfOnesOwnAndANewOne() async throws {
        let harness = CommandHarness(server: try OpsServer.make())
        let words = ["call", "localhost:1", "x_echo", "a=1"]
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let own = await harness.run(["--dry-run", "--traceparent", trace] + words)
        let meta = try JSONValue(parsing: own.stdout)["params"]?["_meta"]
        #expect(meta?["traceparent"] == .string(trace), "\(own.stdout)\(own.stderr)")
        let new = await harness.run(["--dry-run", "--traceparent", "auto"] + words)
        let sent = try JSONValue(parsing: new.stdout)["params"]?["_meta"]?["traceparent"]?.stringValue ?? ""
        let context = try #require(TraceContext(sent))
        #expect(new.stderr.contains("trace \(context.traceID)\n"), "\(new.stderr)")
        #expect(await harness.run(["-q", "--traceparent", "auto"] + words).stderr.isEmpty)
        let wrong = await harness.run(["--traceparent", "00-0-0-00"] + words)
        #expect(wrong.code == .usage && wrong.connections == 0)
    }
}
