import MCPCore
import TestSupport
import Testing

/// Files that the command line names and that do not exist: the error names the file, and the hint what to do.
@Suite(.serialized) struct MissingFileTests {
    private static let demo = ["--", ProgramRunner.server, "--demo", "--stdio"]
    private static let recording = "mcp-client tap -o FILE TARGET makes a recording"
    private static let secret = "name a file that contains the secret alone, and that you can read"

    private static let samples: [(words: [String], file: String, hint: String)] = [
        (["call", "echo", "text=@gone"] + demo, "gone", #"the text itself is 'text:="@gone"'"#),
        (["call", "echo", "text:=@gone"] + demo, "gone", "JSON itself follows :=, as in text:=[1,2]"),
        (["raw", "tools/list", "@gone"] + demo, "gone", "@- reads them from stdin"),
        (["prompt", "summarize", "text=@gone"] + demo, "gone", "the text itself is "),
        (["--answers", "gone", "call", "now"] + demo, "gone", #"a JSON object: {"field": "value"}"#),
        (["test", "gone"], "gone", "is a file of tests"),
        (["test", "."], ".", "is a file of tests"),
        (["replay", "gone.jsonl", "localhost:1"], "gone.jsonl", recording),
        (["mock", "gone"], "gone", recording),
        (["tools", "gone.jsonl"], "gone.jsonl", recording),
        (["diff", "gone.jsonl", "localhost:1"], "gone.jsonl", recording),
        (["diff", "gone.lock", "localhost:1"], "gone.lock", "lock --lock-file gone.lock TARGET writes it"),
        (["--locked", "tools"] + demo, "mcp.lock", "mcp-client lock "),
        (["tools", "server.json"], "server.json", "a document of the registry"),
        (["host", "--config", "gone"], "gone", #"{"mcpServers": "#),
        (["--config", "gone", "tools", "x"], "--config", "MCP_CONFIG=gone mcp-client tools NAME"),
        (["-c", "gone.json", "tools", "x"], "gone.json", "MCP_CONFIG=gone.json mcp-client COMMAND NAME"),
        (["--model", "script:gone", "agent", "x"] + demo, "gone", "script:FILE has one answer per line"),
        (
            ["--system", "@gone", "--model-command", "cat", "agent", "x"] + demo, "gone",
            "without it, --system is the text itself"
        ),
        (["--cacert", "gone", "tools", "https://localhost:1/"], "gone", "certificates (PEM)"),
        (["--bearer-file", "gone", "tools", "localhost:1"], "gone", secret),
        (["--client-key", "gone", "--client-id", "c", "login", "localhost:1"], "gone", secret),
        (["provide", "--token-file", "gone", "--tool", "greet", "localhost:1"], "gone", secret),
        (["-o", "gone/x", "tools"] + demo, "gone/x", "mkdir -p gone makes its directory"),
        (["-o", "/", "tools"] + demo, "/", "name a file in that directory"),
    ]

    @Test(arguments: samples)
    func theErrorNamesTheFileAndWhatToDo(words: [String], file: String, hint: String) async throws {
        let folder = TemporaryDirectory()
        let outcome = try await ProgramRunner.run(
            "/bin/sh", ["-c", "cd \"$0\" && exec \"$@\"", folder.path, ProgramRunner.client] + words,
            environment: ["HOME": folder.path])
        #expect([2, 8].contains(outcome.code) && outcome.stdout.isEmpty, "\(outcome.stderr)")
        let lines = outcome.stderr.split(separator: "\n")
        #expect(lines.first?.hasPrefix("error: ") == true && lines.first?.contains(file) == true, "\(lines)")
        #expect(lines.last?.hasPrefix("hint: ") == true && lines.last?.contains(hint) == true, "\(lines)")
    }

    /// The variable that names the file of servers, and the files that a configuration includes.
    @Test func filesOfAConfiguration() async throws {
        let folder = TemporaryDirectory()
        func run(_ config: String, _ name: String) async throws -> ProgramOutcome {
            try await ProgramRunner.run(
                ProgramRunner.client, ["tools", name],
                environment: ["HOME": folder.path, "MCP_CONFIG": folder.path + "/" + config])
        }
        let gone = try await run("gone.json", "x")
        #expect(gone.code == 2 && gone.stderr.contains("names ~/gone.json, which does not exist"))
        #expect(gone.stderr.hasSuffix("hint: correct MCP_CONFIG, or unset it\n"))
        try folder.write(
            "c.json",
            #"{"mcpServers": {"a": {"command": "true", "envFile": "gone.env"}, "#
                + #""b": {"command": "true", "env": {"T": "${file:gone.txt}"}}, "#
                + #""c": {"command": "true", "env": {"T": "${file:/dev/zero}"}}}}"#)
        for (name, says) in [
            ("a", "gone.env: No such file"), ("b", "gone.txt: No such file"),
            ("c", "/dev/zero is not a regular file"),
        ] {
            let outcome = try await run("c.json", name)
            #expect(outcome.code == 2 && outcome.stderr.contains(says), "\(outcome.stderr)")
            #expect(outcome.stderr.contains("c.json:1:"), "\(outcome.stderr)")
        }
    }
}
