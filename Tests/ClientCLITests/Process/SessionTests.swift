import Foundation
import MCPCore
import TestSupport
import Testing

/// The sessions of the design, as they are seen in a pipe and at a terminal.
struct SessionTests {
    private func run(_ words: String..., columns: String? = nil, stdin: String? = nil) async throws
        -> CommandOutcome
    {
        let folder = TemporaryDirectory()
        try folder.write("c.json", #"{"mcpServers": {"ops": {"url": "http://localhost:1/mcp"}}}"#)
        var harness = CommandHarness(server: try OpsServer.make())
        harness.variables = ["MCP_CONFIG": folder.path + "/c.json", "NO_COLOR": "1"]
        harness.isTerminal = columns != nil
        harness.variables["COLUMNS"] = columns
        harness.stdin = stdin
        return await harness.run(words)
    }

    @Test(arguments: [nil, "120"]) func list(columns: String?) async throws {
        let outcome = try await run("tools", "ops", "[gu]*", columns: columns)
        #expect(outcome.code == .ok)
        #expect(
            outcome.stdout == """
                git_log(repo: path, limit: int 1…200 = 20, author?: string, paths?: [string])   read-only
                    Commits of a repository, newest first.
                unit_restart(unit: "web"|"worker"|"cron")                                       destructive
                    Restart one of our services.

                """)
        let footer = withoutTime(outcome.stderr)
        #expect(footer.hasPrefix("2 of 8 tools · ") && footer.hasSuffix("ops 1.4.0 · 2026-07-28 · TIME\n"))
    }

    @Test(arguments: [nil, "80"]) func call(columns: String?) async throws {
        let outcome = try await run("call", "ops", "git_log", "repo=web", "limit=2", columns: columns)
        #expect(outcome.code == .ok && outcome.stderr.isEmpty)
        #expect(outcome.stdout == "a1b2c3d Fix drain on SIGTERM\n9f8e7d6 Add openat2 fallback\n")
    }

