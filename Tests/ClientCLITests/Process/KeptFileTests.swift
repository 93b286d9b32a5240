import MCPCore
import TestSupport
import Testing

/// What becomes of files and of results that cannot be used as they are.
@Suite struct KeptFileTests {
    private func run(_ words: [String]) async throws -> ProgramOutcome {
        try await ProgramRunner.run(ProgramRunner.client, words)
    }

    private func lines(_ outcome: ProgramOutcome) -> [Substring] { outcome.stderr.split(separator: "\n") }

    /// A block that cannot be read hides no others, and is a failure all the same.
    @Test func aResultWithInvalidBytes() async throws {
        let folder = TemporaryDirectory()
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"before"},"#
                + #"{"type":"image","mimeType":"image/png","data":"!"},{"type":"text","text":"after"}]}'"#)
        let shown = "before\n[left out: the server sent invalid base64 data]\nafter\n"
        let outcome = try await run(["call", "t", "--"] + server)
        #expect(outcome.code == 5 && outcome.stdout == shown, "\(outcome.stdout)")
        #expect(
            lines(outcome) == [
                "error: the server sent invalid base64 data", "  the call was made: t has run",
            ], "\(outcome.stderr)")
        let file = folder.path + "/out"
        let saved = try await run(["-o", file, "call", "t", "--"] + server)
        #expect(saved.code == 5 && saved.stdout.isEmpty, "\(saved.stderr)")
        #expect(saved.stderr.hasSuffix("the rest of it is in \(file)\n"), "\(saved.stderr)")
        #expect(try Files.read(file, maxBytes: 1 << 20) == Array(shown.utf8))
    }

    /// Two spellings of one letter are two names: what is shown and checked is the tool that is called.
    @Test func toolsWithNamesThatLookTheSame() async throws {
        let schema = #""inputSchema":{"type":"object"}"#
        let tools =
            #"{"name":"\u00e9","description":"one",\#(schema)},{"name":"e\u0301","description":"two",\#(schema)}"#
        for (name, text) in [("\u{E9}", "one"), ("e\u{301}", "two")] {
            let outcome = try await run(["tool", name, "--"] + ShellServer.words(call: "", tools: tools))
            #expect(outcome.code == 0 && outcome.stdout.contains(text), "\(outcome.stdout)")
        }
    }

    /// A file that a result replaces is not one that the command reads.
    @Test func whatACommandReadsIsKept() async throws {
        let folder = TemporaryDirectory()
        try folder.write("r.jsonl", "{}\n")
        let text = #"{"server": "localhost:1", "tests": [{"call": "t"}]}"#
        try folder.write("t.json", text)
        let (recording, tests) = (folder.path + "/r.jsonl", folder.path + "/t.json")
        for words in [["-o", recording, "tools", recording], ["test", "--junit", tests, tests]] {
            let outcome = try await run(words)
            #expect(outcome.code == 2)
            #expect(outcome.stderr.contains(" would replace what "), "\(words): \(outcome.stderr)")
        }
        #expect(try Files.read(recording, maxBytes: 1 << 20) == Array("{}\n".utf8))
        #expect(try Files.read(tests, maxBytes: 1 << 20) == Array(text.utf8))
    }

    /// The command lines whose output is a file that they read, in a project with a file `f`.
    private static let readers = [
        "-o f --bearer-file ./f tools localhost:1", "-o f --cacert f tools https://localhost:1/mcp",
        "-o f --answers f call localhost:1 t", "-o f --model script:f agent hi localhost:1",
        "-o f --model-command cat --system @f agent hi localhost:1",
        "-o f --model-command cat --conversation f agent hi localhost:1",
        "-o f --client-id c --client-secret-file f tools localhost:1",
        "-o f --client-key f tools localhost:1", "-o f --assertion-file f tools localhost:1",
        "-o f --id-token-file f tools localhost:1", "-o f --idp-client-secret-file f tools localhost:1",
        "-o f call localhost:1 t k=@f", "-o f call localhost:1 t k:=@f", "-o f call localhost:1 t --k @f",
        "-o f call localhost:1 t --k=@f", "-o f prompt localhost:1 p k=@f", "-o f raw localhost:1 m @f",
        "-o f --locked --lock-file f tools localhost:1", "-o mcp.lock --locked tools localhost:1",
        "-o other-name-of-f call localhost:1 t k=@f", "-o f call localhost:1 t <f",
        "-o .mcp.json tools s", "-o s.env tools s", "-o secret tools s", "-o s.env tools .",
        "test --junit mcp.lock u.json", "test --junit s.env u.json", "test --junit .mcp.json u.json",
    ]

    @Test(arguments: readers) func whatALineNamesIsKept(line: String) async throws {
        let folder = TemporaryDirectory()
        folder.makeDirectory("p")
        let files = [
            "f": "mine\n", "mcp.lock": "{}\n", "s.env": "A=1\n", "secret": "x\n",
            ".mcp.json": #"{"mcpServers": {"s": {"command": "true", "envFile": "s.env", "#
                + #""env": {"T": "${file:secret}"}}}}"#,
            "u.json": #"{"server": "s", "tests": [{"call": "t"}]}"#,
        ]
        for (name, text) in files { try folder.write("p/" + name, text) }
        // A second name of the same file.
        _ = try ProcessRunner.run(
            ProcessLaunch("ln", [folder.path + "/p/f", folder.path + "/p/other-name-of-f"]))
        let outcome = try await ProgramRunner.run(
            "/bin/sh", ["-c", "cd \"$0\" && exec \"$1\" \(line)", folder.path + "/p", ProgramRunner.client],
            environment: ["HOME": folder.path])
        #expect(outcome.code == 2 && outcome.stdout.isEmpty, "\(outcome.stderr)")
        #expect(outcome.stderr.contains(" would replace what "), "\(outcome.stderr)")
        #expect(outcome.stderr.contains("\n  nothing was sent\n"), "\(outcome.stderr)")
        for (name, text) in files {
            #expect(try Files.read(folder.path + "/p/" + name, maxBytes: 1 << 20) == Array(text.utf8))
        }
    }

    /// A result that is not what its tool promises is shown and saved, and is a failure all the same.
    @Test func aResultThatDoesNotMatchItsSchema() async throws {
        let folder = TemporaryDirectory()
        let tool =
            #"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","#
            + #""properties":{"n":{"type":"integer"}},"required":["n"]}}"#
        func server(_ value: String) -> [String] {
            ShellServer.words(
                call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"shown"}],"#
                    + #""structuredContent":{"n":\#(value)}}'"#, tools: tool)
        }
        let good = try await run(["call", "t", "--"] + server("1"))
        #expect(good.code == 0 && good.stdout == "shown\n" && good.stderr.isEmpty, "\(good.stderr)")
        let bad = server(#""x""#)
        let outcome = try await run(["call", "t", "--"] + bad)
        #expect(outcome.code == 5 && outcome.stdout == "shown\n", "\(outcome.stdout)")
        let said = lines(outcome)
        #expect(said.first == "error: the result of t does not match its output schema", "\(said)")
        #expect(
            said.dropFirst() == ["  /n: expected integer, found string", "  the call was made: t has run"],
            "\(said)")
        let json = try await run(["--json", "call", "t", "--"] + bad)
        #expect(json.code == 5 && json.stdout.contains(#""structuredContent":{"n":"x"}"#), "\(json.stdout)")
        let file = folder.path + "/out"
        let saved = try await run(["-o", file, "call", "t", "--"] + bad)
        #expect(saved.code == 5 && saved.stderr.hasSuffix("; it is in \(file)\n"), "\(saved.stderr)")
        #expect(try Files.read(file, maxBytes: 1 << 20) == Array("shown\n".utf8))
        let unchecked = try await run(["--no-validate", "call", "t", "--"] + bad)
        #expect(unchecked.code == 0 && unchecked.stderr.isEmpty, "\(unchecked.stderr)")
    }

    /// A kept list refuses no result: the tool may promise something else by now.
    @Test func aKeptSchemaThatTheServerHasReplaced() async throws {
        let folder = TemporaryDirectory()
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[],"structuredContent":{"n":"x"}}'"#,
            tools: #"'"$(cat \#(folder.path)/tools)"'"#)
        func call(_ type: String) async throws -> ProgramOutcome {
            try folder.write(
                "tools",
                #"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","#
                    + #""properties":{"n":{"type":"\#(type)"}}}}],"ttlMs":600000,"cacheScope":"public","x":["#
            )
            return try await ProgramRunner.run(
                ProgramRunner.client, ["--timings", "call", "t", "--"] + server,
                environment: ["HOME": folder.path])
        }
        let first = try await call("integer")
        #expect(first.code == 5 && first.stderr.contains("n: expected integer"), "\(first.stderr)")
        let changed = try await call("string")
        #expect(changed.code == 0 && changed.stderr.contains("(cached)"), "\(changed.stderr)")
    }

    /// What is no recording is not added to, and one that others can read is no secret.
    @Test func anOldFileForARecording() async throws {
        let folder = TemporaryDirectory()
        try folder.write("notes.txt", "mine\n")
        try folder.write(
            "r.jsonl", #"{"time":"t","method":"ping","outcome":"ok","request":{},"response":{}}"# + "\n")
        func tap(_ name: String) async throws -> ProgramOutcome {
            let path = folder.path + "/" + name
            _ = try ProcessRunner.run(ProcessLaunch("chmod", ["644", path]))
            return try await run(["tap", "-o", path, "--", "true"])
        }
        let notes = try await tap("notes.txt")
        #expect(
            notes.code == 2 && notes.stderr.contains("is there, and is not a recording"), "\(notes.stderr)")
        #expect(try Files.read(folder.path + "/notes.txt", maxBytes: 100) == Array("mine\n".utf8))
        let old = try await tap("r.jsonl")
        #expect(old.code == 0, "\(old.stderr)")
        #expect(old.stderr.contains("can be read by all users of this machine (mode 644)"), "\(old.stderr)")
    }
}
