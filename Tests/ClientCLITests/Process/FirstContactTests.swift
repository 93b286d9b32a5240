import Foundation
import MCPCore
import TestSupport
import Testing

/// What people read when something is not as they thought, with the built program.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FirstContactTests {
    private let folder = TemporaryDirectory()

    private func run(_ words: [String]) async throws -> ProgramOutcome {
        try await ProgramRunner.run(ProgramRunner.client, words, environment: ["HOME": folder.path])
    }

    private func lines(_ outcome: ProgramOutcome) -> [String] {
        outcome.stderr.split(separator: "\n").map(String.init)
    }

    // MARK: D8: what the program wrote

    /// The line that says why comes before marks, boxes and advice.
    @Test func theReasonIsChosenFromWhatAProgramWrote() async throws {
        let script = """
            printf '%s\\n' 'Traceback:' "error: unexpected argument '--token' found" '' '  ^^^^^^^' '+-----+' \
            '' "For more information, try '--help'." >&2; exit 2
            """
        let outcome = try await run(["tools", "--", "/bin/sh", "-c", script])
        let shown = lines(outcome).filter { $0.hasPrefix("  stderr: ") }
        #expect(outcome.code == 3 && shown.count <= 4, "\(outcome.stderr)")
        #expect(shown.contains("  stderr: error: unexpected argument '--token' found"), "\(outcome.stderr)")
        #expect(!outcome.stderr.contains("^^^") && !outcome.stderr.contains("+--"), "\(outcome.stderr)")
        #expect(!shown.contains("  stderr: "), "no empty line")
    }

    // MARK: D12: words in the wrong place

    @Test(arguments: [
        (
            ["call", "add", "a=1", "localhost:28811"],
            "TARGET comes first: mcp-client call localhost:28811 add a=1"
        ),
        (
            ["tools", "mcp-server", "--demo"],
            "if mcp-server is a program: mcp-client tools -- mcp-server --demo"
        ),
        (["tools", "./server"], "a program comes last, after --:  mcp-client … -- ./server"),
        (["add", "localhost:1"], "mcp-client --help lists the commands"),
        (["tools", "192.0.2.1:80"], "write the address in full: http://192.0.2.1:80/mcp"),
    ])
    func theHintIsACommandLineThatWorks(words: [String], hint: String) async throws {
        let outcome = try await run(words)
        #expect(outcome.code == 2 && lines(outcome).last == "hint: " + hint, "\(outcome.stderr)")
    }

    /// HOST:PORT/PATH is an address.
    @Test func aPathBehindAPort() async throws {
        let peer = try HTTPPeer { heard in
            heard.rpcMethod == "server/discover"
                ? .result(heard, Script.discovered)
                : .result(heard, #"{"resultType":"complete","tools":[]}"#)
        }
        defer { peer.stop() }
        #expect(try await run(["tools", peer.endpoint + "/other/path"]).code == 0)
        #expect(peer.heard.allSatisfy { $0.head.hasPrefix("POST /other/path HTTP/1.1\r\n") })
    }

    // MARK: D18: what a status means

    @Test func aServerThatLimitsRequests() async throws {
        let peer = try HTTPPeer { _ in .status(429, headers: "Retry-After: 7\r\n") }
        defer { peer.stop() }
        let outcome = try await run(["tools", "http://\(peer.endpoint)/mcp"])
        #expect(
            outcome.code == 5
                && lines(outcome).last
                    == "hint: the server limits the requests of this client; try again in 7 s",
            "\(outcome.stderr)")
    }

    @Test func aHostThatDoesNotExist() async throws {
        let outcome = try await run(["tools", "http://no-such-host.invalid/mcp"])
        #expect(outcome.code == 3 && lines(outcome).first?.contains("no-such-host.invalid") == true)
        #expect(lines(outcome).last == "hint: is the name of the host right?", "\(outcome.stderr)")
    }

    // MARK: D20: schemas that cannot be used

    @Test(arguments: ["#/$defs/none", "https://example.com/schema.json"])
    func aSchemaThatCannotBeUsedSaysWhy(reference: String) async throws {
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"sent"}]}'"#,
            tools:
                #"{"name":"t","inputSchema":{"type":"object","properties":{"a":{"$ref":"\#(reference)"}}}}"#)
        let outcome = try await run(["call", "t", "a:=1", "--"] + server)
        #expect(outcome.code == 0 && outcome.stdout == "sent\n", "\(outcome.stderr)")
        #expect(
            lines(outcome).first?.hasPrefix(
                "note: the arguments are not checked, because the schema of t cannot be used: ") == true)
        #expect(outcome.stderr.contains(reference), "\(outcome.stderr)")
    }

    // MARK: Wording

    @Test(arguments: [
        (["call"], "missing TARGET"), (["read", "localhost:1"], "missing URI"),
        (["version", "x"], #"unexpected argument "x""#),
        (["bench", "-n", "0", "localhost:1", "t"], #"-n must be a number from 1 to 10000000, not "0""#),
        (["--log-level", "loud", "tools", "localhost:1"], #"unknown log level "loud""#),
        (["provide", "--tool", "greet", "nonsense"], #""nonsense" is not the address of a daemon"#),
        (["--raw", "--select", ".a", "call", "localhost:1", "t"], "--raw and --select cannot be combined"),
        (["-H", "foo", "tools", "localhost:1"], #"-H needs "Name: value", not "foo""#),
        (["--bearer-env", "NOPE", "tools", "localhost:1"], "the environment variable NOPE is not set"),
        (
            ["-C", "/nodir", "tools", "--", "true"],
            "cannot use /nodir as the working directory: No such file or directory"
        ),
        (["tools", "127.0.0.1:99999"], "port 99999 is outside 1…65535"),
        (["tools", "http://u:p@localhost/"], "a URL with a user name or a password is not supported"),
        (["tools", "--", "cat"], "the program echoes requests; it is not an MCP server"),
    ])
    func mistakesAreNamedPlainly(words: [String], message: String) async throws {
        let outcome = try await run(words)
        #expect(lines(outcome).first == "error: " + message, "\(outcome.stderr)")
        #expect(outcome.stdout.isEmpty && (2 ... 5).contains(outcome.code))
    }

    /// What to write instead is in the lines below.
    @Test(arguments: [
        (["config"], "ACTION is one of: list, get, check, add"),
        (["completion"], "SHELL is one of: bash, zsh, fish"),
        (["config", "add"], "mcp-client config add NAME URL, or NAME -- PROGRAM ARGS"),
        (["tools", "."], "mcp-client config add NAME URL adds one"),
    ])
    func whatIsMissingIsNamed(words: [String], advice: String) async throws {
        let outcome = try await ProgramRunner.run(
            ProgramRunner.client, words, environment: ["HOME": folder.path], directory: folder.path)
        #expect(outcome.code == 2)
        #expect(outcome.stderr.contains(advice), "\(outcome.stderr)")
    }

    /// Neither the names nor the descriptions had it: both ways on are named.
    @Test func noToolOfThatName() async throws {
        let demo = ["--", ProgramRunner.server, "--demo", "--stdio"]
        let outcome = try await run(["tools", "Add"] + demo)
        #expect(outcome.code == 0 && outcome.stdout.isEmpty)
        #expect(lines(outcome).contains("did you mean add?"), "\(outcome.stderr)")
        let other = try await run(["tools", "numbers"] + demo)
        #expect(
            lines(other).last?.hasPrefix("mcp-client tools --search numbers -- ") == true
                && !other.stderr.contains("did you mean"), "\(other.stderr)")
        #expect(try await run(["tools", "--search", "numbers"] + demo).stdout.hasPrefix("add("))
    }
}
