import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// What `find` shows when a server does not answer.
@Suite(.timeLimit(.minutes(5))) struct FindCommandTests {
    private let folder = TemporaryDirectory()

    /// Nine servers, of which eight are asked at once: when the last one is asked, the first one has answered.
    @Test(arguments: [false, true]) func aSearchThatIsStoppedShowsWhatItHasFound(json: Bool) async throws {
        let silent = (1 ... 8).map { #""silent\#($0)": {"command": "silent"}"# }
        try folder.write(
            "c.json",
            #"{"mcpServers": {"good": {"command": "good"}, \#(silent.joined(separator: ", "))}}"#)
        let (asked, continuation) = AsyncStream.makeStream(of: Void.self)
        var harness = CommandHarness(server: try OpsServer.make())
        harness.variables = ["MCP_CONFIG": folder.path + "/c.json"]
        harness.beforeConnecting = { target in
            guard case .program(let words) = target, words.first == "silent" else { return }
            continuation.yield()
            try await Task.sleep(for: .seconds(3_600))
        }
        let (ready, words) = (harness, (json ? ["--json"] : []) + ["find", "git*"])
        let search = Task { await ready.run(words) }
        var count = 0
        for await _ in asked {
            count += 1
            if count == 8 { break }
        }
        ready.stop.set(StopReason.interrupted)
        search.cancel()
        let outcome = await search.value
        #expect(outcome.code == .interrupted)
        #expect(outcome.stderr.contains("silent8: had not answered when the search was stopped\n"))
        #expect(outcome.stderr.contains("1 tool found; 1 of 9 servers searched\n"), "\(outcome.stderr)")
        #expect(outcome.stderr.hasSuffix("interrupted\n") || json, "\(outcome.stderr)")
        if json {
            let found = try JSONValue(parsing: outcome.stdout)
            #expect(found["tools"] == [["server": "good", "tool": "git_log"]])
            #expect(found["failures"]?.arrayValue?.count == 8)
        } else {
            #expect(outcome.stdout.contains("good  git_log("), "\(outcome.stdout)")
        }
    }

    /// A server whose pages lead to each other has each tool once, and has failed.
    @Test func pagesInACircle() async throws {
        @Sendable func list(_ heard: HTTPPeer.Heard, _ name: String, _ more: String) -> HTTPPeer.Answer {
            heard.rpcMethod == "server/discover"
                ? .result(heard, Script.discovered)
                : .result(
                    heard,
                    #"{"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[{"name":"\#(name)","#
                        + #""inputSchema":{"type":"object"}}]\#(more)}"#)
        }
        let good = try HTTPPeer { list($0, "one", "") }
        let bad = try HTTPPeer { list($0, "two", #","nextCursor":"c""#) }
        defer {
            good.stop()
            bad.stop()
        }
        try folder.write(
            "c.json",
            #"{"mcpServers": {"good": {"url": "http://\#(good.endpoint)/mcp"}, "#
                + #""bad": {"url": "http://\#(bad.endpoint)/mcp"}}}"#)
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        harness.variables = ["MCP_CONFIG": folder.path + "/c.json"]
        let outcome = await harness.run("find", "*")
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        #expect(outcome.stdout.split(separator: "\n").sorted() == ["bad   two()", "good  one()"])
        #expect(outcome.stderr.contains("2 tools found; 1 of 2 servers searched"), "\(outcome.stderr)")
    }

    /// A project chooses its names: none of them may stand for an address or for a file beside it.
    @Test(arguments: [
        "server.json", "record.jsonl", "http://127.0.0.1:32000/ok", "localhost:31001", "unix:///tmp/x.sock",
        ".", "a/b", "-v",
    ])
    func aNameIsNeverATarget(name: String) async throws {
        folder.makeDirectory("project")
        try folder.write(
            "project/.mcp.json", #"{"mcpServers": {"\#(name)": {"command": "configured"}}}"#)
        let targets = Mutex<[Target]>([])
        var harness = CommandHarness(server: try OpsServer.make())
        harness.directory = folder.path + "/project"
        harness.variables = ["HOME": folder.path]
        harness.files["server.json"] =
            #"{"name": "x", "packages": [{"registryType": "npm", "identifier": "evil"}]}"#
        harness.beforeConnecting = { target in targets.withLock { $0.append(target) } }
        let refused = await harness.run("find", "git*")
        #expect(refused.code == .usage && refused.connections == 0, "\(refused.stderr)")
        #expect(refused.stderr.contains("of this project has not been allowed yet"), "\(refused.stderr)")
        guard name != "-v" else { return }
        #expect(await harness.run("config", "allow", name).code == .ok)
        let found = await harness.run("find", "git*")
        #expect(found.code == .ok, "\(found.stderr)")
        #expect(targets.withLock { $0 } == [.program(["configured"])])
    }
}
