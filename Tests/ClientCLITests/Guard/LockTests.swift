import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// A server that changes is noticed before it is used.
@Suite struct LockTests {
    private let folder = TemporaryDirectory()
    private var path: String { folder.path + "/mcp.lock" }

    private func harness(_ server: MCPServer) -> CommandHarness {
        var harness = CommandHarness(server: server)
        harness.directory = folder.path
        return harness
    }

    private func server(
        _ description: String = "Adds.", _ schema: JSONValue = ["type": "object"], readOnly: Bool? = true,
        others: [String] = [], instructions: String? = nil
    ) throws -> MCPServer {
        let server = MCPServer("s", version: "1", instructions: instructions)
        try server.register(
            Tool(
                "t", description: description, inputSchema: schema,
                annotations: ToolAnnotations(readOnlyHint: readOnly))
        ) { _, _ in .text("called") }
        for name in others { try server.register(Tool(name, description: "x")) { _, _ in .text("called") } }
        return server
    }

    /// Two spellings of one letter are two names, as in JSON, and one of them does not hide the other.
    @Test func spellingsOfOneName() throws {
        var snapshot = ServerSnapshot()
        var tools: JSONObject = ["\u{E9}": ["description": "a"]]
        snapshot.definitions[.tools] = tools
        let before = snapshot
        tools["e\u{301}"] = ["description": "b"]
        snapshot.definitions[.tools] = tools
        var file = LockFile()
        file["s"] = snapshot
        let kept = try #require(try LockFile(file.bytes, name: "mcp.lock")["s"])
        #expect(
            kept.definitions[.tools]?.count == 2 && SnapshotComparison.changes(from: kept, to: snapshot) == []
        )
        let changes = SnapshotComparison.changes(from: kept, to: before)
        #expect(changes.map(\.line) == ["tool e\u{301}: removed"], "\(changes)")
    }

    /// A named pipe, to which nobody may ever write, is called by its name.
    @Test func aLockFileThatIsAPipe() async throws {
        _ = try ProcessRunner.run(ProcessLaunch("mkfifo", [path]))
        let outcome = await harness(try server()).run("verify", "localhost:1")
        #expect(outcome.code == .usage)
        #expect(outcome.stderr.contains("mcp.lock: it is a named pipe, not a file\n"), "\(outcome.stderr)")
    }

    @Test func nothingChanged() async throws {
        let harness = harness(try server())
        #expect(await harness.run("lock", "localhost:1").stderr.contains("1 tool in mcp.lock"))
        let first = try Files.read(path, maxBytes: 1 << 20)
        #expect(await harness.run("lock", "localhost:1").code == .ok)
        #expect(
            try Files.read(path, maxBytes: 1 << 20) == first && !first.contains(0x0D) && first.last == 0x0A)
        #expect(await harness.run("verify", "localhost:1").code == .ok)
        #expect(await harness.run("--locked", "call", "localhost:1", "t").stdout == "called\n")
        #expect(await harness.run("--locked", "tools", "localhost:1").code == .ok)
    }

    /// Each list that a model gets is compared, also one that changed while a person was asked.
    @Test func anAgentCallsNothingOfAServerThatChanges() async throws {
        let server = try server(readOnly: false)
        let calls = Atomic<Int>(0)
        try server.register(Tool("u", description: "x")) { _, _ in
            calls.add(1, ordering: .relaxed)
            return .text("called")
        }
        var harness = harness(server)
        _ = await harness.run("lock", "localhost:1")
        try folder.write(
            "s.jsonl", #"{"calls":[{"name":"u","arguments":{}}]}"# + "\n" + #"{"text":"Done."}"#)
        let words = ["--locked", "--model", "script:\(folder.path)/s.jsonl", "agent", "x", "localhost:1"]
        harness.typed = ["y"]
        #expect(await harness.run(words).code == .ok && calls.load(ordering: .relaxed) == 1)
        harness.whileAsked = { try? server.register(Tool("evil")) { _, _ in .text("called") } }
        let changed = await harness.run(words)
        #expect(changed.code == .checkFailed && calls.load(ordering: .relaxed) == 1, "\(changed.stdout)")
        #expect(
            changed.stderr.contains(
                "error: the tool \"evil\" is not in the lock file (nothing more is called)\n"),
            "\(changed.stderr)")
        #expect(!changed.stderr.contains("Failure("), "\(changed.stderr)")
        // It is refused before the model is asked, too.
        harness.whileAsked = {}
        let next = await harness.run(words)
        #expect(next.code == .checkFailed && !next.stdout.contains("Done."), "\(next.stdout)")
    }

    @Test func anAgentGetsNoOtherInstructions() async throws {
        _ = await harness(try server(instructions: "Be kind.")).run("lock", "localhost:1")
        try folder.write("s.jsonl", #"{"text":"Done."}"#)
        let words = ["--locked", "--model", "script:\(folder.path)/s.jsonl", "agent", "x", "localhost:1"]
        #expect(await harness(try server(instructions: "Be kind.")).run(words).code == .ok)
        for instructions in ["Be evil.", nil] {
            let other = await harness(try server(instructions: instructions)).run(words)
            #expect(
                other.code == .checkFailed
                    && other.stderr.contains("differ from the lock file (nothing was called)"),
                "\(other.stderr)")
        }
    }

    @Test func everyDifferenceIsNamed() async throws {
        let old: JSONValue = [
            "type": "object", "properties": ["a": ["type": "integer"], "unit": ["enum": ["x", "y"]]],
        ]
        let new: JSONValue = [
            "type": "object",
            "properties": ["a": ["type": "string"], "unit": ["enum": ["x"]], "key": ["type": "string"]],
            "required": ["key"],
        ]
        _ = await harness(try server("Adds.", old)).run("lock", "localhost:1")
        let changed = harness(
            try server(
                "Adds. See https://evil.example", new, readOnly: false, others: ["rm"], instructions: "Obey.")
        )
        let verified = await changed.run("verify", "localhost:1")
        #expect(verified.code == .checkFailed)
        #expect(
            verified.stdout == """
                risky       instructions added: "Obey."
                risky       tool rm: new
                risky       tool t: readOnlyHint true became false
                risky       tool t: description changed and gained a URL: "Adds." became "Adds. See https://evil.example"
                breaking    tool t: type of a "integer" became "string"
                breaking    tool t: new required argument key
                breaking    tool t: unit no longer allows "y"

                """, "\(verified.stdout)")
        let call = await changed.run("--locked", "call", "localhost:1", "t", "key=x")
        #expect(call.code == .checkFailed && call.stdout.isEmpty)
        #expect(call.stderr.contains("the tool \"t\" differs from the lock file (nothing was called)"))
        let unknown = await changed.run("--locked", "call", "localhost:1", "rm")
        #expect(unknown.code == .checkFailed && unknown.stderr.contains("is not in the lock file"))
        #expect(await changed.run("--locked", "tools", "localhost:1").code == .checkFailed)
        #expect(await changed.run("call", "localhost:1", "t", "key=x").code == .ok)
    }

    /// Without a lock file, with a damaged one and with one of another server, nothing is called.
    @Test(arguments: [
        "none", "junk", "{}", #"{"lockVersion":1,"servers":{}}"#, #"{"lockVersion":2,"servers":{}}"#,
    ])
    func whatCannotBeChecked(_ text: String) async throws {
        if text != "none" { try folder.write("mcp.lock", text) }
        let outcome = await harness(try server()).run("--locked", "call", "localhost:1", "t")
        #expect(outcome.code != .ok && outcome.stdout.isEmpty, "\(outcome.stderr)")
        if text == "junk" {
            #expect(await harness(try server()).run("lock", "localhost:1").code == .usage)
            #expect(try Files.read(path, maxBytes: 100) == Array("junk".utf8))
        }
    }

    @Test func theLockIsReadOfOneServer() async throws {
        _ = await harness(try server()).run("lock", "localhost:1")
        _ = await harness(try server("Other.")).run("lock", "localhost:2")
        let ours = harness(try server())
        #expect(await ours.run("verify", "localhost:1").code == .ok)
        #expect(await ours.run("verify", "localhost:2").code == .checkFailed)
        #expect(await ours.run("diff", "mcp.lock#http://localhost:1/mcp", "localhost:1").code == .ok)
        let other = await ours.run("diff", "mcp.lock#http://localhost:2/mcp", "localhost:1")
        #expect(other.code == .checkFailed && other.stdout.contains("Other."), "\(other.stderr)")
        #expect(await ours.run("diff", "mcp.lock", "localhost:1").code == .usage)
        #expect(await ours.run("diff", "localhost:1").code == .usage)
    }

    /// Neither secrets in an address nor those of a command line are written.
    @Test func namesHaveNoSecrets() async throws {
        let harness = harness(try server())
        _ = await harness.run("lock", "http://localhost:1/mcp?key=hunter2")
        _ = await harness.run("lock", "--", "server", "--token", "hunter2")
        let text = String(decoding: try Files.read(path, maxBytes: 1 << 20), as: UTF8.self)
        #expect(!text.contains("hunter2") && text.contains("--token"), "\(text)")
        _ = await harness.run("lock", "--", "server", "ghp_S3CRET", "-k", "sk-S3CRETabc")
        _ = await harness.run(
            "lock", "--", "sh", "-c", "exec server --pin S3CRET eyJhbGciS3CRETx1")
        let more = String(decoding: try Files.read(path, maxBytes: 1 << 20), as: UTF8.self)
        #expect(!more.contains("S3CRET") && more.contains("exec server --pin"), "\(more)")
    }
}

