import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

/// `mcp-server explain` and `mcp-server call`, and what a command's process is given.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ToolCommandTests {
    private struct Outcome {
        var status: ProcessExit
        var output: String
        var errors: String
    }

    private static let configuration = #"""
        { "tools": {
          "list": {
            "input": { "path": {"type": "string"}, "limit?": {"type": "integer", "default": 20},
                       "all?": {"type": "boolean"}, "names?": {"type": "array", "items": {"type": "string"}} },
            "exec": ["printf", "[%s]", "{path}", "{limit}", {"when": "all", "args": ["all"]}, "{names...}"],
            "cwd": "/tmp", "limits": { "cpu": "10s", "openFiles": 64 }
          },
          "limits": { "exec": ["sh", "-c", "ulimit -t; ulimit -n; ulimit -f; ulimit -v; exit 4"],
                      "limits": { "cpu": "7s", "openFiles": 64, "fileSize": "1MiB", "memory": "1GiB" } },
          "spin": { "exec": ["sh", "-c", "while :; do :; done"], "limits": { "cpu": "1s" } },
          "gone": { "exec": ["/nonexistent/program"], "limits": { "cpu": "1s" } },
          "ask": { "exec": ["echo", "ran"], "confirm": "Run?" },
          "env": { "exec": ["env"] }
        } }
        """#

    private func run(_ arguments: String...) async throws -> Outcome {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", Self.configuration)
        let launch = ProcessLaunch(
            try WatchedProgram.path(), [arguments[0], "-c", "mcp.jsonc"] + arguments.dropFirst(),
            environment: WatchedProgram.environment, directory: directory.path)
        let result = try await Offload.run { try ProcessRunner.run(launch) }
        return Outcome(
            status: result.status, output: String(decoding: result.output, as: UTF8.self),
            errors: String(decoding: result.errors, as: UTF8.self))
    }

    @Test func explainShowsACallAndRunsNothing() async throws {
        let outcome = try await run("explain", "list", "path=a b", "--all", "names=x", "names=y")
        #expect(outcome.status == .exited(0))
        #expect(
            outcome.output
                == """
                argv     printf '[%s]' 'a b' 20 all x y
                cwd      /tmp   env HOME LANG MCP_SUPERVISOR MCP_TOOL PATH   timeout 30 s   \
                output 256 KiB → stopped
                sandbox  none
                limits   cpu 10 s · open files 64     (nothing was run)

                """.replacing("[%s]", with: "[%s]"))
    }

    /// At a terminal, a command writes no escape sequence of its own; a pipe gets its bytes.
    @Test func whatACommandWritesAtATerminal() {
        let result = CallToolResult.text("a\u{1B}[2J\u{9B}\u{202E}\tb\nc\n")
        #expect(
            ToolCommand.texts(of: result, isTerminal: true) == ["a\\e[2J\\u{9b}\\u{202e}\tb\nc"])
        #expect(
            ToolCommand.texts(of: result, isTerminal: false) == ["a\u{1B}[2J\u{9B}\u{202E}\tb\nc"])
    }

    /// What `explain` shows can be pasted into a shell.
    @Test(arguments: [
        ("plain-1", "plain-1"), ("", "''"), ("a b", "'a b'"),
        (#"echo "$1"; echo $HOME"#, #"'echo "$1"; echo $HOME'"#),
        (#"it's "x" $(id)"#, #"'it'\''s "x" $(id)'"#), ("ä", "'ä'"), ("a\n'\u{1B}\\", #"$'a\n\'\x1b\\'"#),
    ])
    func wordsAreQuotedForAShell(_ word: String, _ quoted: String) async throws {
        #expect(TerminalText.word(word) == quoted)
        let launch = ProcessLaunch(
            "bash", ["-c", "printf %s \(TerminalText.word(word))"], environment: WatchedProgram.environment)
        let result = try await Offload.run { try ProcessRunner.run(launch) }
        #expect(String(decoding: result.output, as: UTF8.self) == word)
    }

    /// What `check` warns of about the tool, `explain` says as well.
    @Test func explainWarns() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("data")
        try directory.write("data/a", "x")
        try directory.write(
            "mcp.jsonc",
            """
            { "tools": {
                "show": { "exec": ["cat", "--", "{file}"], "sandbox": { "fs": {}, "onUnsupported": "warn" },
                  "input": { "file": { "type": "string", "format": "path", "x-root": "data" } } },
                "showAll": { "exec": ["true"], "input": { "unused": { "type": "string" } } } } }
            """)
        let launch = ProcessLaunch(
            try WatchedProgram.path(), ["explain", "-c", "mcp.jsonc", "show", "file=a"],
            environment: WatchedProgram.environment, directory: directory.path)
        let result = try await Offload.run { try ProcessRunner.run(launch) }
        let output = String(decoding: result.output, as: UTF8.self)
        #expect(result.status == .exited(0))
        #expect(
            output.contains("\nwarning  tools.show: its sandbox does not let the command read "), "\(output)")
        #expect(!output.contains("unused"))
    }

    @Test func callRunsOnce() async throws {
        let outcome = try await run("call", "list", "path=a b", "limit:=3", #"{"names": ["x"]}"#)
        #expect(outcome.status == .exited(0))
        #expect(outcome.output == "[a b][3][x]\n")
        #expect(outcome.errors.isEmpty)
        #expect(try await run("call", "ask").output == "ran\n")
    }

    @Test(arguments: [
        (["explain"], "explain needs a tool"),
        (["call", "lst"], "did you mean list?"),
        (["call", "list", "pth=x"], "no argument named \"pth\"; did you mean path?"),
        (["call", "list", "path=x", "limit=many"], "limit: \"many\" is not an integer"),
        (["call", "list", "path=x", "path=y"], "path is given twice but accepts one value"),
        (["call", "list", "x"], "\"x\" has no name: write NAME=value"),
        (["call", "list", "{"], "the {…} argument is not a JSON object"),
        (["call", "list", "--path"], "--path needs a value"),
        (["call", "list", "path=@file"], "reads files only in mcp-client"),
        (["call", "ask", "x=1"], "hint: ask has no arguments"),
    ]) func wrongWords(_ words: [String], _ text: String) async throws {
        let outcome =
            words.count == 1
            ? try await run(words[0])
            : words.count == 2
                ? try await run(words[0], words[1])
                : words.count == 3
                    ? try await run(words[0], words[1], words[2])
                    : try await run(words[0], words[1], words[2], words[3])
        #expect(outcome.status == .exited(2))
        #expect(outcome.errors.contains(text), "\(outcome.errors)")
    }

    @Test func wrongArgumentsHaveExitCode2() async throws {
        for command in ["explain", "call"] {
            let refused = try await run(command, "list", "path=-x")
            #expect(refused.status == .exited(2) && refused.output.isEmpty)
            #expect(refused.errors.contains("must not produce an element that begins with \"-\""))
            #expect(refused.errors.hasSuffix(" (nothing was run)\n"))
            let missing = try await run(command, "list")
            #expect(missing.status == .exited(2) && missing.errors.contains("required member \"path\""))
        }
    }

    @Test func aCallThatFailsHasExitCode1() async throws {
        let gone = try await run("call", "gone")
        #expect(gone.status == .exited(1))
        #expect(
            gone.errors == "the program /nonexistent/program cannot be executed: No such file or directory\n")
    }

    #if os(Linux)
    @Test func theSystemEnforcesLimits() async throws {
        let outcome = try await run("call", "limits")
        #expect(outcome.status == .exited(1))
        #expect(outcome.errors == "exit status 4\n7\n64\n2048\n1048576\n")
        let spin = try await run("call", "spin")
        #expect(spin.errors == "killed by signal 24 (SIGXCPU: its processor time is used up)\n")
    }
    #endif

    @Test func theCommandKnowsItsTrace() async throws {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let server = try ConfiguredServer(#"{"tools": {"env": {"exec": ["env"]}}}"#, in: "/")
        for (sent, isPassed) in [(trace, true), ("00-x", false)] {
            let message: JSONValue = [
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": [
                    "name": "env",
                    "_meta": [
                        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientCapabilities": [:], "traceparent": .string(sent),
                    ],
                ],
            ]
            let reply = try #require(await server.server.handle(Array(message.serialized().utf8)))
            let text = try JSONValue(parsing: reply)["result"]?["content"]?[0]?["text"]?.stringValue ?? ""
            #expect(text.contains("TRACEPARENT=\(trace)\n") == isPassed)
            #expect(!text.contains("MCP_CALLER"))
        }
    }
}
