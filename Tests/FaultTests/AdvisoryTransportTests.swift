import MCPCore
import Synchronization
import TestSupport
import Testing

/// Advisories about the transports themselves.
@Suite("advisories: transports", .ownThreads) struct AdvisoryTransportTests {
    @Test("Advisory_go_7f67c85") func bodiesHaveALimit() throws {
        let daemon = try HTTPDaemon.shared()
        for head in ["Content-Length: 1099511627776\r\n", "Transfer-Encoding: chunked\r\n"] {
            let connection = try daemon.connect()
            try connection.send(
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\(head)\r\n")
            let chunk = Array("100000\r\n".utf8) + [UInt8](repeating: 0x20, count: 1 << 20) + [0x0D, 0x0A]
            for _ in 0 ..< 16 { try connection.send(chunk) }
            #expect(try connection.response()?.status == 413)
        }
        try daemon.expectAlive()
    }

    @Test("Advisory_MacMLX_45") func nobodyReadsTheOutput() throws {
        let process = try StdioProcess()
        try process.expectAlive()
        process.closeOutput()
        // The server may be gone before all of it is written.
        for number in 0 ..< 100 { try? process.send(line: Message.echo(id: "\(number)", "x")) }
        process.closeInput()
        #expect(process.exit() == .exited(0))
    }

    @Test("Advisory_GHSA_mgc4_wqv7_4pxm") func transferEncodingIsNotGuessed() throws {
        let smuggled = Message.echo(id: "9", "smuggled")
        for coding in [
            "\u{0B}chunked", "chunked\u{0C}", "chunked, chunked", "identity, chunked, identity", "cHuNkEd,",
            "\"chunked",
        ] {
            let connection = try HTTPDaemon.shared().connect()
            try connection.send(Post.chunkedHead(coding) + "0\r\n\r\n")
            try connection.send(Post(smuggled, name: "echo").bytes(port: connection.port))
            let response = try connection.response()
            #expect(response?.status == 400 || response?.status == 501, "\(coding)")
            #expect(connection.closes(), "\(coding)")
        }
    }

    @Test("Advisory_CVE_2026_28980") func fieldsHaveLimits() throws {
        let daemon = try HTTPDaemon.shared()
        let start = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for fields in [
            String(repeating: "a: b\r\n", count: 5_000),
            "a: " + String(repeating: "b", count: 100_000) + "\r\n",
            String(repeating: "a", count: 100_000) + ": b\r\n",
            String(repeating: "a: \(String(repeating: "b", count: 900))\r\n", count: 40),
        ] {
            let connection = try daemon.connect()
            try connection.send(start + fields + "\r\n")
            #expect(try connection.response()?.status == 431)
            #expect(connection.closes() || connection.wasReset)
        }
        try daemon.expectAlive()
    }

    @Test("Advisory_rmcp_66712db") func secretsAreNotShown() async throws {
        let secret = Redacted("canary-7341")
        struct Holder { let token: Redacted<String> }
        for text in [
            "\(secret)", String(reflecting: secret), "\(Holder(token: secret))",
            String(reflecting: Holder(token: secret)),
        ] {
            #expect(!text.contains("canary"), "\(text)")
        }
        var dumped = ""
        dump(Holder(token: secret), to: &dumped)
        #expect(!dumped.contains("canary"))
        // What a client traces of its requests has no credentials in it.
        let daemon = try HTTPDaemon.shared()
        let traced = Mutex<[String]>([])
        var options = ClientOptions()
        options.headers = [("Authorization", "Bearer canary-7341"), ("X-Key", "canary-7341")]
        options.trace = { event in traced.withLock { $0.append("\(event)") } }
        let client = try await MCPClient.connect(
            .http("http://127.0.0.1:\(daemon.port)/mcp"), options: options)
        _ = try await client.listTools()
        await client.close()
        let lines = traced.withLock { $0 }
        #expect(!lines.isEmpty)
        #expect(!lines.contains { $0.contains("canary") })
        #expect(!daemon.errors.contains("canary"))
    }
}
