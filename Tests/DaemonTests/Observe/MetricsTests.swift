import MCPCore
import Testing

@testable import MCPServerDaemon

/// The figures of calls, and the text that Prometheus reads.
@Suite struct MetricsTests {
    private struct Setting {
        let server: MCPServer
        let metrics: CallMetrics
        let observer: Observer
    }

    private func setting(tools: [String] = ["add", "quote\"\\\nname"]) -> Setting {
        final class Names: Sendable { init() {} }
        let metrics = CallMetrics { tools.contains($0) }
        let observer = Observer(
            metrics: metrics, audit: nil, recorder: nil, errors: ErrorRing(), calls: .none, log: .disabled)
        var options = ServerOptions()
        options.middleware = [observer]
        let server = MCPServer("m", version: "1", options: options)
        server.addTool("add", "Adds", Argument("a"), Argument("b")) { (a: Int, b: Int) in a + b }
        server.addTool("fail", "Fails") { () throws -> String in throw ToolError("no") }
        return Setting(server: server, metrics: metrics, observer: observer)
    }

    private func call(_ server: MCPServer, _ name: String, _ arguments: JSONObject = [:]) async {
        let message: JSONValue = [
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": [
                "name": .string(name), "arguments": .object(arguments),
                "_meta": [
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": [:],
                ],
            ],
        ]
        _ = await server.handle(Array(message.serialized().utf8))
    }

    @Test func callsByToolAndOutcome() async {
        let setting = setting(tools: ["add", "fail"])
        for _ in 0 ..< 3 { await call(setting.server, "add", ["a": 1, "b": 2]) }
        await call(setting.server, "add", ["a": "x", "b": 2])
        await call(setting.server, "fail")
        await call(setting.server, "nosuch")
        let series = setting.metrics.snapshot.series
        func count(_ tool: String, _ outcome: CallOutcome) -> Int {
            series.filter { $0.tool == tool && $0.outcome == outcome }.reduce(0) { $0 + $1.count }
        }
        #expect(count("add", .ok) == 3)
        #expect(count("add", .toolError) == 1)
        #expect(count("fail", .toolError) == 1)
        #expect(count("other", .error) == 1)
        #expect(setting.metrics.snapshot.inFlight == 0)
        #expect(setting.observer.errors?.last(2).map(\.text) == ["no", "Unknown tool: nosuch"])
    }

    /// However many names a client makes up, they are one series.
    @Test func namesThatDoNotExistAreOne() async {
        let setting = setting(tools: ["add"])
        for number in 0 ..< 2_000 { await call(setting.server, "random\(number)") }
        #expect(Set(setting.metrics.snapshot.series.map(\.tool)) == ["other"])
        #expect(setting.metrics.snapshot.series.count == 1)
        #expect(setting.metrics.snapshot.series.first?.count == 2_000)
    }

    /// The counts of all connections are one series.
    @Test func connectionsAddUp() async throws {
        let setting = setting(tools: ["add"])
        for _ in 0 ..< 20 {
            let client = try await MCPClient.connect(.inProcess(setting.server))
            let sum: Int = try await client.call("add", ["a": 1, "b": 2])
            #expect(sum == 3)
            await client.close()
        }
        let calls = setting.metrics.snapshot.series.filter { $0.tool == "add" }
        #expect(calls.map(\.count) == [20])
        #expect(setting.metrics.snapshot.inFlight == 0)
    }

    @Test func messagesThatCannotBeServedAreRefused() async {
        let setting = setting()
        _ = await setting.server.handle(Array("{".utf8))
        _ = await setting.server.handle(
            Array(#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#.utf8))
        #expect(setting.metrics.snapshot.refusals == [.malformed: 2])
    }

    /// The grammar of the text format 0.0.4, and histograms whose buckets grow.
    @Test func theTextIsValid() async throws {
        let setting = setting()
        await call(setting.server, "add", ["a": 1, "b": 2])
        await call(setting.server, "quote\"\\\nname")
        var text = MetricsText()
        text.write(setting.metrics.snapshot)
        text.write(ProcessFigures.current, startedAt: .now)
        var types: [String: String] = [:]
        var last = 0
        for line in text.text.split(separator: "\n") {
            if line.hasPrefix("# HELP ") { continue }
            if line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ").map { String($0) }
                try #require(words.count == 4)
                #expect(types.updateValue(words[3], forKey: words[2]) == nil, "\(words[2]) twice")
                continue
            }
            let sample =
                /([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\[\\"n])*",?)+\})? (\S+)/
            let match = try #require(line.wholeMatch(of: sample), "\(line)")
            _ = try #require(Double(match.5), "\(line)")
            let name = String(match.1)
            let base = ["_bucket", "_sum", "_count"].reduce(name) { name, end in
                name.hasSuffix(end) && types[String(name.dropLast(end.count))] == "histogram"
                    ? String(name.dropLast(end.count)) : name
            }
            #expect(types[base] != nil, "\(name) has no type")
            if name.hasSuffix("_bucket") {
                let count = try #require(Int(match.5))
                #expect(line.contains("le=\"0.01\"") || count >= last, "\(line)")
                last = count
            }
        }
        #expect(text.text.contains(#"gen_ai_tool_name="quote\"\\\nname""#))
        #expect(types["mcp_server_operation_duration_seconds"] == "histogram")
    }

    @Test func errorsAreARing() {
        let ring = ErrorRing()
        for number in 1 ... ErrorRing.capacity + 5 { ring.add("call", "\(number)") }
        #expect(ring.total == ErrorRing.capacity + 5)
        #expect(ring.last(1_000).count == ErrorRing.capacity)
        #expect(ring.last(2).map(\.text) == ["\(ErrorRing.capacity + 4)", "\(ErrorRing.capacity + 5)"])
    }
}
