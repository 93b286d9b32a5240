import MCPCore
import Synchronization
import TestSupport
import Testing

/// `shell` without a terminal: lines from stdin, over one connection.
struct ShellCommandTests {
    private func shell(_ lines: String..., flags: [String] = []) async throws -> CommandOutcome {
        var harness = CommandHarness(server: try OpsServer.make())
        harness.stdin = lines.joined(separator: "\n") + "\n"
        return await harness.run(["shell"] + flags + ["localhost:1"])
    }

    @Test func linesAreCommandsOverOneConnection() async throws {
        let outcome = try await shell(
            "# a comment", "", "tools --names 'g*'", "call git_log repo=web",
            "--json call x_echo 'a=b c'", "exit", "ping")
        #expect(outcome.code == .ok)
        #expect(outcome.connections == 1)
        #expect(
            outcome.stdout.hasPrefix("git_log\na1b2c3d Fix drain on SIGTERM\n9f8e7d6 Add openat2 fallback\n{")
        )
        #expect(outcome.stdout.contains(#""a":"b c""#))
    }

    @Test func aFailureIsReportedAndTheShellGoesOn() async throws {
        let outcome = try await shell(
            "call git_log repo=nope", "call git_log nope=1", "tolls", "call x_rpc_error")
        #expect(outcome.code == .protocolError)
        #expect(outcome.stderr.contains("git_log failed: repository \"nope\" is not under workspace\n"))
        #expect(outcome.stderr.contains("the arguments do not match the schema of git_log"))
        #expect(outcome.stderr.contains("usage: call git_log repo=<path>"))
        #expect(outcome.stderr.contains("\"tolls\" is not a command of the shell\n  did you mean tools?"))
        #expect(outcome.connections == 1)
    }

    /// The event stream of 2024-11-05 is the connection: the shell cannot open another one.
    @Test func aStreamThatEnds() async throws {
        let stream = Mutex<(peer: HTTPPeer?, connection: Int)>((nil, 0))
        let peer = try HTTPPeer { heard in
            if heard.method == "GET" {
                stream.withLock { $0.connection = heard.connection }
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                return .raw(head, "event: endpoint\r\ndata: /m\r\n\r\n", then: .hang)
            }
            guard heard.head.hasPrefix("POST /m ") else { return .status(404) }
            let (peer, connection) = stream.withLock { $0 }
            if heard.rpcMethod == "initialize" {
                let result = Script.initialized("2024-11-05", capabilities: #"{"tools":{}}"#)
                peer?.say(
                    "event: message\r\ndata: "
                        + #"{"jsonrpc":"2.0","id":\#(heard.id),"result":\#(result)}"# + "\r\n\r\n",
                    on: connection)
            } else if heard.rpcMethod == "tools/list" {
                peer?.end(connection)
            }
            return .status(202)
        }
        defer { peer.stop() }
        stream.withLock { $0.peer = peer }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        harness.stdin = "tools\ntools\n"
        let outcome = await harness.run("shell", "http://\(peer.endpoint)/sse")
        #expect(outcome.code == .unreachable)
        let hints = outcome.stderr.split(separator: "\n").filter { $0.hasPrefix("hint: ") }
        #expect(
            hints == ["hint: leave the shell with exit, and start it again"].flatMap { [$0, $0] },
            "\(outcome.stderr)")
    }

    @Test(arguments: [
        ("exit 5", "exit takes no argument\nhint: the status is that of the last command\n"),
        ("tools -- ./server", "a shell has one server"), ("shell", "\"shell\" is not a command of the shell"),
        ("login", "\"login\" is not a command of the shell"),
        ("--deadline 1s tools", "--deadline does not apply to tools in the shell"),
        ("--log-level error tools", "--log-level does not apply to tools in the shell"),
        ("tools -v", "-v does not apply to tools in the shell"),
        ("tools -vv", "-vv does not apply to tools in the shell"),
        ("--answer a=b call x_echo", "--answer does not apply to call in the shell"),
        ("call x_echo a=\"b", "a quotation mark is not closed, so nothing was done"),
        ("\"tools", "a quotation mark is not closed"),
        ("call x_echo a=@-", "stdin has the lines of the shell"),
        (
            "tap",
            "\"tap\" is not a command of the shell\nhint: leave the shell with exit, and run mcp-client tap"
        ),
    ])
    func whatMeansNothingInAShellIsRefused(line: String, message: String) async throws {
        let outcome = try await shell(line)
        #expect(outcome.code == .usage)
        #expect(outcome.stderr.contains(message), "\(outcome.stderr)")
    }

    /// What a hint names can be typed where it is read.
    @Test(arguments: [
        ("info ops", "the shell is connected to its server; leave TARGET out\nhint: usage: info [FLAGS]\n"),
        (
            "tools localhost:1",
            "the shell is connected to its server; leave TARGET out\nhint: usage: tools [FLAGS] [GLOB]\n"
        ),
        ("tool", "missing NAME\nhint: usage: tool [FLAGS] NAME\n"),
        ("tools --frob", "\"--frob\" is not a flag\nhint: help tools lists the flags\n"),
        ("tools --deadline 1s", "hint: help tools lists its flags\n"),
        ("call git_logg repo=web", "hint: tools lists them\n"),
        ("tools --search zzz", "tools --search WORDS searches descriptions too"),
        ("raw no/such", "hint: info shows what the server offers\n"),
        ("verify", "hint: lock writes it\n"),
    ])
    func hintsAreLinesOfTheShell(line: String, hint: String) async throws {
        let outcome = try await shell(line)
        #expect(outcome.stderr.contains(hint), "\(outcome.stderr)")
        #expect(!outcome.stderr.contains("mcp-client"), "\(outcome.stderr)")
    }

    /// The answers are flags of the shell, and not of its commands.
    @Test func anAnswerThatIsMissing() async throws {
        var harness = CommandHarness(server: try AskingServer.make())
        harness.stdin = "call book\ncall leave\n"
        let outcome = await harness.run("shell", "localhost:1")
        #expect(outcome.code == .inputRequired)
        let hints = outcome.stderr.split(separator: "\n").filter { $0.hasPrefix("hint: ") }
        #expect(
            hints == [
                "hint: in the command line of the shell: --answer name=… --answer people=…",
                "hint: in the command line of the shell: --answers FILE with {} in FILE accepts; "
                    + "nothing declines without a terminal",
            ], "\(outcome.stderr)")
        harness.stdin = "call book\n"
        let answered = await harness.run(
            "shell", "--answer", "name=Ada", "--answer", "people=3", "localhost:1")
        #expect(answered.code == .ok && answered.stdout.hasPrefix("accept "), "\(answered.stderr)")
    }

    @Test func aFlagExplainsACommandToo() async throws {
        let outcome = try await shell("watch --help")
        #expect(outcome.code == .ok)
        #expect(outcome.stdout.hasPrefix("watch: print a line"), "\(outcome.stdout)")
        #expect(outcome.stdout.contains("usage: watch [FLAGS] [URI…]\n"))
        #expect(!outcome.stdout.contains("TARGET") && !outcome.stdout.contains("--bearer-env"))
    }

    /// A line has one command: what separates commands elsewhere is text.
    @Test func separatorsAreText() async throws {
        let outcome = try await shell("--json call x_echo a=1;2|3&4 b='' c=\"d e\"")
        #expect(outcome.code == .ok)
        #expect(outcome.stdout.contains(#""a":"1;2|3&4""#) && outcome.stdout.contains(#""c":"d e""#))
        #expect(outcome.stdout.contains(#""b":"""#))
    }

    @Test func helpListsTheCommands() async throws {
        let outcome = try await shell("help", "help call")
        #expect(outcome.code == .ok)
        #expect(outcome.stdout.contains("call TOOL [ARGS]  "))
        #expect(outcome.stdout.contains("usage: call [FLAGS] TOOL [ARGS]\n"))
        #expect(!outcome.stdout.contains("mcp-client") && !outcome.stdout.contains("--deadline"))
        #expect(!outcome.stdout.contains("\nlogin "))
    }

    @Test func aQuestionWithoutAnAnswerConcernsItsLineAlone() async throws {
        var harness = CommandHarness(server: try AskingServer.make())
        harness.stdin = "call book\nping\n"
        let outcome = await harness.run("shell", "localhost:1")
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        #expect(outcome.stderr.contains("input required"))
    }

    /// Nothing of a line that cannot be used is run, and the success of later lines does not hide it.
    @Test func aLineThatIsRefused() async throws {
        var harness = CommandHarness(server: try OpsServer.make())
        harness.stdin = "tools --names\nrefuse\ncall git_log repo=web\n"
        harness.refusedLine = "refuse"
        let outcome = await harness.run("shell", "localhost:1")
        #expect(outcome.code == .usage)
        #expect(outcome.stderr.contains("\nerror: a line is refused\n"), "\(outcome.stderr)")
        #expect(outcome.stdout.hasSuffix("9f8e7d6 Add openat2 fallback\n"), "\(outcome.stdout)")
    }
}