    @Test(arguments: [nil, "80"]) func wrongArguments(columns: String?) async throws {
        let outcome = try await run("call", "ops", "unit_restart", "unit=wrker", "now=1", columns: columns)
        #expect(outcome.code == .usage && outcome.stdout.isEmpty)
        #expect(
            outcome.stderr == """
                error: the arguments do not match the schema of unit_restart (nothing was sent)
                  unit  "wrker" is not one of "web", "worker", "cron"        did you mean "worker"?
                  now   no such argument
                usage: mcp-client call ops unit_restart unit=<web|worker|cron>

                """)
    }

    @Test(arguments: [nil, "80"]) func toolError(columns: String?) async throws {
        let outcome = try await run("call", "ops", "git_log", "repo=nope", columns: columns)
        #expect(outcome.code == .toolError && outcome.stdout.isEmpty)
        #expect(outcome.stderr == "git_log failed: repository \"nope\" is not under workspace\n")
    }

    /// A server that requires a login: what it requires, and the command that gets it.
    @Test(arguments: [nil, "80"]) func unauthorised(columns: String?) async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.challengeScope = "tools:read"
        var setting = try LoginSetting(knobs)
        setting.harness.connectsToTargets = true
        setting.harness.isTerminal = columns != nil
        setting.harness.variables["NO_COLOR"] = "1"
        setting.harness.variables["COLUMNS"] = columns
        let outcome = await setting.run("tools", setting.server.url)
        #expect(outcome.code == .authentication && outcome.stdout.isEmpty)
        #expect(
            setting.plain(outcome.stderr) == """
                error: ORIGIN/mcp requires an access token (HTTP 401)
                  authorization server: ORIGIN · scopes: tools:read
                hint: mcp-client login ORIGIN/mcp

                """, "\(setting.plain(outcome.stderr))")
        await setting.end()
    }

    /// A text whose numbers are replaced by N.
    private func withoutNumbers(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let unit = word.hasSuffix("/s") ? "/s" : ""
            return word.first?.isNumber == true && word.allSatisfy { $0.isNumber || ".,/s".contains($0) }
                ? "N" + unit : String(word)
        }.joined(separator: " ")
    }

    @Test(arguments: [nil, "80"]) func benchOnOneLine(columns: String?) async throws {
        let outcome = try await run(
            "bench", "-n", "20", "-c", "4", "ops", "git_log", "repo=web", columns: columns)
        let lines = outcome.stdout.split(separator: "\n").map { withoutNumbers(String($0)) }
        #expect(outcome.code == .ok)
        #expect(lines == ["N ok N errors · N/s · p50 N p90 N p99 N max N ms"], "\(outcome.stdout)")
        #expect(outcome.stdout.hasPrefix("20 ok 0 errors · "))
    }

    /// What a script reads is the same at a terminal.
    @Test(arguments: [nil, "80"]) func scripting(columns: String?) async throws {
        let json = try await run("--json", "call", "ops", "x_echo", "a:=[1,2]", columns: columns)
        #expect(
            json.stdout == #"{"resultType":"complete","content":[{"type":"text","text":"{\"a\":[1,2]}"}],"#
                + #""structuredContent":{"a":[1,2]},"_meta":{"io.modelcontextprotocol/serverInfo":"#
                + #"{"name":"ops","version":"1.4.0","title":"Operations"}}}"# + "\n", "\(json.stdout)")
        let piped = try await run(
            "--structured", "call", "ops", "x_echo", columns: columns,
            stdin: #"{"repo":"web","paths":["a b.txt"]}"#)
        #expect(piped.stdout == #"{"repo":"web","paths":["a b.txt"]}"# + "\n")
        let timings = try await run("--timings", "call", "ops", "git_log", "repo=web", columns: columns)
        #expect(
            withoutNumbers(timings.stderr)
                == "connect N · tools/list N · tools/call N · total N ms · N requests\n", "\(timings.stderr)")
        #expect(timings.stderr.hasSuffix(" ms · 3 requests\n"))
    }

    @Test(arguments: [nil, "80"]) func aQuestionInAScript(columns: String?) async throws {
        var harness = CommandHarness(server: try AskingServer.make())
        harness.isTerminal = columns != nil
        harness.variables = ["NO_COLOR": "1"]
        harness.variables["COLUMNS"] = columns
        let outcome = await harness.run("--no-input", "call", "localhost:1", "leave")
        #expect(outcome.code == .inputRequired && outcome.stdout.isEmpty)
        #expect(
            outcome.stderr
                == "input required: leave asks \"Leave without paying?\" (yes or no)\n"
                + "hint: --answers FILE with {} in FILE accepts; nothing declines without a terminal\n",
            "\(outcome.stderr)")
    }

    /// One line for each change, with how the program that it started has ended.
    @Test(arguments: [nil, "80"]) func watchRunsAProgram(columns: String?) async throws {
        let uri = "docs:///runbook.md"
        let server = MCPServer("docs", version: "1")
        try server.register(Resource(uri, name: "runbook")) { _ in [.text("x", uri: uri)] }
        var harness = CommandHarness(server: server)
        harness.isTerminal = columns != nil
        harness.variables = ["NO_COLOR": "1", "PATH": "/usr/bin:/bin"]
        harness.variables["COLUMNS"] = columns
        let changes = Task {
            while !Task.isCancelled {
                server.notifyResourceUpdated(uri)
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        let outcome = await harness.run(
            "--count", "1", "watch", "localhost:1", uri, "--exec", "/bin/sh -c exit {uri}")
        changes.cancel()
        #expect(
            outcome.code == .ok && outcome.stderr == "watching docs 1 · 2026-07-28\n", "\(outcome.stderr)")
        let parts = outcome.stdout.split(separator: " in ")
        #expect(parts.count == 2 && parts[0].dropFirst(8) == " updated \(uri)  → /bin/sh exited 0")
        #expect(parts.last?.hasSuffix(" ms\n") == true || parts.last?.hasSuffix(" s\n") == true)
    }
}

