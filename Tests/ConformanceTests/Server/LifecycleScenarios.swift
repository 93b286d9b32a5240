import MCPCore
import TestSupport
import Testing

/// Handshake, sessions, utilities and streams.
@Suite("server: lifecycle", .timeLimit(.minutes(5))) struct LifecycleScenarios {
    private static let initialize = JSONValue.object([
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": [
            "protocolVersion": "2025-11-25", "capabilities": [:],
            "clientInfo": ["name": "conformance-client", "version": "1.0.0"],
        ],
    ]).serialized()

    // The suite's client sends no version header with `initialize`, its probes do.
    @Test("server-initialize", arguments: [nil, "2025-11-25"])
    func initialize(version: String?) async throws {
        let header = version.map { [(name: "MCP-Protocol-Version", value: $0)] } ?? []
        let response = try await RawPost(fields: header, body: Self.initialize).send()
        #expect(response.status == 200)
        let result = try #require(response.answer?["result"])
        #expect(result["protocolVersion"] == "2025-11-25")
        #expect(result["serverInfo"]?["name"]?.isFilled == true)
        #expect(result["serverInfo"]?["version"]?.isFilled == true)
        #expect(result["capabilities"]?.isObject == true)
        let id = try #require(response.headers["mcp-session-id"])
        #expect(!id.isEmpty && id.utf8.allSatisfy { (0x21 ... 0x7E).contains($0) })
        let accepted = try await RawPost(
            fields: [("Mcp-Session-Id", id)],
            body: #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
        ).send()
        #expect(accepted.status == 202)
    }

    @Test("server-session-lifecycle") func sessionLifecycle() async throws {
        try await withSuiteClient(SuiteRun.stateful) { client in
            let id = try #require(client.raw.sessionID)
            let fields = [
                (name: "Mcp-Session-Id", value: id), (name: "MCP-Protocol-Version", value: "2025-11-25"),
            ]
            let ended = try await RawPost(method: "DELETE", fields: fields).send()
            #expect((200 ... 299).contains(ended.status))
            let late = try await RawPost(
                fields: fields, body: #"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#
            ).send()
            #expect(late.status == 404)
        }
    }

    @Test("logging-set-level") func loggingSetLevel() async throws {
        try await withSuiteClient(SuiteRun.stateful) { client in
            let result = try await client.raw.result("logging/setLevel", ["level": "info"])
            #expect(result == [:])
        }
    }

    @Test("ping") func ping() async throws {
        try await withSuiteClient(SuiteRun.stateful) { client in
            let result = try await client.raw.result("ping")
            #expect(result == [:])
        }
    }

    @Test("completion-complete", arguments: SuiteRun.both) func completion(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let result = try await client.raw.result(
                "completion/complete",
                [
                    "ref": ["type": "ref/prompt", "name": "test_prompt_with_arguments"],
                    "argument": ["name": "arg1", "value": "test"],
                ])
            #expect(result["completion"]?["values"] == ["testValue1", "testValue2"])
        }
    }

    @Test("server-sse-multiple-streams", arguments: SuiteRun.both)
    func multipleStreams(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            #expect((client.raw.sessionID != nil) == !setting.isModern)
            let raw = client.raw
            let replies = await withTaskGroup(of: RawReply.self) { group in
                for _ in 0 ..< 3 { group.addTask { await raw.request("tools/list") } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(replies.count == 3)
            for reply in replies {
                #expect(reply.status == 200)
                #expect(reply.result?["tools"]?.elements?.isEmpty == false)
            }
        }
    }

    // LEG-01, LEG-06, LEG-18, LEG-20
    @Test("server-sse-polling") func polling() async throws {
        try await withSuiteClient(SuiteRun.stateful) { client in
            let fields = [
                (name: "Mcp-Session-Id", value: try #require(client.raw.sessionID)),
                (name: "MCP-Protocol-Version", value: "2025-11-25"),
            ]
            let id = try await releasedStream(7, fields)
            let other = try await releasedStream(8, fields)
            #expect(id != other)
            var again = RawPost(method: "GET", fields: fields)
            again.fields += [("Accept", "text/event-stream"), ("Last-Event-ID", id)]
            let second = try await again.send()
            #expect(second.status == 200)
            #expect(second.messages.count == 1)
            let answer = try #require(second.answer)
            #expect(answer["id"] == 7)
            #expect(answer["result"]?.block("text")?["text"] == "Reconnection test completed successfully")
        }
    }

    /// Calls the tool that lets go of its stream; returns the id of the stream's last event.
    private func releasedStream(
        _ id: Int, _ fields: [(name: String, value: String)]
    ) async throws -> String {
        let call = JSONValue.object([
            "jsonrpc": "2.0", "id": JSONValue(id), "method": "tools/call",
            "params": ["name": "test_reconnection", "arguments": [:]],
        ])
        let response = try await RawPost(fields: fields, body: call.serialized()).send()
        #expect(response.status == 200)
        #expect(response.isEventStream)
        // The first event has an id and no data; how long to wait is said, and the answer does not come here.
        let priming = try #require(response.frames.first).split(separator: "\n").map { String($0) }
        #expect(priming.contains { $0.hasPrefix("id: ") })
        #expect(priming.contains("data: ") || priming.contains("data:"))
        #expect(response.frames.contains { $0.contains("retry: 500") })
        #expect(response.messages.isEmpty)
        let lines = response.frames.flatMap { $0.split(separator: "\n") }
        return String(try #require(lines.last { $0.hasPrefix("id: ") }).dropFirst(4))
    }

    @Test("dns-rebinding-protection", arguments: SuiteRun.both)
    func dnsRebinding(_ setting: Setting) async throws {
        let port = try ServerFixture.port.get()
        var post = RawPost(body: Self.initialize)
        post.fields = [("MCP-Protocol-Version", setting.version)]
        if setting.isModern {
            post.body = RawPost.message("server/discover")
            post.fields = RawPost.standard("server/discover")
        }
        for host in ["localhost:\(port)", "127.0.0.1:\(port)", "[::1]:\(port)"] {
            var good = post
            good.fields += [("Host", host), ("Origin", "http://\(host)")]
            let response = try await good.send()
            #expect((200 ... 299).contains(response.status), "\(host): \(response.status)")
        }
        var evil = post
        evil.fields += [("Host", "evil.example.com"), ("Origin", "http://evil.example.com")]
        #expect((400 ... 499).contains(try await evil.send().status))
    }
}
