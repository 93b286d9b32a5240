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
        "-o cert tools localhost:1", "-o new --model-command cat --conversation ./new agent hi localhost:1",
        "-o link-to-new --model-command cat --conversation new agent hi localhost:1",
        "test --junit mcp.lock u.json", "test --junit s.env u.json", "test --junit .mcp.json u.json",
    ]

    @Test(arguments: readers) func whatALineNamesIsKept(line: String) async throws {
        let folder = TemporaryDirectory()
        folder.makeDirectory("p")
        let files = [
            "f": "mine\n", "cert": "x\n", "mcp.lock": "{}\n", "s.env": "A=1\n", "secret": "x\n",
            ".mcp.json": #"{"mcpServers": {"s": {"command": "true", "envFile": "s.env", "#
                + #""env": {"T": "${file:secret}"}}}}"#,
            "u.json": #"{"server": "s", "tests": [{"call": "t"}]}"#,
        ]
        for (name, text) in files { try folder.write("p/" + name, text) }
        // A second name of the same file.
        _ = try ProcessRunner.run(
            ProcessLaunch("ln", [folder.path + "/p/f", folder.path + "/p/other-name-of-f"]))
        _ = try ProcessRunner.run(ProcessLaunch("ln", ["-s", "new", folder.path + "/p/link-to-new"]))
        let outcome = try await ProgramRunner.run(
            "/bin/sh", ["-c", "cd \"$0\" && exec \"$1\" \(line)", folder.path + "/p", ProgramRunner.client],
            environment: ["HOME": folder.path, "SSL_CERT_FILE": "cert"])
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
        try folder.write("t.json", #"{"tests": [{"call": "t"}]}"#)
        let passed = try await run(["test", folder.path + "/t.json", "--"] + server("1"))
        #expect(passed.code == 0 && passed.stdout.hasSuffix("\nok 1 - call t\n"), "\(passed.stdout)")
        let failed = try await run(["test", folder.path + "/t.json", "--"] + bad)
        #expect(
            failed.code == 8
                && failed.stdout.hasSuffix(
                    "\nnot ok 1 - call t\n# the result does not match the output schema of the tool\n"
                        + "# /n: expected integer, found string\n"),
            "\(failed.stdout)")
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

    /// An old schema decides nothing, and the result is saved before the server is asked for a new one.
    @Test(arguments: ["other", "t"]) func aKeptSchemaThatIsGone(name: String) async throws {
        let folder = TemporaryDirectory()
        let file = folder.path + "/out"
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"shown"}],"#
                + #""structuredContent":{"n":"x"}}'"#, tools: #"'"$(. \#(folder.path)/list)"'"#)
        func client(_ words: [String]) async throws -> ProgramOutcome {
            try await ProgramRunner.run(
                ProgramRunner.client, words + ["--"] + server, environment: ["HOME": folder.path])
        }
        try folder.write(
            "list",
            #"printf %s '{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","#
                + #""properties":{"n":{"type":"integer"}}}}],"ttlMs":600000,"cacheScope":"public","x":['"#)
        let kept = try await client(["tools"])
        #expect(kept.code == 0, "\(kept.stderr)")
        try folder.write(
            "list",
            "cp \(file) \(folder.path)/seen\n"
                + #"printf %s '{"name":"\#(name)","inputSchema":{"type":"object"}}'"#)
        let outcome = try await client(["-o", file, "call", "t"])
        #expect(outcome.code == 0, "\(outcome.stderr)")
        #expect(
            outcome.stderr.contains("which could not be renewed: ") == (name == "other"), "\(outcome.stderr)")
        for path in [file, folder.path + "/seen"] {
            #expect(try Files.read(path, maxBytes: 1 << 20) == Array("shown\n".utf8))
        }
    }

    /// A comparison that is too costly shows no difference.
    @Test func aSchemaThatCannotBeApplied() async throws {
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"shown"}],"#
                + #""structuredContent":{"n":1}}'"#,
            tools: #"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","#
                + ##""allOf":[{"$ref":"#"}]}}"##)
        let outcome = try await run(["call", "t", "--"] + server)
        #expect(outcome.code == 0 && outcome.stdout == "shown\n", "\(outcome.stdout)")
        #expect(
            outcome.stderr.hasPrefix("note: the result of t could not be compared with its output schema: "),
            "\(outcome.stderr)")
    }

    /// A recording runs nothing.
    @Test func aRecordedResultThatDoesNotMatch() async throws {
        let folder = TemporaryDirectory()
        let file = folder.path + "/r.jsonl"
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[],"structuredContent":{"n":1}}'"#,
            tools: #"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","#
                + #""required":["m"]}}"#)
        let live = try await run(["call", "t", "--", ProgramRunner.client, "tap", "-o", file, "--"] + server)
        #expect(live.code == 5 && live.stderr.contains("the call was made"), "\(live.stderr)")
        let recorded = try await run(["call", file, "t"])
        #expect(recorded.code == 5 && recorded.stderr.contains("does not match"), "\(recorded.stderr)")
        #expect(!recorded.stderr.contains("the call was made"), "\(recorded.stderr)")
    }

    /// A file beside FILE has another name if the command reads the file of that name.
    @Test func aFileBesideThatIsRead() async throws {
        let folder = TemporaryDirectory()
        try folder.write("out-1.png", "mine\n")
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"shown"},"#
                + #"{"type":"image","mimeType":"image/png","data":"AQID"}]}'"#)
        let own = folder.path + "/out-1.png"
        let outcome = try await run(
            ["-o", folder.path + "/out.txt", "call", "t", "f=@\(own)", "--"] + server)
        #expect(outcome.code == 0, "\(outcome.stderr)")
        #expect(outcome.stderr == "wrote \(folder.path)/out-2.png (3 B)\n", "\(outcome.stderr)")
        #expect(try Files.read(own, maxBytes: 100) == Array("mine\n".utf8))
        #expect(try Files.read(folder.path + "/out-2.png", maxBytes: 100) == [1, 2, 3])
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