/// A whole session at a terminal, with the built programs.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TerminalSessionTests {
    private let demo = ["--", ProgramRunner.server, "--demo", "--stdio"]

    /// A program that is no server: its own words, what it was sent, and where to look further.
    @Test func aProgramThatDies() async throws {
        let words = ["tools", "--", "/bin/sh", "-c", "read x; echo unknown option --oops >&2; exit 3"]
        let piped = try await ProgramRunner.run(ProgramRunner.client, words)
        let terminal = try PseudoTerminal(ProgramRunner.client, words, environment: ["NO_COLOR": "1"])
        #expect(try await terminal.end() == 3)
        #expect(piped.code == 3 && piped.stdout.isEmpty)
        let shown = terminal.text.split(separator: "\r\n").map(String.init)
        for lines in [piped.stderr.split(separator: "\n").map(String.init), shown] {
            #expect(lines.count == 4, "\(lines)")
            let first = try #require(lines.first)
            #expect(first.hasPrefix("error: /bin/sh exited with status 3 before answering (after "))
            #expect(
                Array(lines.dropFirst()) == [
                    "  stderr: unknown option --oops",
                    "  sent:   server/discover, then initialize (no reply)",
                    "hint: mcp-client doctor -- /bin/sh -c 'read x; echo unknown option --oops >&2; exit 3' "
                        + "shows each step",
                ])
        }
    }

    @Test func progressIsErasedBeforeTheResult() async throws {
        let terminal = try PseudoTerminal(ProgramRunner.client, ["call", "slow", "seconds=0.5"] + demo)
        #expect(try await terminal.end() == 0)
        let text = terminal.text
        let progress = try #require(text.range(of: "▸ slow"))
        let erased = try #require(text.range(of: "\r\u{1B}[2K", options: .backwards))
        #expect(progress.lowerBound < erased.lowerBound)
        #expect(!text[erased.upperBound...].contains("▸"))
        #expect(text[erased.upperBound...].hasSuffix("\r\n"))
    }

    /// The line of progress fits a narrow terminal, and so never scrolls it.
    @Test func progressFitsANarrowTerminal() async throws {
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["call", "slow", "seconds=0.5"] + demo,
            environment: ["NO_COLOR": "1"], columns: 40)
        #expect(try await terminal.end() == 0)
        let shown = terminal.text.split(separator: "\r\u{1B}[2K").filter { $0.contains("slow ") }
        #expect(!shown.isEmpty, "\(terminal.text.debugDescription)")
        for line in shown { #expect(line.count <= 40 && !line.contains("\r\n"), "\(line)") }
    }

    /// Events of progress take the place of the line, which would mix with them.
    @Test func eventsAreNotMixedWithProgress() async throws {
        let terminal = try PseudoTerminal(
            ProgramRunner.client, ["--jsonl", "call", "slow", "seconds=0.3"] + demo)
        #expect(try await terminal.end() == 0)
        #expect(terminal.text.contains(#"{"event":"progress""#) && !terminal.text.contains("▸"))
    }

    @Test func errorsAreRedUnlessColoursAreOff() async throws {
        for (flags, environment, isRed) in [
            ([], [:], true), (["--color", "never"], [:], false), ([], ["NO_COLOR": "1"], false),
        ] as [([String], [String: String], Bool)] {
            let terminal = try PseudoTerminal(
                ProgramRunner.client, flags + ["tolls"], environment: environment)
            #expect(try await terminal.end() == 2)
            #expect(terminal.text.contains("\u{1B}[31m") == isRed, "\(terminal.text.debugDescription)")
            #expect(terminal.text.contains("did you mean tools?"))
        }
        let forced = try await ProgramRunner.client(
            "tolls", environment: ["NO_COLOR": "", "CLICOLOR_FORCE": "1"])
        #expect(forced.stderr.hasPrefix("\u{1B}[31m"))
    }

    @Test func controlCEndsACommand() async throws {
        let terminal = try PseudoTerminal(ProgramRunner.client, ["call", "slow", "seconds=600"] + demo)
        try await terminal.wait(for: "▸ slow")
        terminal.type("\u{03}")
        #expect(try await terminal.end() == 130)
        #expect(terminal.text.contains("interrupted"))
    }

    /// A project's server is used only after consent, and the question says how to give it without a terminal.
    @Test func aProjectsServerNeedsConsent() async throws {
        let folder = TemporaryDirectory()
        try folder.write(
            ".mcp.json",
            #"{"mcpServers": {"demo": {"command": "\#(ProgramRunner.server)", "args": ["--demo", "--stdio"]}}}"#
        )
        let line = "cd \"$0\" && exec \"$1\" call demo add a=1 b=2"
        let terminal = try PseudoTerminal(
            "/bin/sh", ["-c", line, folder.path, ProgramRunner.client],
            environment: ["HOME": folder.path + "/home"])
        try await terminal.wait(for: "(without a terminal: mcp-client config allow demo)")
        try await terminal.wait(for: "[y/N] ")
        terminal.type("y\r")
        #expect(try await terminal.end() == 0)
        #expect(terminal.text.hasSuffix("{\"sum\":3}\r\n"), "\(terminal.text)")
    }
}
