import MCPCore
import TestSupport
import Testing

/// A session of somebody who has a project with a server, with the real program.
@Suite struct NamedServerTests {
    private let folder = TemporaryDirectory()

    private func client(_ words: String..., variables: [String: String] = [:]) async throws -> ProgramOutcome
    {
        try await ProgramRunner.run(
            "/bin/sh",
            ["-c", "cd \"$0\" && shift 0 && exec \"$@\"", folder.path + "/project", ProgramRunner.client]
                + words,
            environment: ["HOME": folder.path].merging(variables) { $1 })
    }

    @Test func fromTheFirstRefusalToACall() async throws {
        folder.makeDirectory("project")
        try folder.write(
            "project/.mcp.json",
            #"{"mcpServers": {"demo": {"command": "\#(ProgramRunner.server)", "args": ["--demo"]}}}"#)
        let refused = try await client("tools", "demo")
        #expect(refused.code == 2 && refused.stderr.contains("has not been allowed yet"))
        #expect(try await client("config", "allow", "demo").code == 0)
        #expect(
            try await client("--structured", "call", "demo", "add", "a=2", "b=3").stdout == "{\"sum\":5}\n")
        let listed = try await client("config", "list")
        #expect(listed.stdout == ".mcp.json\n  demo  \(ProgramRunner.server) --demo\n")
        let other = try await client(
            "--structured", "call", ".", "add", "a=1", "b=1", variables: ["MCP_TARGET": "demo"])
        #expect(other.stdout == "{\"sum\":2}\n")
        let wrong = try await client("call", "demo", "ad", "a=1")
        #expect(wrong.stderr.hasSuffix("hint: mcp-client tools demo lists them\n"), "\(wrong.stderr)")
    }

    /// A name that looks like a flag stands after `--`, also in hints.
    @Test func aNameThatLooksLikeAFlag() async throws {
        folder.makeDirectory("project")
        try folder.write(
            "project/.mcp.json",
            #"{"mcpServers": {"-o": {"command": "\#(ProgramRunner.server)", "args": ["--demo"]}}}"#)
        let shown = try await client("config", "get", "--", "-o")
        #expect(shown.code == 0, "\(shown.stderr)")
        let outline = "  \(ProgramRunner.server) --demo\n"
        #expect(
            shown.stderr == "not allowed yet (mcp-client config allow -- -o):\n" + outline, "\(shown.stderr)")
        let allowed = try await client("config", "allow", "--", "-o")
        #expect(allowed.code == 0, "\(allowed.stderr)")
        #expect(try await client("config", "get", "--", "-o").stderr.isEmpty)
        let found = try await client("find", "add")
        #expect(found.code == 0 && found.stdout.contains("add"), "\(found.stdout)\(found.stderr)")
        let more = try await client("config", "list", "--", "-o")
        #expect(more.code == 2 && more.stderr.contains("unexpected argument \"-o\""), "\(more.stderr)")
    }

    /// The program gets the variables and the directory of its entry, and those of the command line.
    @Test func whatTheProgramGets() async throws {
        folder.makeDirectory("project")
        folder.makeDirectory(".cursor")
        try folder.write(
            ".cursor/mcp.json",
            #"{"mcpServers": {"p": {"command": "/bin/sh", "args": ["-c", "pwd >&2; echo $A $B >&2; exit 3"], "#
                + #""cwd": "${userHome}", "env": {"A": "${X}", "B": "file"}}}}"#)
        let outcome = try await client("-e", "B=flag", "tools", "p", variables: ["X": "1"])
        #expect(outcome.code == 3)
        #expect(outcome.stderr.contains("stderr: \(folder.path)\n  stderr: 1 flag\n"), "\(outcome.stderr)")
    }

    /// Hosts start a relative command in the directory of its entry.
    @Test func aRelativeCommand() async throws {
        folder.makeDirectory("project")
        folder.makeDirectory(".cursor")
        folder.makeDirectory("there")
        for place in [".cursor", "there"] { folder.link("\(place)/run", to: "/bin/sh") }
        let entry = #""command": "./run", "args": ["-c", "echo $0 >&2; exit 3"]"#
        try folder.write(
            ".cursor/mcp.json",
            #"{"mcpServers": {"a": {\#(entry), "cwd": "../there"}, "b": {\#(entry)}}}"#)
        let inDirectory = try await client("tools", "a")
        #expect(inDirectory.stderr.contains("/there/run\n"), "\(inDirectory.stderr)")
        let beside = try await client("tools", "b")
        #expect(beside.stderr.contains("/.cursor/run\n"), "\(beside.stderr)")
    }
}
