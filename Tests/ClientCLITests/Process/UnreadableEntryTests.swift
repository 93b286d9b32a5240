import MCPCore
import TestSupport
import Testing

/// A server offers more than this client can read: whoever compares it must not say that nothing has changed.
@Suite(.timeLimit(.minutes(5))) struct UnreadableEntryTests {
    private let folder = TemporaryDirectory()
    private static let good = #"{"name":"t","inputSchema":{"type":"object"}}"#
    /// Half of a surrogate pair, and more levels than are read.
    private static let unreadable = [
        #"{"name":"sur\ud800","inputSchema":{"type":"object"}}"#,
        #"{"name":"steal","inputSchema":{"type":"object","x":"# + String(repeating: "[", count: 150)
            + String(repeating: "]", count: 150) + "}}",
    ]

    /// Runs a command with a server whose tools are in a file.
    private func run(_ words: String..., locks: Bool = true) async throws -> ProgramOutcome {
        let server = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"called"}]}'"#,
            tools: #"'"$(cat \#(folder.path)/tools)"'"#)
        let flags = locks ? ["--lock-file", folder.path + "/mcp.lock"] : []
        return try await ProgramRunner.run(
            ProgramRunner.client, flags + words + ["--"] + server, environment: ["HOME": folder.path],
            limit: 60)
    }

    @Test(arguments: unreadable) func isADifference(entry: String) async throws {
        try folder.write("tools", Self.good)
        try folder.write("t.json", #"{"tests": [{"locked": true}]}"#)
        try folder.write(
            "r.jsonl",
            #"{"time":"2026-11-23T07:00:00.000Z","method":"tools/list","outcome":"ok","ms":1,"request":"#
                + #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}},"response":"#
                + #"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":["# + Self.good
                + "]}}}\n")
        let lock = folder.path + "/mcp.lock"
        #expect(try await run("lock").code == 0)
        #expect(try await run("verify").code == 0)
        #expect(try await run("replay", folder.path + "/r.jsonl", locks: false).code == 0)
        let before = try Files.read(lock, maxBytes: 1 << 20)

        try folder.write("tools", Self.good + "," + entry)
        let verify = try await run("verify")
        #expect(verify.code == 8 && verify.stdout.hasPrefix("risky       tools/list: "), "\(verify.stdout)")
        #expect(try await run("-q", "verify").code == 8)
        #expect(try await run("diff", lock, locks: false).code == 8)
        let replay = try await run("replay", folder.path + "/r.jsonl", locks: false)
        #expect(replay.code == 8 && replay.stdout.contains("      tools/list: "), "\(replay.stdout)")
        let test = try await run("test", folder.path + "/t.json")
        #expect(test.code == 8 && test.stdout.contains("not ok 1"), "\(test.stdout)")
        let lint = try await run("lint", locks: false)
        #expect(lint.code == 8 && lint.stdout.contains("[entry-unreadable]"), "\(lint.stdout)")
        let call = try await run("--locked", "call", "t")
        #expect(call.code == 8 && call.stdout.isEmpty, "\(call.stdout)")
        #expect(try await run("--locked", "tools").code == 8)
        #expect(try await run("call", "t", locks: false).stdout == "called\n")

        let again = try await run("lock")
        #expect(again.code == 5 && again.stderr.contains("cannot be locked"), "\(again.stderr)")
        #expect(try Files.read(lock, maxBytes: 1 << 20) == before)
    }

    /// An entry without a name, and a second one of the same name: they are reported, and the rest is checked.
    /// They cannot be locked or compared.
    @Test func entriesWithoutNamesOfTheirOwn() async throws {
        try folder.write("tools", Self.good)
        #expect(try await run("lock").code == 0)
        let lock = folder.path + "/mcp.lock"
        let before = try Files.read(lock, maxBytes: 1 << 20)
        let odd = #"{"name":"odd!","inputSchema":{"type":"object"}}"#
        let nameless = #"{"inputSchema":{"type":"object"}}"#
        try folder.write("tools", [Self.good, nameless, Self.good, odd].joined(separator: ","))
        let lint = try await run("lint", locks: false)
        #expect(lint.code == 8, "\(lint.stderr)")
        for line in [
            "error    tools: tools/list: the entry number 2 has no name; ",
            #"error    tools: tools/list: the entry number 3 is another definition of "t"; "#,
            "error    tool odd!: a name is ",
        ] {
            #expect(lint.stdout.contains(line), "\(lint.stdout)")
        }
        let doctor = try await run("doctor", locks: false)
        #expect(doctor.code == 8 && doctor.stdout.contains("number 2 has no name"), "\(doctor.stdout)")
        #expect(doctor.stdout.contains("fail  list      2 tools"), "\(doctor.stdout)")
        for outcome in try await [run("lock"), run("verify"), run("diff", lock, locks: false)] {
            #expect(outcome.code == 5 && outcome.stdout.isEmpty, "\(outcome.stdout)")
            #expect(outcome.stderr.contains("the entry number 2 has no name"), "\(outcome.stderr)")
        }
        #expect(try Files.read(lock, maxBytes: 1 << 20) == before)
    }

    /// Entries are numbered and counted as the server sent them, with those that cannot be read.
    @Test(arguments: unreadable) func numbersCountAllEntries(entry: String) async throws {
        let nameless = #"{"inputSchema":{"type":"object"}}"#
        try folder.write("tools", [entry, nameless, Self.good, entry, nameless].joined(separator: ","))
        let lint = try await run("lint", locks: false)
        #expect(lint.code == 8 && lint.stdout.contains("the entry number 2 has no name"), "\(lint.stdout)")
        #expect(lint.stdout.contains("the entry number 5 has no name"), "\(lint.stdout)")
        let tools = try await run("tools", locks: false)
        let last = tools.stderr.split(separator: "\n").last
        #expect(tools.code == 0 && last?.hasPrefix("1 of 5 tools · ") == true, "\(tools.stderr)")
    }

    /// The last line counts what is shown, and what the server has.
    @Test(arguments: ["resources", "templates", "prompts", "tools"])
    func theLastLineCountsWhatIsShown(command: String) async throws {
        let peer = try HTTPPeer { heard in
            let list =
                switch heard.rpcMethod {
                case "resources/list": #""resources":[{"uri":"a:1","name":"a"},{"name":5}]"#
                case "resources/templates/list":
                    #""resourceTemplates":[{"uriTemplate":"a:{b}","name":"a"},{"name":5}]"#
                case "prompts/list": #""prompts":[{"name":"a"},{"name":5}]"#
                case "tools/list": #""tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":5}]"#
                default: ""
                }
            if !list.isEmpty { return .result(heard, #"{"resultType":"complete",\#(list)}"#) }
            let offered = #"{"tools":{},"resources":{},"prompts":{}}"#
            return .result(heard, Script.discovered.replacing(#"{"tools":{}}"#, with: offered))
        }
        defer { peer.stop() }
        let outcome = try await ProgramRunner.client(command, "http://\(peer.endpoint)/mcp")
        #expect(outcome.code == 0, "\(outcome.stderr)")
        let last = outcome.stderr.split(separator: "\n").last
        #expect(last?.hasPrefix("1 of 2 \(command) · ") == true, "\(outcome.stderr)")
    }
}
