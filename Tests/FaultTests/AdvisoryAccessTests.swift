import MCPCore
import TestSupport
import Testing

/// Advisories about who may send what.
@Suite("advisories: access", .ownThreads) struct AdvisoryAccessTests {
    private static let call = Post(Message.echo(id: "1", "x"), name: "echo")

    @Test("Advisory_CVE_2025_66414") func rebinding() throws {
        // A page of evil.example whose name has been rebound to 127.0.0.1, with nothing configured.
        let connection = try HTTPDaemon.shared().connect()
        let host = "evil.example:\(connection.port)"
        for post in [
            Self.call.with("Host", host), Self.call.with("Host", host).with("Origin", "http://\(host)"),
            Self.call.with("Origin", "http://\(host)"),
            Post(Message.initialize("2025-11-25"), method: nil).with("Host", host),
        ] {
            let response = try connection.ask(post)
            #expect(response.status == 403)
            #expect(response.message == nil)
            #expect(response["mcp-session-id"] == nil)
        }
        try connection.expectAlive()
    }

    @Test("Advisory_CVE_2026_42559") func emptyOriginList() async throws {
        // The list is empty, and that does not turn the check off.
        let policy = AccessPolicy(hosts: .loopback, origins: OriginPolicy(allowed: []))
        let running = try MCPServer("test", version: "1").start([.http(.tcp(port: 0), policy: policy)])
        let text = running.addresses.first?.description ?? ""
        let port = try #require(UInt16(text.drop { $0 != ":" }.dropFirst()))
        let connection = try WireConnection(port: port)
        #expect(try connection.ask(Self.call.with("Origin", "http://evil.example")).status == 403)
        #expect(try connection.ask(Self.call.with("Origin", "null")).status == 403)
        #expect(try connection.ask(Self.call.with("Origin", "http://127.0.0.1:\(port)")).status != 403)
        await running.stop()
    }

    @Test("Advisory_GHSA_89xv_2j6f_qhc8") func crossSitePost() throws {
        // What a form or a fetch without preflight can send.
        let connection = try HTTPDaemon.shared().connect()
        for type in [
            "text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded",
            "multipart/form-data",
        ] {
            for origin in [nil, "http://evil.example", "null"] {
                let response = try connection.ask(Self.call.with("Content-Type", type).with("Origin", origin))
                #expect(response.status == (origin == nil ? 415 : 403), "\(type)")
                #expect(response.message == nil)
            }
        }
        let legacy = Post(Message.initialize("2025-11-25"), method: nil).with("Content-Type", "text/plain")
        #expect(try connection.ask(legacy).status == 415)
        try connection.expectAlive()
    }

    @Test("Advisory_CVE_2026_59950") func everyTransportHasAPolicy() async throws {
        // Without a policy there is the strict one; no initializer of the endpoint lets it out.
        try await LocalServer.serve(MCPServer("test", version: "1")) { port in
            let connection = try WireConnection(port: port)
            #expect(try connection.ask(Self.call.with("Host", "evil.example")).status == 403)
            #expect(try connection.ask(Self.call.with("Origin", "http://evil.example")).status == 403)
            let upgrade = Self.call.with("Upgrade", "websocket").with("Connection", "Upgrade")
            #expect(try connection.ask(upgrade).status != 101)
        }
    }

    @Test("Advisory_CVE_2025_49596") func noOtherEndpoints() throws {
        let connection = try HTTPDaemon.shared().connect()
        for path in [
            "/", "/sse", "/stdio?command=id&args=", "/message", "/health", "/config", "/mcp/call",
            "/.well-known/x",
        ] {
            for method in ["GET", "POST", "PUT"] {
                try connection.send(
                    "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n")
                #expect(try connection.response()?.status == 404, "\(method) \(path)")
            }
        }
        try connection.expectAlive()
    }
}
