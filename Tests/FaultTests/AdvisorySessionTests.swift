import TestSupport
import Testing

@testable import MCPCore

/// Advisories about telling clients apart.
@Suite("advisories: sessions", .ownThreads) struct AdvisorySessionTests {
    @Test("Advisory_CVE_2026_25536") func answersGoToTheirClient() throws {
        let daemon = try HTTPDaemon.shared()
        // Sixteen clients with the id 1, all in flight at once, the first one longest.
        let clients = try (0 ..< 16).map { _ in try daemon.connect() }
        for (number, client) in clients.enumerated() {
            let seconds = "0.\(531 - 2 * number)"
            let post = Post(Message.call(id: "1", "slow", #"{"seconds":\#(seconds)}"#), name: "slow")
            try client.send(post.with("Authorization", "Bearer client-\(number)").bytes(port: daemon.port))
        }
        for (number, client) in clients.enumerated() {
            let response = try #require(try client.response())
            #expect(response.answer?.text == "waited 0.\(531 - 2 * number) s")
            #expect(!response.description.contains("Bearer"))
        }
        // And 120 answers at once, on connections that are used again.
        for round in 0 ..< 120 {
            let client = clients[round % clients.count]
            #expect(
                try client.ask(Post(Message.echo(id: "1", "round \(round)"), name: "echo")).message?.text
                    == "round \(round)")
        }
    }

    @Test("Advisory_CVE_2026_52869") func sessionsBelongToTheirPrincipal() throws {
        let sessions = LegacySessions(keys: StateKeys(SystemRandom().bytes(32)))
        let id = ByteSlice(
            sessions.make(
                NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "alice", now: 100,
                uptime: 0,
                random: SystemRandom().bytes(16)))
        #expect(
            try sessions.open(id, principal: "alice", now: 100, uptime: 0).negotiated.revision.version
                == Revision.newestLegacy.version)
        for principal in ["", "bob", "Alice", "alice\u{0}", "alic"] {
            #expect(throws: LegacySessions.Refusal.self, "\(principal)") {
                try sessions.open(id, principal: principal, now: 100, uptime: 0)
            }
        }
    }

    @Test("Advisory_CVE_2026_52870") func nobodyCancelsForOthers() throws {
        let daemon = try HTTPDaemon.shared()
        let (mine, other) = (try daemon.openSession("2025-11-25"), try daemon.openSession("2025-11-25"))
        let connection = try daemon.connect()
        let call = Message.legacy(id: "1", "tools/call", #"{"name":"slow","arguments":{"seconds":0.3}}"#)
        try connection.send(Post(call, method: nil).with("Mcp-Session-Id", mine).bytes(port: daemon.port))
        let cancel = #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#
        #expect(try daemon.ask(Post(cancel, method: nil).with("Mcp-Session-Id", other)).status == 202)
        #expect(try daemon.ask(Post(Message.cancel("1"), method: "notifications/cancelled")).status == 202)
        let end = try daemon.connect()
        try end.send("DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Session-Id: \(other)\r\n\r\n")
        #expect(try end.response()?.status == 204)
        #expect(try connection.response()?.answer?.text == "waited 0.3 s")
    }

    @Test("Advisory_CVE_2025_6515") func sessionIDsAreRandom() throws {
        let daemon = try HTTPDaemon.shared()
        let ids = try (0 ..< 50).map { _ in try daemon.openSession("2025-11-25") }
        #expect(Set(ids).count == ids.count)
        // 128 random bits: at each of their places many values occur.
        let bytes = try ids.map { try #require(Base64URL.decode(ByteSlice($0))) }
        for place in 27 ..< 43 { #expect(Set(bytes.map { $0[place] }).count > 25, "byte \(place)") }
    }

    @Test("Advisory_GHSA_9pj6_vhgr_3mwh") func noSessionWithoutInitialize() throws {
        let daemon = try HTTPDaemon.shared()
        let connection = try daemon.connect()
        let attempts = [
            Post(Message.legacy(id: "1", "ping"), method: nil),
            Post(Message.legacy(id: "1", "tools/list"), method: nil),
            Post(Message.legacy(id: "1", "initialize"), method: nil), Post("{", method: nil),
            Post(Message.legacy(id: "1", "initialize", #"{"protocolVersion":7}"#), method: nil),
            Post(Message.initialize("2025-11-25"), method: nil).with("Origin", "http://evil.example"),
            Post(Message.initialized, method: nil), Post(Message.echo(id: "1", "x"), name: "echo"),
        ]
        for post in attempts { #expect(try connection.ask(post)["mcp-session-id"] == nil) }
        try connection.expectAlive()
    }
}
