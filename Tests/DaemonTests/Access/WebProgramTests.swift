import MCPCore
import TestSupport
import Testing

/// Names, web pages and proxies that a configuration allows, at a real program.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WebProgramTests {
    private static func ask(
        _ program: WatchedProgram, host: String? = nil, _ more: [(String, String)] = []
    ) async throws -> Int {
        let headers = [
            ("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list"),
        ]
        let body =
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"#
            + #""io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
        return try await PlainHTTP.send(
            "POST", "/mcp", port: try #require(program.port), host: host, headers: headers + more, body: body
        ).status
    }

    /// Fault rows 55 and 56; and every refusal is a line of the audit log.
    @Test func namesAndPages() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            """
            { "hosts": ["mcp.example.com"], "origins": ["https://app.example.com"],
              "observe": { "audit": { "file": "audit.jsonl" } }, "tools": { "t": { "exec": ["true"] } } }
            """)
        let program = try await WatchedProgram(
            ["-c", "\(directory.path)/mcp.jsonc", "--listen", "127.0.0.1:0"])
        #expect(try await Self.ask(program) == 200)
        #expect(try await Self.ask(program, host: "localhost") == 200)
        #expect(try await Self.ask(program, host: "mcp.example.com") == 200)
        #expect(try await Self.ask(program, host: "evil.example") == 403)
        #expect(try await Self.ask(program, host: "mcp.example.com.evil.example") == 403)
        #expect(try await Self.ask(program, [("Origin", "https://app.example.com")]) == 200)
        #expect(try await Self.ask(program, [("Origin", "https://evil.example")]) == 403)
        #expect(try await Self.ask(program, [("Origin", "null")]) == 403)
        await program.stop()
        let audit = try Files.read("\(directory.path)/audit.jsonl", maxBytes: 1 << 20)
            .split(separator: 0x0A).map { try JSONValue(parsing: Array($0)) }
        let refused = audit.filter { $0["event"] == "refused" }
        #expect(refused.map { $0["reason"] } == ["host", "host", "origin", "origin"], "\(refused)")
        #expect(refused.allSatisfy { $0["status"] == 403 })
        #expect(refused.first?["detail"] == "evil.example")
        #expect(refused.allSatisfy { $0["address"]?.stringValue?.hasPrefix("127.0.0.1:") == true })
    }

    /// Wrong tokens are counted by the client that a trusted proxy names: one does not lock out another.
    @Test(arguments: [true, false]) func clientsBehindAProxy(_ isTrusted: Bool) async throws {
        let directory = try TemporaryDirectory()
        try directory.write("tokens.json", #"{"version":1,"tokens":[]}"#)
        let proxies = isTrusted ? #""trustedProxies": ["127.0.0.1"], "# : ""
        try directory.write(
            "mcp.jsonc",
            #"{ \#(proxies)"auth": { "tokens": "tokens.json" }, "tools": { "t": { "exec": ["true"] } } }"#)
        let program = try await WatchedProgram(
            ["-c", "\(directory.path)/mcp.jsonc", "--listen", "127.0.0.1:0"])
        func wrong(_ client: String, _ number: Int) async throws -> Int {
            try await Self.ask(
                program, [("X-Forwarded-For", client), ("Authorization", "Bearer mcps_wrong\(number)")])
        }
        var (statuses, number) = (Set<Int>(), 0)
        // Ten in a second are too many: they are sent until that is so.
        while number < 2_000, !statuses.contains(429) {
            number += 1
            statuses.insert(try await wrong("192.0.2.1", number))
        }
        #expect(statuses == [401, 429])
        #expect(try await wrong("192.0.2.2", number + 1) == (isTrusted ? 401 : 429))
        await program.stop()
    }
}
