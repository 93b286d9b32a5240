import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// What `find` shows when a server does not answer.
@Suite(.timeLimit(.minutes(1))) struct FindCommandTests {
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
}