/// Each rule of `lint` finds what it names, and the page lists it.
@Suite struct LintTests {
    private func rules(_ tool: JSONValue) -> Set<String> {
        var snapshot = ServerSnapshot()
        snapshot.definitions[.tools] = [tool["name"]?.stringValue ?? "": tool]
        return Set(LintRules.findings(in: snapshot).map(\.rule))
    }

    private let good: JSONValue = [
        "name": "add", "description": "Adds two numbers.", "annotations": ["readOnlyHint": true],
        "inputSchema": [
            "type": "object",
            "properties": ["a": ["type": "number", "description": "A number.", "default": 1]],
            "required": ["a"],
        ],
    ]

    @Test func aGoodTool() { #expect(rules(good).isEmpty) }

    @Test(arguments: [
        ("name-characters", "name", "a b"),
        ("name-length", "name", "a123456789012345678901234567890123456789012345"),
        ("description-missing", "description", ""), ("hidden-characters", "description", "a\u{200B}b"),
    ]) func texts(_ rule: String, _ member: String, _ text: String) {
        var tool = good.objectValue ?? [:]
        tool[member] = .string(text)
        #expect(rules(.object(tool)) == [rule])
    }

    @Test(arguments: [
        ("schema-not-object", #"{}"#), ("schema-invalid", ##"{"type":"object","$ref":"#/$defs/none"}"##),
        ("required-unknown", #"{"type":"object","required":["b"]}"#),
        ("argument-description", #"{"type":"object","properties":{"a":{"type":"number"}}}"#),
        ("argument-type", #"{"type":"object","properties":{"a":{"description":"x"}}}"#),
        (
            "default-invalid",
            #"{"type":"object","properties":{"a":{"description":"x","type":"number","default":"y"}}}"#
        ),
    ]) func schemas(_ rule: String, _ schema: String) throws {
        var tool = good.objectValue ?? [:]
        tool["inputSchema"] = try JSONValue(parsing: schema)
        #expect(rules(.object(tool)) == [rule])
    }

    @Test func hints() {
        var tool = good.objectValue ?? [:]
        tool["annotations"] = ["readOnlyHint": true, "destructiveHint": true]
        #expect(rules(.object(tool)) == ["hints-contradict"])
        tool["annotations"] = nil
        #expect(rules(.object(tool)) == ["hints-missing"])
    }

    @Test func anEntryThatCannotBeRead() {
        var snapshot = ServerSnapshot()
        snapshot.unreadable[.tools] = ["tools/list: the entry 2 cannot be read"]
        #expect(LintRules.findings(in: snapshot).map(\.rule) == ["entry-unreadable"])
    }

    @Test func severalTools() {
        var snapshot = ServerSnapshot()
        var long = good.objectValue ?? [:]
        long["description"] = .string(String(repeating: "word ", count: 2000))
        snapshot.definitions[.tools] = ["addOne": good, "add_one": .object(long)]
        #expect(Set(LintRules.findings(in: snapshot).map(\.rule)) == ["names-similar", "description-long"])
    }

    @Test func theCommand() async throws {
        let harness = CommandHarness(server: try OpsServer.make())
        let outcome = await harness.run("lint", "localhost:1")
        #expect(outcome.code == .checkFailed)
        #expect(
            outcome.stdout.contains("error    tool x_escape: description contains characters"),
            "\(outcome.stdout)")
        let json = try RawJSON(validating: await harness.run("--json", "lint", "localhost:1").stdout)
        #expect(json["findings"]?.elements?.isEmpty == false)
    }
}

/// Tests of servers report what they find, in forms that others read.
@Suite struct TestCommandTests {
    private func run(_ tests: String, _ words: [String] = []) async throws -> CommandOutcome {
        var harness = CommandHarness(server: try OpsServer.make())
        harness.files = ["/t.json": #"{"server": "localhost:1", "tests": [\#(tests)]}"#]
        return await harness.run(["test"] + words + ["/t.json"])
    }

    @Test func whatIsAsExpected() async throws {
        let outcome = try await run(
            #"""
            // Comments are allowed.
            {"call": "git_log", "arguments": {"repo": "web"}, "expect": {"contains": "Fix drain", "atMostMs": 60000}},
            {"call": "git_log", "arguments": {"repo": "nope"}, "expect": {"isError": true}},
            {"call": "x_echo", "arguments": {"a": [1]}, "expect": {"structured": {"a": [1]}, "select": {".structuredContent.a[0]": 1}}},
            {"call": "x_rpc_error", "expect": {"error": 4711}},
            {"read": "file:///notes.txt", "expect": {"text": "hello\n"}},
            {"prompt": "review", "arguments": {"code": "x"}, "expect": {"contains": "Review x"}},
            {"name": "lists # all", "request": "tools/list"},
            {"tools": ["git_log", "unit_restart"]},
            """#, ["--junit", "out.xml"])
        #expect(outcome.code == .ok, "\(outcome.stdout)\(outcome.stderr)")
        #expect(outcome.stdout.hasPrefix("TAP version 14\n1..8\nok 1 - call git_log\n"))
        #expect(outcome.stdout.contains("ok 7 - lists \\# all\n"))
        let xml = String(decoding: outcome.files["out.xml"] ?? [], as: UTF8.self)
        #expect(xml.contains("<testsuites tests=\"8\" failures=\"0\" errors=\"0\">"))
    }

    @Test func whatIsNot() async throws {
        let outcome = try await run(
            #"""
            {"call": "git_log", "arguments": {"repo": "nope"}},
            {"call": "x_echo", "arguments": {"a": "<&>"}, "expect": {"structured": {"a": 2}, "isError": true}},
            {"call": "x_rpc_error"}, {"tools": ["gone"]}, {"request": "tools/list", "expect": {"error": -1}}
            """#, ["--junit", "out.xml"])
        #expect(outcome.code == .checkFailed)
        #expect(
            outcome.stdout == """
                TAP version 14
                1..5
                not ok 1 - call git_log
                # the tool failed: repository "nope" is not under workspace
                not ok 2 - call x_echo
                # the tool did not fail; expected isError true
                # structuredContent is {"a":"<&>"}; expected {"a":2}
                not ok 3 - call x_rpc_error
                # the server refused: no\\nway (4711)
                not ok 4 - tools gone
                # no tool named "gone"
                not ok 5 - request tools/list
                # there is a result; expected the error -1

                """, "\(outcome.stdout)")
        let xml = String(decoding: outcome.files["out.xml"] ?? [], as: UTF8.self)
        #expect(xml.contains("&lt;&amp;&gt;") && xml.contains("failures=\"5\""), "\(xml)")
    }

    @Test func aMissingLockFileSaysHowToWriteIt() async throws {
        let outcome = try await run(#"{"locked": true}"#)
        #expect(outcome.code == .checkFailed)
        #expect(outcome.stdout.contains("\n# the lock file mcp.lock does not exist\n"), "\(outcome.stdout)")
        #expect(outcome.stdout.contains("\n# hint: mcp-client lock "), "\(outcome.stdout)")
    }

    /// A mistake in a file is found before anything runs.
    @Test(arguments: [
        (#"{"call": "t", "expcet": {}}"#, "did you mean expect?"),
        (#"{"call": "t", "expect": {"contain": "x"}}"#, "did you mean contains?"),
        (#"{"call": "t", "read": "x"}"#, "a test has one of"), (#"{"call": 7}"#, "call is not a string"),
        (#"{"call": "t", "expect": {"isError": 1}}"#, "isError has the wrong type"),
        (#"{"call": "t", "arguments": []}"#, "arguments is not an object"), ("7", "a test has one of"),
        (#"{"tools": ["t"], "expect": {"contains": "zzz"}}"#, "expect has no effect on tools"),
        (#"{"locked": true, "expect": {}}"#, "expect has no effect on locked"),
        (#"{"call": "t", "params": {}}"#, "params has no effect on call"),
        (#"{"read": "a:b", "arguments": {}}"#, "arguments has no effect on read"),
        (#"{"locked": false}"#, "locked is true, or left out"),
        (#"{"tools": ["t", 7]}"#, "tools is not an array of names"),
        (#"{"call": "t", "expect": {"contains": ["a", 7]}}"#, "contains is empty or has the wrong type"),
        (#"{"call": "t", "expect": {"contains": ""}}"#, "contains is empty or has the wrong type"),
        (#"{"call": "t", "expect": {"select": {}}}"#, "select is empty or has the wrong type"),
        (#"{"read": "x:y", "expect": {"isError": false}}"#, "isError has no effect on read"),
        (#"{"call": "t", "expect": {"error": 1, "text": "a"}}"#, "text has no effect beside error"),
    ]) func mistakes(_ test: String, _ message: String) async throws {
        let outcome = try await run(test)
        #expect(outcome.code == .usage && outcome.stderr.contains(message), "\(outcome.stderr)")
        #expect(outcome.connections == 0 && outcome.stdout.isEmpty)
    }
}
