import Dispatch
import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// `watch`: changes of a server in this process, in every revision.
@Suite(.timeLimit(.minutes(5))) struct WatchCommandTests {
    private static let uri = "note:///1"

    private func server() throws -> MCPServer {
        let server = MCPServer("notes", version: "1")
        try server.register(Tool("t")) { _, _ in .text("t") }
        try server.register(Resource(Self.uri, name: "1")) { _ in [.text("1", uri: Self.uri)] }
        return server
    }

    /// Changes until the command ends: it may subscribe at any time.
    private func run(
        _ server: MCPServer, _ words: [String], wantedLines: Int? = nil,
        _ change: @escaping @Sendable (MCPServer) -> Void
    ) async -> CommandOutcome {
        let changes = Task {
            while !Task.isCancelled {
                change(server)
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        let outcome = await CommandHarness(server: server, wantedLines: wantedLines).run(words)
        changes.cancel()
        return outcome
    }

    @Test(arguments: ["2026-07-28", "2025-11-25", "2025-03-26", "2024-11-05"])
    func lists(revision: String) async throws {
        let outcome = await run(
            try server(), ["--protocol", revision, "--count", "2", "watch", "localhost:1"]
        ) { $0.notifyToolsChanged() }
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        let lines = outcome.stdout.split(separator: "\n")
        #expect(lines.count == 2)
        // HH:MM:SS and what changed.
        for line in lines { #expect(line.dropFirst(8) == " tools changed", "\(line)") }
        #expect(outcome.stderr.contains("watching notes 1"))
    }

    /// As behind `head -n 2`.
    @Test func aReaderThatGoesAwayEndsIt() async throws {
        let outcome = await run(try server(), ["watch", "localhost:1"], wantedLines: 2) {
            $0.notifyToolsChanged()
        }
        #expect(outcome.code == .ok)
        #expect(outcome.stdout.split(separator: "\n").count == 2)
    }

    @Test(arguments: ["2026-07-28", "2025-11-25", "2024-11-05"]) func oneResource(revision: String)
        async throws
    {
        let outcome = await run(
            try server(),
            ["--protocol", revision, "--count", "1", "--json", "watch", "localhost:1", Self.uri]
        ) {
            $0.notifyToolsChanged()
            $0.notifyResourceUpdated(Self.uri)
            $0.notifyResourceUpdated("note:///other")
        }
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        let events = try outcome.stdout.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(events.count == 1)
        if revision == "2026-07-28" { #expect(events == [["event": "updated", "uri": .string(Self.uri)]]) }
    }

    @Test(arguments: [
        ("file:///d", true), ("file:///d/a", true), ("file:///d/a/b.txt", true),
        ("file:///d/My%20File", true),
        ("file:///d/100%25", true), ("file:///d/..b/a..", true), ("file:///d/..", false),
        ("file:///d/../e", false), ("file:///d/%2e%2E/e", false), ("file:///d/a/.%252e/e", false),
        ("file:///d/..%2fe", false), ("file:///d/..\\e", false), ("file:///d/./a", false),
        ("file:///d/..;x/e", false), ("file:///d/a b", false), ("file:///d/a\nb", false),
        ("file:///d/a%0Ab", false), ("file:///d/a\u{1B}[2J", false), ("file:///d/a\u{202E}", false),
        ("file:///d/a%00", false), ("file:///dd", false), ("file:///e", false),
    ])
    func whatIsBelow(uri: String, isBelow: Bool) {
        #expect(WatchedAddress.covers(uri, ["file:///c", "file:///d"]) == isBelow)
    }

    /// What the user watches is what the user has written.
    @Test func theWatchedAddressItself() {
        #expect(WatchedAddress.covers("odd:/a b/..", ["odd:/a b/.."]))
    }

    /// A mistyped address is not watched for ever.
    @Test(arguments: ["2026-07-28", "2025-11-25", "2024-11-05"]) func aResourceThatIsNotThere(
        revision: String
    )
        async throws
    {
        let outcome = await run(
            try server(), ["--protocol", revision, "watch", "localhost:1", "note:///2"]
        ) { $0.notifyResourceUpdated(Self.uri) }
        #expect(outcome.code == .protocolError)
        #expect(outcome.stderr.contains("note:///2"))
    }

    // LEG-13, SUB-06: a server that cannot tell of anything is not waited for.
    @Test func aServerWithoutAStream() async throws {
        let running = try server().start([.http(port: 0)])
        let address = try #require(running.addresses.first?.description)
        let outcome = try await ProgramRunner.client("--protocol", "2024-11-05", "watch", address)
        #expect(outcome.code == 5)
        #expect(outcome.stderr.contains("offers no server-to-client stream"), "\(outcome.stderr)")
        #expect(outcome.stderr.contains("change notifications are not available here (notes 1 · 2024-11-05)"))
        #expect(outcome.stderr.contains("hint: another transport or a newer revision may provide them"))
        await running.stop()
    }

    /// A server that does not support GET takes other requests.
    @Test func aServerWithoutGET() async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "initialize":
                .result(
                    heard, Script.initialized(capabilities: #"{"tools":{"listChanged":true}}"#),
                    headers: "Mcp-Session-Id: s\r\n")
            case "notifications/initialized": .status(202)
            default: .status(heard.method == "GET" ? 501 : 400)
            }
        }
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        let outcome = await harness.run("watch", peer.endpoint)
        #expect(outcome.code == .protocolError)
        #expect(
            outcome.stderr.hasSuffix("\nhint: another transport or a newer revision may provide them\n"),
            "\(outcome.stderr)")
        #expect(!outcome.stderr.contains("watching"), "\(outcome.stderr)")
    }

    /// A server whose stream is refused until stderr has a line of `watch`. The first stream only says how
    /// often to try.
    private static func downServer(
        _ said: Counter, isDownFromStart: Bool, isDown: DispatchSemaphore
    ) throws -> HTTPPeer {
        let gets = Counter()
        return try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "initialize":
                return .result(
                    heard, Script.initialized(capabilities: #"{"tools":{"listChanged":true}}"#),
                    headers: "Mcp-Session-Id: s\r\n")
            case "notifications/initialized": return .status(202)
            case "x/wait":
                isDown.wait()
                return .result(heard, "{}")
            default: break
            }
            guard heard.method == "GET" else { return .status(400) }
            let number = gets.increment()
            if number == 1, !isDownFromStart { return .events("retry: 100\n\n") }
            if said.value > 0 { return .events("", end: false, then: .hang) }
            if number == 5 { isDown.signal() }
            return .status(503)
        }
    }

    /// Nobody is told that something is watched whose changes cannot be received.
    @Test(arguments: [false, true]) func aStreamThatIsDown(isInShell: Bool) async throws {
        let said = Counter()
        let peer = try Self.downServer(
            said, isDownFromStart: !isInShell, isDown: DispatchSemaphore(value: 0))
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        harness.hearStderr = { text in
            if ["watching", "cannot be received"].contains(where: text.contains) { said.increment() }
        }
        harness.stdin = isInShell ? "raw x/wait\nwatch --count 1\n" : nil
        let outcome = await harness.run(
            isInShell ? ["shell", peer.endpoint] : ["--count", "1", "watch", peer.endpoint])
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        #expect(
            outcome.stderr.hasPrefix(
                "changes cannot be received: the server refused GET with HTTP 503; trying again\n"),
            "\(outcome.stderr)")
        #expect(outcome.stdout.hasSuffix(" reconnected\n"), "\(outcome.stdout)")
    }

    // SUB-06
    @Test func nothingToWatch() async throws {
        let outcome = await CommandHarness(server: MCPServer("empty", version: "1")).run(
            "--protocol", "2025-11-25", "watch", "localhost:1")
        #expect(outcome.code == .protocolError)
        #expect(outcome.stderr.contains("the server does not notify about: tools, prompts, resources"))
    }

    /// A server of any make, which has resources and reports nothing about them.
    @Test func aServerThatReportsNoResources() async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "initialize":
                return .result(
                    heard, Script.initialized(capabilities: #"{"resources":{"subscribe":false}}"#),
                    headers: "Mcp-Session-Id: s\r\n")
            case "resources/subscribe":
                let error = #"{"code":-32601,"message":"Method not found"}"#
                return .json(#"{"jsonrpc":"2.0","id":\#(heard.id),"error":\#(error)}"#)
            case "notifications/initialized": return .status(202)
            default: return heard.method == "GET" ? .events("", end: false, then: .hang) : .status(400)
            }
        }
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        let outcome = await harness.run("watch", peer.endpoint, "note:///1")
        #expect(outcome.code == .protocolError)
        #expect(
            outcome.stderr == """
                error: the server does not notify about: note:///1
                  there is nothing to watch (old 2 · 2025-11-25)
                hint: read it again instead: mcp-client read \(peer.endpoint) note:///1

                """, "\(outcome.stderr)")
    }

    /// A server of 2026-07-28 that acknowledges only what it was not asked for. SUB-06
    @Test func aServerThatReportsOtherThings() async throws {
        let peer = try HTTPPeer { heard in
            guard heard.rpcMethod == "subscriptions/listen" else { return .result(heard, Script.discovered) }
            return .events(
                #"data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"#
                    + #""_meta":{"io.modelcontextprotocol/subscriptionId":\#(heard.id)},"#
                    + #""notifications":{"toolsListChanged":true,"resourceSubscriptions":["note:///2"]}}}"#
                    + "\n\n", end: false, then: .hang)
        }
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        let outcome = await harness.run("watch", peer.endpoint, "note:///1")
        #expect(outcome.code == .protocolError)
        #expect(
            outcome.stderr.hasPrefix("error: the server does not notify about: note:///1\n"),
            "\(outcome.stderr)")
    }

    /// A server that is away: it is said after a while, and `watch` ends when it will not return.
    @Test(arguments: [true, false]) func aServerThatIsAway(isModern: Bool) async throws {
        let streams = Counter()
        let peer = try HTTPPeer { heard in
            func stream(_ events: String) -> HTTPPeer.Answer {
                let number = streams.increment()
                return number == 1 ? .events(events) : .status(number < 5 ? 503 : 501)
            }
            switch heard.rpcMethod {
            case "server/discover": return isModern ? .result(heard, Script.discovered) : .status(400)
            case "subscriptions/listen":
                return stream(
                    #"data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"#
                        + #""_meta":{"io.modelcontextprotocol/subscriptionId":\#(heard.id)},"#
                        + #""notifications":{"toolsListChanged":true}}}"# + "\n\n")
            case "initialize":
                return .result(
                    heard, Script.initialized(capabilities: #"{"tools":{"listChanged":true}}"#),
                    headers: "Mcp-Session-Id: s\r\n")
            case "notifications/initialized": return .status(202)
            default: return heard.method == "GET" ? stream("retry: 100\n\n") : .status(400)
            }
        }
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        let outcome = await harness.run("watch", peer.endpoint)
        #expect(outcome.code == .protocolError, "\(outcome.stderr)")
        let notes = outcome.stderr.split(separator: "\n").filter { $0.hasSuffix("; trying again") }
        #expect(
            notes.count == 1 && notes[0].hasPrefix("changes cannot be received: ")
                && notes[0].contains("HTTP 503"), "\(outcome.stderr)")
    }

    /// A server of 2026-07-28 that does not know `subscriptions/listen`.
    @Test func aServerWithoutSubscriptions() async throws {
        let peer = try HTTPPeer { heard in
            if heard.rpcMethod == "server/discover" { return .result(heard, Script.discovered) }
            let error = #"{"code":-32601,"message":"Method not found"}"#
            return .json(#"{"jsonrpc":"2.0","id":\#(heard.id),"error":\#(error)}"#, status: 404)
        }
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        let outcome = await harness.run("watch", peer.endpoint)
        #expect(outcome.code == .protocolError)
        #expect(
            outcome.stderr.hasPrefix(
                "error: the server sends no change notifications\n  sent: subscriptions/listen ("),
            "\(outcome.stderr)")
    }

    @Test func aProgramForEachEvent() async throws {
        let outcome = await run(
            try server(),
            [
                "--count", "1", "--exec", "test {uri} = \(Self.uri)", "watch", "localhost:1", Self.uri,
            ]
        ) { $0.notifyResourceUpdated(Self.uri) }
        #expect(outcome.stdout.contains("updated \(Self.uri)  → test exited 0 in "), "\(outcome.stdout)")
    }

    @Test func whatAProgramWritesIsShown() async throws {
        for (flags, stream) in [([], "stdout"), (["--json"], "stderr")] {
            let outcome = await run(
                try server(),
                flags + ["--count", "1", "--exec", "echo got {uri}", "watch", "localhost:1", Self.uri]
            ) { $0.notifyResourceUpdated(Self.uri) }
            let text = stream == "stdout" ? outcome.stdout : outcome.stderr
            #expect(text.contains("got \(Self.uri)\n"), "\(outcome)")
            #expect(flags.isEmpty || outcome.stdout.hasPrefix("{"))
        }
    }

    @Test func aProgramThatDoesNotExistIsFoundOutAtTheStart() async throws {
        var harness = CommandHarness(server: try server())
        harness.variables = ["PATH": "/usr/bin:/bin"]
        let outcome = await harness.run("--exec", "no-such-program", "watch", "localhost:1")
        #expect(outcome.code == .usage)
        #expect(outcome.stderr.contains("--exec: the program \"no-such-program\" was not found"))
    }

    @Test func aProgramThatFailsSaysWhy() async throws {
        let program = try EventProgram(parsing: "ls /nonexistent/{event}")
        let outcome = await program.run(WatchEvent(.resourceUpdated("a:b")))
        #expect(outcome.hasPrefix("ls exited ") && outcome.contains(": ls: "), "\(outcome)")
        #expect(outcome.contains("/nonexistent/updated"), "\(outcome)")
    }

    /// The text of an event never becomes a program or a further word.
    @Test func aProgramIsNoShell() throws {
        let program = try EventProgram(parsing: "render --out={uri} {event}")
        let event = WatchEvent(.resourceUpdated("a b;rm -rf {event}"))
        #expect(program.arguments(event).first == "--out=a b;rm -rf {event}")
        #expect(program.arguments(event).last == "updated")
        for text in ["", "  ", "{uri}", "{event} x"] {
            #expect(throws: Failure.self) { try EventProgram(parsing: text) }
        }
    }

    @Test func aProgramThatIsNotThere() async throws {
        let program = try EventProgram(parsing: "/nowhere/at-all {uri}")
        #expect(await program.run(WatchEvent(.toolsListChanged)).hasPrefix("/nowhere/at-all did not start: "))
        let failing = try EventProgram(parsing: "false")
        #expect(await failing.run(WatchEvent(.toolsListChanged)).hasPrefix("false exited 1 in "))
    }
}
