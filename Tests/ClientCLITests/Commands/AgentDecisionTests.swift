import MCPCore
import MCPHarness
import TestSupport
import Testing

@testable import MCPClientCLI

/// The decisions on tools that `agent` keeps: each is for one tool of one server.
@Suite(.timeLimit(.minutes(5))) struct AgentDecisionTests {
    private let folder = TemporaryDirectory()

    private func configure(_ name: String, _ entry: String) -> String { "\"\(name)\": \(entry)" }

    /// Writes the configuration of the user.
    private func write(_ entries: [String]) throws {
        try folder.write(
            ".config/mcp/mcp.jsonc", "{\"mcpServers\": {\(entries.joined(separator: ", "))}}")
    }

    /// Runs a model that calls these tools, one after the other.
    private func run(_ tools: [String], _ servers: [String], typed: [String]) async throws -> CommandOutcome {
        let calls = tools.map { #"{"calls":[{"name":"\#($0)","arguments":{"unit":"web"}}]}"# }
        try folder.write("s.jsonl", (calls + [#"{"text":"Done."}"#]).joined(separator: "\n"))
        var harness = CommandHarness(server: try OpsServer.make())
        harness.variables = ["HOME": folder.path]
        harness.typed = typed
        return await harness.run(["--model", "script:\(folder.path)/s.jsonl", "agent", "x"] + servers)
    }

    private static func asks(_ outcome: CommandOutcome, _ server: String) -> Bool {
        outcome.stderr.contains("allow unit_restart of \(server) to run?")
    }

    private struct Source: ToolSource {
        let id: ToolSourceID = "s"
        var kind: ToolSourceKind { .server }
        func tools() async throws -> [Tool] { [] }
        func call(_ invocation: ToolInvocation) async throws -> CallToolResult { .text("") }
    }

    /// A name is exact: another tool whose name only ends with it is not allowed with it, and one with a slash
    /// can be denied.
    @Test(arguments: [
        ("--allow read", "all/read", false), ("--allow read", "read", true),
        ("--allow all/read", "all/read", false),
        ("--allow s/all/read", "all/read", true), ("--allow s/*", "all/read", true),
        ("--policy auto --deny all/read", "all/read", false), ("--policy auto --deny read", "all/read", true),
        ("--policy auto --ask s/read", "read", false), ("--policy auto --deny s/*", "all/read", false),
    ])
    func namesWithSlashes(flags: String, tool: String, runs: Bool) throws {
        let words = flags.split(separator: " ").map(String.init) + ["--model", "script:x", "agent", "x"]
        guard case .run(let invocation) = try InvocationParser.parse(words) else {
            Issue.record("no command")
            return
        }
        let policy = AgentCommand.policies(invocation.options.agent).policy(for: Tool(tool), of: Source())
        #expect((policy == .automatic) == runs, "\(policy)")
    }

    /// Whoever wants to be asked is asked, whatever was decided before, and once in a run.
    @Test(arguments: [["--policy", "ask"], ["--ask", "unit_restart"]])
    func askingTakesPrecedence(words: [String]) async throws {
        let tools = ["unit_restart", "unit_restart"]
        let first = try await run(tools, ["localhost:1"], typed: ["a"])
        #expect(first.stdout == "Done.\n" && Self.asks(first, "server1"), "\(first.stderr)")
        #expect(try await !Self.asks(run(tools, ["localhost:1"], typed: []), "server1"))
        let again = try await run(tools, ["localhost:1"] + words, typed: ["r"])
        let count = again.stderr.split(separator: "allow unit_restart of server1 to run?").count - 1
        #expect(again.stdout == "Done.\n" && count == 1, "\(again.stderr)")
        // The new answer takes the place of the old one.
        _ = try await run(tools, ["localhost:1"] + words, typed: ["v"])
        #expect(try await run(tools, ["localhost:1"], typed: []).stderr.contains("never allows it"))
    }

    /// What nobody is asked about is shown: the question is about one set of arguments only.
    @Test(arguments: ["r", "a"]) func callsWithoutAQuestionAreShown(letter: String) async throws {
        let line = "→ unit_restart {\"unit\":\"web\"}\n"
        let first = try await run(["unit_restart", "unit_restart"], ["localhost:1"], typed: [letter])
        #expect(first.stdout == "Done.\n" && Self.asks(first, "server1"), "\(first.stderr)")
        #expect(first.stderr.ranges(of: line).count == 1, "\(first.stderr)")
        #expect(first.stderr.ranges(of: "← unit_restart completed").count == 2, "\(first.stderr)")
        guard letter == "a" else { return }
        let later = try await run(["unit_restart"], ["localhost:1"], typed: [])
        #expect(later.stderr.ranges(of: line).count == 1, "\(later.stderr)")
    }

    /// Both are started by the same word, and have a tool of the same definition.
    @Test(arguments: ["r", "a"]) func anotherServerIsAskedFor(letter: String) async throws {
        for name in [".config", ".config/mcp"] { folder.makeDirectory(name) }
        let good = configure("good", #"{"command": "python3", "args": ["good.py", "--key", "s3cret"]}"#)
        try write([good, configure("thief", #"{"command": "python3", "args": ["thief.py"]}"#)])
        let tools = ["unit_restart", "thief__unit_restart"]
        let first = try await run(tools, ["good", "thief"], typed: [letter, "n"])
        #expect(first.code == .ok && first.stdout == "Done.\n", "\(first.stderr)")
        #expect(Self.asks(first, "good") && Self.asks(first, "thief"), "\(first.stderr)")
        guard letter == "a" else { return }
        let path = folder.path + "/.local/state/mcpcore/tool-decisions.json"
        let kept = String(decoding: try Files.read(path, maxBytes: 1 << 20), as: UTF8.self)
        #expect(kept.contains("/unit_restart "))
        for part in ["python3", "good.py", "s3cret"] { #expect(!kept.contains(part), "\(kept)") }
        // It holds in later runs, until the entry leads to something else.
        let later = try await run(["unit_restart"], ["good"], typed: [])
        #expect(later.code == .ok && !Self.asks(later, "good"), "\(later.stderr)")
        try write([configure("good", #"{"command": "python3", "args": ["other.py"]}"#)])
        let changed = try await run(["unit_restart"], ["good"], typed: ["n"])
        #expect(Self.asks(changed, "good"), "\(changed.stderr)")
    }

    /// What was kept under the first word of the command is asked for again.
    @Test func olderDecisionsAreNotUsed() async throws {
        for name in [".config", ".config/mcp"] { folder.makeDirectory(name) }
        try write([configure("good", #"{"command": "python3", "args": ["good.py"]}"#)])
        let before = try await run(["unit_restart"], ["good"], typed: ["a"])
        #expect(Self.asks(before, "good"), "\(before.stderr)")
        let path = ".local/state/mcpcore/tool-decisions.json"
        let bytes = try Files.read("\(folder.path)/\(path)", maxBytes: 1 << 20)
        let kept = try #require(try JSONValue(parsing: bytes)["allowed"]?[0]?.stringValue)
        let rest = kept.drop { $0 != "/" }
        try folder.write(path, #"{"version": 1, "allowed": ["python3\#(rest)"], "denied": []}"#)
        let again = try await run(["unit_restart"], ["good"], typed: ["n"])
        #expect(Self.asks(again, "good"), "\(again.stderr)")
    }

    private static func identity(_ words: String..., directory: String = "/work") throws -> String {
        guard case .run(let invocation) = try InvocationParser.parse(["agent", "x"] + words) else {
            throw Failure.usage("no run")
        }
        let server = try #require(invocation.servers.first)
        return ServerIdentity(of: server.target, invocation.forServer(server), in: directory).text
    }

    /// All that decides which program runs, or which server answers, and nothing else.
    @Test func whatAServerIs() throws {
        let program = try Self.identity("--", "python3", "a.py", "--key", "s3cret")
        #expect(program.utf8.count == 64)
        #expect(try Self.identity("--", "python3", "a.py", "--key", "s3cret") == program)
        #expect(try Self.identity("--timeout", "5", "--", "python3", "a.py", "--key", "s3cret") == program)
        let url = try Self.identity("https://a.example/mcp?key=s3cret")
        #expect(try Self.identity("https://a.example/mcp?key=s3cret", directory: "/other") == url)
        let others = try [
            program, url, Self.identity("--", "python3", "a.py"), Self.identity("--", "python3", "b.py"),
            Self.identity("--", "python3", "a.py", directory: "/other"),
            Self.identity("--", "python3 a.py"), Self.identity("https://a.example/mcp"),
            Self.identity("https://b.example/mcp"), Self.identity("unix:///run/a.sock"),
            Self.identity("unix:///run/a.sock#/other"),
        ]
        #expect(Set(others).count == others.count)
    }

    @Test func theSettingsOfAnEntryCount() throws {
        guard case .run(let invocation) = try InvocationParser.parse(["agent", "x"]) else {
            throw Failure.usage("no run")
        }
        func identity(_ name: String, _ variables: [(name: String, value: String)], _ directory: String?)
            -> String
        {
            let target = Target.program(["npx", "server"])
            let server = ResolvedServer(
                name: name, target: target, isConfigured: true, environment: variables,
                directory: directory)
            var own = invocation
            own.configured = [server]
            own = own.forServer(NamedTarget(name: name, target: target))
            return ServerIdentity(of: target, own, in: "/work").text
        }
        let first = identity("a", [("DB", "test")], nil)
        #expect(identity("a", [("DB", "live"), ("DB", "test")], "/work") == first)
        let others = [
            first, identity("b", [("DB", "test")], nil), identity("a", [("DB", "live")], nil),
            identity("a", [], nil), identity("a", [("DB", "test")], "/other"),
        ]
        #expect(Set(others).count == others.count)
    }
}
