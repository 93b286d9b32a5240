import TestSupport
import Testing

@testable import MCPCore

/// Sessions of the handshake revisions over HTTP.
@Suite("faults: sessions", .ownThreads) struct SessionFaults {
    @Test("fault 70: sessions that are unknown, ended or somebody else's") func fault70() throws {
        let daemon = try HTTPDaemon.shared()
        let connection = try daemon.connect()
        let session = try daemon.openSession("2025-06-18")
        #expect(session.utf8.allSatisfy { (0x21 ... 0x7E).contains($0) })
        let ping = Post(Message.legacy(id: "1", "ping"), method: nil)
        #expect(try connection.ask(ping.with("Mcp-Session-Id", session)).status == 200)
        let flipped = (session.first == "A" ? "B" : "A") + session.dropFirst()
        for id in [
            "", "x", flipped, String(session.dropLast()), session + "A",
            String(repeating: "A", count: session.count),
            String(repeating: "A", count: 30_000), "=?base64?QQ==?=", session.lowercased(), "null", "../../x",
        ] {
            let response = try connection.ask(ping.with("Mcp-Session-Id", id))
            #expect(response.status == 404, "\(id.prefix(40))")
            // An error without an id: what the session says is not looked at.
            #expect(response.message?.code == -32600)
            #expect(response.message?.hasID == false)
        }
        #expect(
            try connection.ask(ping.with("Mcp-Session-Id", session).adding("Mcp-Session-Id", session)).status
                == 400)
        // Two sessions have different ids, and both live.
        let other = try daemon.openSession("2025-11-25")
        #expect(other != session)
        // DELETE ends one of them only.
        let end = "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Session-Id: "
        try connection.send(end + session + "\r\n\r\n")
        #expect(try connection.response()?.status == 204)
        #expect(try connection.ask(ping.with("Mcp-Session-Id", session)).status == 404)
        #expect(try connection.ask(ping.with("Mcp-Session-Id", other)).status == 200)
        for id in [session, "x"] {
            try connection.send(end + id + "\r\n\r\n")
            #expect(try connection.response()?.status == 404)
        }
        // HTTP-17: a stateless request does not look at it.
        let modern = Post(Message.echo(id: "1", "x"), name: "echo").with("Mcp-Session-Id", "x")
        let served = try connection.ask(modern)
        #expect(served.status == 200)
        #expect(served["mcp-session-id"] == nil)
        // A refused initialize opens none.
        let refused = try connection.ask(Post(Message.legacy(id: "1", "initialize", "{}"), method: nil))
        #expect(refused.message?.code == -32602)
        #expect(refused["mcp-session-id"] == nil)
        try connection.expectAlive()
    }

    @Test("fault 70: expiry, other principals, and any number of sessions") func fault70Lifetime() throws {
        let sessions = LegacySessions(keys: StateKeys([1, 2, 3]), lifetime: 3_600)
        let random = [UInt8](repeating: 7, count: 16)
        let id = ByteSlice(
            sessions.make(
                NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "alice", now: 1_000,
                uptime: 0, random: random))
        _ = try sessions.open(id, principal: "alice", now: 4_599, uptime: 3_599)
        for (principal, now) in [("alice", Int64(4_600)), ("bob", 1_000), ("", 1_000)] {
            #expect(throws: LegacySessions.Refusal.self) {
                try sessions.open(id, principal: principal, now: now, uptime: now - 1_000)
            }
        }
        let stranger = LegacySessions(keys: StateKeys([1, 2, 4]), lifetime: 3_600)
        #expect(throws: LegacySessions.Refusal.self) {
            try stranger.open(id, principal: "alice", now: 1_000, uptime: 0)
        }
        // A session costs no memory here, so there is no number of them that evicts another one. The daemon is
        // this test's own: others allocate memory in the shared one.
        let daemon = try HTTPDaemon()
        let connection = try daemon.connect()
        let first = try daemon.openSession("2025-11-25")
        let before = ServerProgram.memory(of: daemon.pid, "VmRSS")
        let open = Post(Message.initialize("2025-11-25"), method: nil).bytes(port: daemon.port)
        for _ in 0 ..< 20 {
            try connection.send((0 ..< 100).flatMap { _ in open })
            for _ in 0 ..< 100 { #expect(try connection.response()?.status == 200) }
        }
        if let before, let after = ServerProgram.memory(of: daemon.pid, "VmRSS") {
            #expect(after - before < 8_192, "\(after - before) KiB for 2000 sessions")
        }
        let ping = Post(Message.legacy(id: "1", "ping"), method: nil).with("Mcp-Session-Id", first)
        #expect(try connection.ask(ping).status == 200)
    }

    @Test("fault 71: Last-Event-ID opens nobody's stream") func fault71() throws {
        let daemon = try HTTPDaemon.shared()
        let connection = try daemon.connect()
        let session = try daemon.openSession("2025-11-25")
        for id in ["1", session, "../x", "\u{7E}", String(repeating: "9", count: 8_000), "=?base64?QQ==?="] {
            try connection.send(
                "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
                    + "Mcp-Session-Id: \(session)\r\nLast-Event-ID: \(id)\r\n\r\n")
            // LEG-20: there is no such stream of this session.
            #expect(try connection.response()?.status == 400)
            // HTTP-17: a stateless request does not look at it.
            let post = Post(Message.echo(id: "1", "x"), name: "echo").with("Last-Event-ID", id)
            #expect(try connection.ask(post).message?.text == "x")
        }
        try connection.send("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nLast-Event-ID: a\u{0}b\r\n\r\n")
        #expect(try connection.response()?.status == 400)
        #expect(connection.closes())
        try daemon.expectAlive()
    }
}
