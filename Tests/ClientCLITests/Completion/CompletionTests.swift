import MCPCore
import TestSupport
import Testing

/// What `mcp-client __complete` proposes, with a server in this process.
struct CompletionTests {
    private func proposals(_ words: String..., harness given: CommandHarness? = nil) async throws -> [String]
    {
        let harness = try given ?? CommandHarness(server: try OpsServer.make())
        let outcome = await harness.run(["__complete", "fish"] + words)
        #expect(outcome.code == .ok)
        #expect(outcome.stderr.isEmpty)
        return outcome.stdout.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
    }

    @Test func commandsAndFlags() async throws {
        #expect(try await proposals("to") == ["tools", "tool"])
        #expect(try await proposals("tools", "--na") == ["--names"])
        #expect(try await proposals("tools", "--structured") == [])
        #expect(try await proposals("--color", "") == ["auto", "always", "never"])
        #expect(try await proposals("--color=al") == ["--color=always"])
        #expect(try await proposals("--protocol", "2026").first == "2026-07-28")
        #expect(try await proposals("completion", "") == ["bash", "zsh", "fish"])
        #expect(try await proposals("config", "al") == ["allow"])
        #expect(try await proposals("nonsense", "") == [])
        #expect(try await proposals("info", "localhost:1", "") == [])
    }

