import MCPClientCLI
import MCPCore
import TestSupport
import Testing

/// `agent` that is stopped while it works: what was done stays in the conversation.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AgentStopTests {
    private let folder = TemporaryDirectory()

    /// One of a few runs would show that the calls were not awaited.
    @Test(arguments: 1 ... 12) func finishedCallsAreKept(run: Int) async throws {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let server = MCPServer("s", version: "1")
        let schema: JSONValue = ["type": "object"]
        let text = String(repeating: "ordered ", count: 1_000)
        try server.register(Tool("order", inputSchema: schema)) { _, _ in .text(text) }
        try server.register(Tool("slow", inputSchema: schema)) { _, _ in
            continuation.yield()
            try await Task.sleep(for: .seconds(240))
            return .text("late")
        }
        let orders = Array(repeating: #"{"name":"order","arguments":{}}"#, count: 20)
        let round = (orders + [#"{"name":"slow","arguments":{}}"#]).joined(separator: ",")
        try folder.write("s.jsonl", "{\"calls\":[\(round)]}\n{\"text\":\"Done.\"}\n")
        let file = folder.path + "/talk.json"
        let words = [
            "--model", "script:\(folder.path)/s.jsonl", "--policy", "auto", "--conversation", file, "agent",
            "x", "localhost:1",
        ]
        let work = Task { await CommandHarness(server: server).run(words) }
        var begun = calls.makeAsyncIterator()
        await begun.next()
        work.cancel()
        let outcome = await work.value
        #expect(outcome.code == .interrupted, "\(outcome.stderr)")
        let kept = String(decoding: (try? Files.read(file, maxBytes: 1 << 20)) ?? [], as: UTF8.self)
        #expect(kept.contains("ordered ordered") && kept.contains("slow was cancelled."))
    }
}
