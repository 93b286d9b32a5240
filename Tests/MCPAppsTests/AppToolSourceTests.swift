import MCPApps
import MCPCore
import MCPHarness
import Testing

/// Tools of a view as a source of the harness.
@Suite(.timeLimit(.minutes(5))) struct AppToolSourceTests {
    private static func source(
        timeout: Duration = .seconds(20), tools: [Tool] = [Tool("pick")],
        call: @escaping @Sendable (String, JSONObject) async throws -> CallToolResult = { _, _ in .text("ok")
        },
        changes: @escaping @Sendable () -> AsyncStream<Void> = { AsyncStream { $0.finish() } }
    ) -> AppToolSource {
        AppToolSource(
            id: "v1", displayName: "view of weather, Forecasts", timeout: timeout, changes: changes,
            list: { tools }, call: call)
    }

    private static func call(_ source: AppToolSource, _ arguments: String = "{}") async throws
        -> CallToolResult
    {
        try await source.call(ToolInvocation(callID: "c", name: "pick", source: "v1", arguments: arguments))
    }

    // A42
    @Test func fiftyTools() async throws {
        let many = Self.source(tools: (0 ..< 60).map { Tool("t\($0)") })
        #expect(try await many.tools().map(\.name) == (0 ..< 50).map { "t\($0)" })
        #expect(many.kind == .app)
        #expect(many.displayName == "view of weather, Forecasts")
    }

    @Test func textsOfToolsAreCut() async throws {
        let long = Self.source(tools: [Tool("t", description: String(repeating: "x", count: 900_000))])
        #expect(try await long.tools().map { $0.description?.utf8.count } == [4096])
    }

    // A42
    @Test func aCall() async throws {
        let source = Self.source { name, arguments in
            CallToolResult(structuredContent: ["name": .string(name), "arguments": .object(arguments)])
        }
        let result = try await Self.call(source, #"{"a":[null,1.50]}"#)
        #expect(result.structuredContent?.serialized() == #"{"name":"pick","arguments":{"a":[null,1.50]}}"#)
    }

    // A42
    @Test func aCallThatTakesTooLong() async {
        let source = Self.source(timeout: .milliseconds(20)) { _, _ in
            try await Task.sleep(for: .seconds(60))
            return .text("late")
        }
        await #expect {
            try await Self.call(source)
        } throws: { error in
            (error as? MCPError)?.code == -32000 && "\(error)".contains("view of weather, Forecasts")
        }
    }

    // A42
    @Test func aResultThatIsTooLong() async {
        let source = Self.source { _, _ in .text(String(repeating: "x", count: AppToolSource.maxResultBytes))
        }
        await #expect(throws: MCPError.self) { try await Self.call(source) }
    }

    // A42
    @Test func theOutputSchema() async throws {
        let schema: JSONValue = [
            "type": "object", "properties": ["n": ["type": "integer"]], "required": ["n"],
        ]
        func outcome(_ schema: JSONValue, _ result: CallToolResult) async -> Bool {
            let source = Self.source(tools: [Tool("pick", outputSchema: schema)]) { _, _ in result }
            return (try? await Self.call(source)) != nil
        }
        #expect(await outcome(schema, .structured(["n": 1])))
        #expect(await !outcome(schema, .structured(["n": "1"])))
        #expect(await !outcome(schema, .text("none")))
        #expect(await outcome(schema, .error("failed")))
        #expect(await !outcome(["type": "nothing"], .structured(["n": 1])))
    }

    // A42
    @Test func aClosedView() async {
        let closed = MCPError(code: -32000, message: "The view is closed.")
        let source = AppToolSource(
            id: "v1", displayName: "v", list: { throw closed }, call: { _, _ in throw closed })
        await #expect(throws: closed) { try await Self.call(source) }
        await #expect(throws: closed) { try await source.tools() }
    }

    // A42
    @Test func changes() async {
        let source = Self.source(changes: {
            AsyncStream { continuation in
                for _ in 1 ... 20 { continuation.yield() }
                continuation.finish()
            }
        })
        // The first comes at once; the rest of a burst waits for the pause, which the test does not.
        var iterator = source.changes.makeAsyncIterator()
        let start = ContinuousClock.now
        #expect(await iterator.next() != nil)
        #expect(await iterator.next() != nil)
        #expect(start.duration(to: .now) >= AppToolSource.changesPause * 0.9)
    }

    /// They stand beside the server's tools, under the view's name where two share one; the user is asked.
    // A42
    @Test func inAHarness() async throws {
        let view = Self.source()
        let host = try HostToolSource([
            HostTool("pick", description: "the program's own", inputSchema: ["type": "object"]) { _ in "host"
            }
        ])
        let model = ScriptedModel(.calls(("v1__pick", "{}")), .text("done"))
        let harness = try ToolHarness(
            name: "x", summary: "", model: model, sources: [host, view]
        ) { request in
            #expect(request.sourceName == "view of weather, Forecasts")
            #expect(!request.isTrusted)
            return .denied()
        }
        let reply = try await harness.send("go")
        #expect(model.requests[0].tools.map(\.name) == ["pick", "v1__pick"])
        #expect(reply.calls.map(\.status) == [.denied])
    }
}
