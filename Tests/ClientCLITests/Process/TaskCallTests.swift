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

    /// `raw` prints the task, and leaves it to the caller to ask for its result.
    @Test func rawDoesNotFollowIt() async throws {
        let outcome = try await run(["raw", "tools/call", #"{"name":"copy","arguments":{}}"#])
        #expect(outcome.code == 0, "\(outcome.stderr)")
        let result = try JSONValue(parsing: outcome.stdout)
        #expect(result["resultType"] == "task" && result["status"] == "working", "\(outcome.stdout)")
    }
}