    @Test func toolsAndTheirArguments() async throws {
        #expect(try await proposals("call", "localhost:1", "unit") == ["unit_restart"])
        #expect(try await proposals("tool", "localhost:1", "git") == ["git_log"])
        #expect(
            try await proposals("call", "localhost:1", "git_log", "")
                == ["repo=", "limit=", "author=", "paths="])
        #expect(
            try await proposals("call", "localhost:1", "git_log", "repo=x", "")
                == ["limit=", "author=", "paths="])
        #expect(
            try await proposals("call", "localhost:1", "unit_restart", "unit=w") == [
                "unit=web", "unit=worker",
            ])
        #expect(try await proposals("call", "localhost:1", "unit_restart", "--unit", "c") == ["cron"])
        #expect(try await proposals("call", "localhost:1", "unit_restart", "--") == ["--unit", "--help"])
        #expect(try await proposals("-v", "call", "localhost:1", "-q", "git") == ["git_log"])
    }

    @Test func promptsResourcesAndWhatTheServerProposes() async throws {
        #expect(try await proposals("prompt", "localhost:1", "") == ["review"])
        #expect(try await proposals("prompt", "localhost:1", "review", "") == ["code=", "style="])
        #expect(
            try await proposals("read", "localhost:1", "file:///n") == ["file:///notes.txt"])
        #expect(
            try await proposals("complete", "localhost:1", "") == ["prompt:review", "file:///{name}"])
        #expect(try await proposals("complete", "localhost:1", "prompt:review", "c") == ["code"])
        let server = MCPServer("s", version: "1")
        try server.register(Prompt("greet", arguments: [PromptArgument("language")])) { _, _ in
            GetPromptResult([])
        }
        server.addCompletion(.prompt("greet"), "language", ["swift", "swedish", "c"])
        let harness = CommandHarness(server: server)
        #expect(
            try await proposals("prompt", "localhost:1", "greet", "language=sw", harness: harness)
                == ["language=swift", "language=swedish"])
        #expect(
            try await proposals("complete", "localhost:1", "prompt:greet", "language", "s", harness: harness)
                == ["swift", "swedish"])
    }

    /// What a server calls `--help` would be a flag of this program when it is accepted.
    @Test func namesThatWouldBeFlags() async throws {
        let server = MCPServer("s", version: "1")
        for name in ["--help", "-o", "-rf", "fine"] {
            try server.register(Prompt(name)) { _, _ in GetPromptResult([]) }
        }
        let schema: JSONValue = [
            "type": "object", "properties": ["-o": ["type": "string"], "a": ["type": "string"]],
        ]
        try server.register(Tool("t", inputSchema: schema)) { _, _ in .text("") }
        let harness = CommandHarness(server: server)
        #expect(try await proposals("prompt", "localhost:1", "", harness: harness) == ["fine"])
        #expect(try await proposals("call", "localhost:1", "t", "", harness: harness) == ["a="])
        let flags = try await proposals("prompt", "localhost:1", "-", harness: harness)
        #expect(!flags.contains("-rf") && flags.contains("--json"), "\(flags)")
    }

    /// What a server proposes is proposed only where it is read as that value: never as a file of ours, a flag
    /// or another argument.
    @Test func valuesThatWouldBeReadAsSomethingElse() async throws {
        let server = MCPServer("s", version: "1")
        let odd: [JSONValue] = ["@/etc/passwd", "--json", "-rf", "{\"a\":1}", "fine", "a=b"]
        let schema: JSONValue = [
            "type": "object",
            "properties": [
                "e": ["type": "string", "enum": .array(odd)],
                "b": ["type": "boolean", "enum": ["e=@/etc/passwd", true]],
                "x=@/etc/passwd": ["type": "string"], "{x": ["type": "string"], "y:": ["type": "string"],
                "": ["type": "string"],
            ],
        ]
        try server.register(Tool("t", inputSchema: schema)) { _, _ in .text("") }
        let arguments = [PromptArgument("p"), PromptArgument("--json"), PromptArgument("q=@/etc/passwd")]
        try server.register(Prompt("greet", arguments: arguments)) { _, _ in GetPromptResult([]) }
        server.addCompletion(.prompt("greet"), "p", ["@/etc/passwd", "fine"])
        let harness = CommandHarness(server: server)
        func call(_ words: String...) async -> [String] {
            let outcome = await harness.run(["__complete", "fish", "call", "localhost:1", "t"] + words)
            return outcome.stdout.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
        }
        #expect(await call("") == ["e=", "b="])
        #expect(await call("--") == ["--e", "--b", "--help"])
        #expect(await call("e=") == ["e=--json", "e=-rf", "e={\"a\":1}", "e=fine", "e=a=b"])
        #expect(await call("--e=f") == ["--e=fine"])
        #expect(await call("e:=").prefix(2) == ["e:=\"@/etc/passwd\"", "e:=\"--json\""])
        #expect(await call("--e", "") == ["fine", "a=b"])
        #expect(await call("--b", "") == ["true", "false"])
        #expect(try await proposals("prompt", "localhost:1", "greet", "", harness: harness) == ["p="])
        #expect(
            try await proposals("prompt", "localhost:1", "greet", "p=", harness: harness) == ["p=fine"])
        #expect(
            try await proposals("prompt", "localhost:1", "greet", "p:=", harness: harness)
                == ["p:=\"@/etc/passwd\"", "p:=\"fine\""])
    }

    @Test func namesOfConfiguredServersAndFiles() async throws {
        let folder = TemporaryDirectory()
        try folder.write(
            "c.json",
            #"{"mcpServers": {"docs": {"url": "http://localhost:1/mcp"}, "$(x)": {"command": "x"}, "#
                + #""http://127.0.0.1:1/x": {"command": "x"}, "server.json": {"command": "x"}}}"#)
        try folder.write("notes one.txt", "")
        folder.makeDirectory("notes")
        var harness = CommandHarness(server: try OpsServer.make())
        harness.variables = ["MCP_CONFIG": folder.path + "/c.json"]
        harness.directory = folder.path
        #expect(try await proposals("info", "", harness: harness) == ["docs", "$(x)"])
        #expect(
            try await proposals("--answers", "not", harness: harness) == ["notes/", "notes one.txt"])
        #expect(
            try await proposals("call", "docs", "x", "k=@no", harness: harness)
                == ["k=@notes/", "k=@notes one.txt"])
        // For bash the words are quoted.
        let bash = await harness.run("__complete", "bash", "mcp-client info ", "=:")
        #expect(bash.stdout == "docs \n\\$\\(x\\) \n")
        #expect(await harness.run("__complete", "zsh", "info", "d").stdout.hasPrefix("Fdocs\t/"))
    }

    /// A program is started only if the user has configured or allowed it, never because a line names one.
    @Test func nothingIsStartedForAProgramOrAProject() async throws {
        let folder = TemporaryDirectory()
        try folder.write(".mcp.json", #"{"mcpServers": {"evil": {"command": "touch", "args": ["x"]}}}"#)
        var harness = CommandHarness(server: try OpsServer.make())
        harness.directory = folder.path
        harness.variables = ["HOME": folder.path + "/home"]
        for words in [
            ["call", "evil", ""], ["call", "--", "touch", "x", ""], ["call", "add", "--", "tou"],
        ] {
            let outcome = await harness.run(["__complete", "fish"] + words)
            #expect(outcome.connections == 0, "\(words)")
            #expect(outcome.stderr.isEmpty)
        }
    }

    @Test func descriptionsCannotSteerTheTerminal() async throws {
        let server = MCPServer("s", version: "1")
        try server.register(Tool("ok", description: "\u{1B}[2Jline\nmore")) { _, _ in .text("") }
        let harness = CommandHarness(server: server)
        let fish = await harness.run("__complete", "fish", "call", "localhost:1", "o")
        #expect(fish.stdout == "ok\t\\e[2Jline\n")
    }

    @Test func unknownShellsAndEmptyLinesGetNothing() async throws {
        let harness = CommandHarness(server: try OpsServer.make())
        for words in [[], ["bash"], ["tcsh", "x"], ["bash", ""], ["bash", "mcp-client"]] {
            let outcome = await harness.run(["__complete"] + words)
            #expect(outcome.stdout.isEmpty && outcome.stderr.isEmpty && outcome.code == .ok)
        }
    }
}
