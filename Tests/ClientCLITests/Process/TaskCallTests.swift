import MCPCore
import TestSupport
import Testing

/// Calls that become tasks, of the built `mcp-client` and the built `mcp-server`.
@Suite struct TaskCallTests {
    private let directory = TemporaryDirectory()

    private func run(_ words: [String]) async throws -> ProgramOutcome {
        try directory.write(
            "mcp.jsonc",
            """
            {"tools": {"copy": {
              "exec": ["sh", "-c", "echo half; sleep 0.2; echo done"], "progress": "lines", "task": "required"
            }}}
            """)
        return try await ProgramRunner.run(
            ProgramRunner.client,
            words + ["--", ProgramRunner.server, "-c", "\(directory.path)/mcp.jsonc", "--stdio"])
    }

    @Test func aCallThatMustBeATaskIsFollowedToItsEnd() async throws {
        let outcome = try await run(["call", "copy"])
        #expect(outcome.code == 0, "\(outcome.stderr)")
        #expect(outcome.stdout == "half\ndone\n")
    }

    @Test func itsStatesAreEvents() async throws {
        let outcome = try await run(["--jsonl", "call", "copy"])
        #expect(outcome.code == 0, "\(outcome.stderr)")
        let events = try outcome.stdout.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        let states = events.compactMap { $0["task"]?["status"]?.stringValue ?? $0["status"]?.stringValue }
        #expect(states.first == "working" && states.last == "completed", "\(outcome.stdout)")
    }

    private func task(_ status: String, _ members: String = "") -> String {
        #"{"resultType":"task","taskId":"k","status":"\#(status)","ttlMs":null,"createdAt":"2026-08-01T10:00:00Z","#
            + #""lastUpdatedAt":"2026-08-01T10:00:00Z","pollIntervalMs":50\#(members)}"#
    }

    /// A task that the server cancels is no interrupt, and its reason is shown.
    @Test func theServerCancelsIt() async throws {
        let server =
            ["--"]
            + ShellServer.words(call: "answer '\(task("cancelled", #","statusMessage":"operator""#))'")
        let call = try await ProgramRunner.run(ProgramRunner.client, ["--json", "call", "t"] + server)
        #expect(call.code == 5, "\(call.stderr)")
        #expect(call.stderr.hasPrefix("error: the task was cancelled by the server: operator\n"))
        #expect(call.stderr.contains("the call may have been executed"))
        #expect(call.stderr.contains(#""kind":"task_cancelled","code":5"#))
        let bench = try await ProgramRunner.run(ProgramRunner.client, ["bench", "t"] + server)
        #expect(bench.code == 5, "\(bench.stderr)")
        #expect(
            bench.stderr.hasPrefix("error: t failed: the task was cancelled by the server: operator\n"),
            "\(bench.stderr)")
    }

    /// A task that the server does not report any more is as unusable as one with a malformed result.
    @Test func theServerForgetsIt() async throws {
        let server = ShellServer.words(
            call: "answer '\(task("working"))' ;;\n*'\"tasks/get\"'*) refuse -32602 'unknown task'")
        let call = try await ProgramRunner.run(ProgramRunner.client, ["call", "t", "--"] + server)
        #expect(call.code == 5, "\(call.stderr)")
        #expect(
            call.stderr.hasPrefix(
                "error: the call became a task whose result is unknown: the server refused to report it: "
                    + "unknown task (-32602)\n  the call may have been executed"), "\(call.stderr)")
    }

    /// `raw` prints the task, and leaves it to the caller to ask for its result.
    @Test func rawDoesNotFollowIt() async throws {
        let outcome = try await run(["raw", "tools/call", #"{"name":"copy","arguments":{}}"#])
        #expect(outcome.code == 0, "\(outcome.stderr)")
        let result = try JSONValue(parsing: outcome.stdout)
        #expect(result["resultType"] == "task" && result["status"] == "working", "\(outcome.stdout)")
    }
}
