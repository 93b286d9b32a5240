import MCPCore
import TestSupport
import Testing

/// Requests that two readers could understand differently, or that are larger than allowed.
@Suite("faults: HTTP framing", .ownThreads) struct HTTPFramingFaults {
    static let host = "Host: 127.0.0.1"
    static let type = "Content-Type: application/json"
    static let body = Message.legacy(id: "1", "ping")

    /// Sends bytes on a new connection: one answer with one of the statuses, and the end.
    private func expectRefusal(
        _ head: [String], _ body: String = Self.body, _ statuses: Set<Int> = [400], lineEnd: String = "\r\n"
    ) throws {
        let text = head.joined(separator: lineEnd) + lineEnd + lineEnd + body
        try expectRefusal(bytes: Array(text.utf8), statuses, named: head.dropFirst().joined(separator: " | "))
    }

    private func expectRefusal(bytes: [UInt8], _ statuses: Set<Int> = [400], named name: String) throws {
        let connection = try HTTPDaemon.shared().connect()
        // What is smuggled behind it must not be served.
        try connection.send(
            bytes + Post(Message.echo(id: "1", "smuggled"), name: "echo").bytes(port: connection.port))
        let response = try connection.response()
        #expect(statuses.contains(response?.status ?? 0), "\(name): \(response?.status ?? 0)")
        #expect(response?["connection"] == "close", "\(name)")
        #expect(connection.closes(), "\(name)")
    }

    private static let post = "POST /mcp HTTP/1.1"

    @Test("fault 48: Transfer-Encoding that says two things") func fault48() throws {
        let chunked = "\(String(Self.body.utf8.count, radix: 16))\r\n\(Self.body)\r\n0\r\n\r\n"
        let length = "Content-Length: \(Self.body.utf8.count)"
        for codings in [
            "chunked, gzip", "chunked,chunked", "xchunked", "chunked, identity", "", ",chunked",
            "chunked;q=1",
            "\"chunked\"", "chunk ed",
        ] {
            try expectRefusal(
                [Self.post, Self.host, Self.type, "Transfer-Encoding: \(codings)"], chunked, [400, 501])
        }
        try expectRefusal([Self.post, Self.host, Self.type, "Transfer-Encoding: chunked", length], chunked)
        try expectRefusal([Self.post, Self.host, Self.type, length, "Transfer-Encoding: chunked"], chunked)
        try expectRefusal(
            [Self.post, Self.host, Self.type, length, "Transfer-Encoding: xchunked"], chunked, [400, 501])
        try expectRefusal(
            [Self.post, Self.host, Self.type, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
            chunked)
        try expectRefusal(
            ["POST /mcp HTTP/1.0", Self.host, Self.type, "Transfer-Encoding: chunked"], chunked)
        try expectRefusal([Self.post, Self.host, Self.type, "Transfer-Encoding: gzip"], chunked, [501])
        try expectRefusal([Self.post, Self.host, Self.type, "Transfer-Encoding : chunked"], chunked)
        // In any case of letters it is the coding itself.
        let connection = try HTTPDaemon.shared().connect()
        let post = Post("", method: nil).with("Transfer-Encoding", "CHUNKED")
        try connection.send(post.bytes(port: connection.port) + Array(chunked.utf8))
        #expect(try connection.response()?.status == 200)
        try connection.expectAlive()
    }

    @Test("fault 49: Content-Length that says two things") func fault49() throws {
        for length in [
            "+5", "-5", "0x5", "5 5", "5,5", "5, 6", "five", "", "5.0", "5e0", "18446744073709551616", "५",
        ] {
            try expectRefusal(
                [Self.post, Self.host, Self.type, "Content-Length: \(length)"], Self.body, [400, 413])
        }
        for pair in [("5", "6"), ("5", "5")] {
            try expectRefusal(
                [Self.post, Self.host, Self.type, "Content-Length: \(pair.0)", "Content-Length: \(pair.1)"])
        }
        try expectRefusal(
            [Self.post, Self.host, Self.type, "Content-Length: 9223372036854775807"], "", [413])
        try HTTPDaemon.shared().expectAlive()
    }

    @Test("fault 50: field lines that are none") func fault50() throws {
        let length = "Content-Length: \(Self.body.utf8.count)"
        for line in [
            "X-Test : 1", "X-Test\t: 1", " X-Test: 1", "\tfolded", "X Test: 1", ": 1", "X-Test", "X-Tést: 1",
            "X-Test: a\rb", "X-Test: a\nb: c", "X-Test: \u{0}", "X-Test: \u{1}", "X-Test: \u{7F}",
            "X(Test): 1",
        ] {
            try expectRefusal([Self.post, Self.host, Self.type, length, line])
        }
        try expectRefusal([Self.post, Self.host, Self.type, length, "X-Test: a", " folded"])
        // Bare line feeds, and a bare carriage return at the end of the head.
        try expectRefusal([Self.post, Self.host, Self.type, length], lineEnd: "\n")
        try expectRefusal(
            bytes: Array("\(Self.post)\r\n\(Self.host)\r\n\(length)\r\r\n\(Self.body)".utf8),
            named: "CR CR LF")
        for line in [
            "POST  /mcp HTTP/1.1", "POST /mcp  HTTP/1.1", "POST /mcp HTTP/1.1 ", " POST /mcp HTTP/1.1",
            "POST\t/mcp HTTP/1.1", "POST /m cp HTTP/1.1",
        ] {
            try expectRefusal([line, Self.host, Self.type, length])
        }
        try HTTPDaemon.shared().expectAlive()
    }

    @Test("fault 51: chunks that do not add up") func fault51() throws {
        let head = [Self.post, Self.host, Self.type, "Transfer-Encoding: chunked"]
        let bad = [
            "FFFFFFFFFFFFFFFF\r\n", "10000000000000000\r\n", "8000000000000000\r\nx", "-1\r\n", "+5\r\n",
            "0x5\r\n",
            "5 \r\nhello\r\n", " 5\r\nhello\r\n", "\r\n", "g\r\n", "5\nhello\r\n0\r\n\r\n",
            "5\r\nhello0\r\n\r\n",
            "5\r\nhelloworld\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\rhello\r\n0\r\n\r\n",
            "5\r\nhello\r\r\n",
            // The last chunk is missing, and the next request stands where it should be.
            "5\r\nhello\r\n",
            // Trailers follow the rules of field lines.
            "0\r\nX Test: 1\r\n\r\n", "0\r\n X: 1\r\n\r\n", "0\r\nX: a\u{0}\r\n\r\n", "0\r\nX: 1\n\r\n",
        ]
        for chunks in bad { try expectRefusal(head, chunks, chunks.hasPrefix("FFFF") ? [400, 413] : [400]) }
        try expectRefusal(head, "5;\(String(repeating: "x", count: 1 << 20))\r\nhello\r\n0\r\n\r\n")
        let tiny = (0 ..< 5_000).map { _ in "1;x\r\n[\r\n" }.joined()
        try expectRefusal(head, tiny)
        try expectRefusal(head, "0\r\n" + String(repeating: "X: 1\r\n", count: 200) + "\r\n", [431])
        // The client has closed its side before the last chunk.
        let connection = try HTTPDaemon.shared().connect()
        try connection.send("\(head.joined(separator: "\r\n"))\r\n\r\n5\r\nhello\r\n")
        try connection.finishWriting()
        #expect(try connection.response()?.status == 400)
        #expect(connection.closes())
        // Extensions and trailers within the limits are dropped.
        let good = try HTTPDaemon.shared().connect()
        let size = String(Self.body.utf8.count, radix: 16)
        try good.send(
            Post.chunkedHead() + "\(size);a=b;c=\"d\"\r\n\(Self.body)\r\n0\r\nX: 1\r\n\r\n")
        #expect(try good.response()?.message?["result"] == [:])
        try good.expectAlive()
    }

    @Test("fault 52: heads that are too large") func fault52() throws {
        let daemon = try HTTPDaemon()
        try daemon.expectAlive()
        let before = ServerProgram.memory(of: daemon.pid, "VmHWM")
        let start = "\(Self.post)\r\n\(Self.host)\r\n"
        let cases: [(String, Int)] = [
            (start + "X: " + String(repeating: "x", count: 1 << 20) + "\r\n\r\n", 431),
            (start + String(repeating: "X: 1\r\n", count: 100_000) + "\r\n", 431),
            (start + String(repeating: "X: 1\r\n", count: 101) + "\r\n", 431),
            (
                "POST /mcp?" + String(repeating: "x", count: 1 << 20) + " HTTP/1.1\r\n\(Self.host)\r\n\r\n",
                414
            ),
            ("POST /" + String(repeating: "x", count: 9_000), 414),
            (start + String(repeating: "X", count: 1 << 20), 431),
        ]
        for _ in 0 ..< 5 {
            for (text, status) in cases {
                let connection = try daemon.connect()
                try connection.send(text)
                let response = try connection.response()
                #expect(response?.status == status, "\(text.prefix(30))")
                #expect(connection.closes() || connection.wasReset)
            }
        }
        if let before, let after = ServerProgram.memory(of: daemon.pid, "VmHWM") {
            #expect(after - before < 4_096, "\(after - before) KiB")
        }
        try daemon.expectAlive()
    }

    @Test("fault 53: bodies that are too large") func fault53() throws {
        let daemon = try HTTPDaemon.shared()
        let limit = 4 << 20
        // By Content-Length: before a byte of the body is sent.
        let announced = try daemon.connect()
        try announced.send(
            "\(Self.post)\r\n\(Self.host)\r\n\(Self.type)\r\nContent-Length: \(limit + 1)\r\n\r\n")
        #expect(try announced.response()?.status == 413)
        #expect(announced.closes())
        // By chunks: as soon as the limit is passed.
        let chunked = try daemon.connect()
        try chunked.send("\(Self.post)\r\n\(Self.host)\r\n\(Self.type)\r\nTransfer-Encoding: chunked\r\n\r\n")
        try chunked.send("400000\r\n" + String(repeating: " ", count: limit) + "\r\n")
        try chunked.send("1\r\n")
        #expect(try chunked.response()?.status == 413)
        #expect(chunked.closes())
        // Exactly the limit is served.
        let text = Message.echo(id: "1", "x")
        let padded = text + String(repeating: " ", count: limit - text.utf8.count)
        #expect(try daemon.ask(Post(padded, name: "echo")).message?.text == "x")
        // A smaller limit of the configuration holds, over HTTP and over stdio.
        let small = try HTTPDaemon(["--set", "limits.body=2KiB"])
        #expect(try small.ask(Post(String(repeating: " ", count: 2_049))).status == 413)
        try small.expectAlive()
        let process = try StdioProcess(["--set", "limits.body=2KiB"])
        for length in [2_049, 100_000, 1 << 20] {
            let answer = try process.ask(String(repeating: "x", count: length))
            #expect(answer.code == -32600)
            #expect(!answer.hasID)
            try process.expectAlive()
        }
    }

    @Test("fault 61: other protocols on the port") func fault61() throws {
        let daemon = try HTTPDaemon.shared()
        let old = try daemon.connect()
        var post = Post(Self.body, method: nil)
        post.requestLine = "POST /mcp HTTP/1.0"
        let served = try old.ask(post)
        #expect(served.status == 200)
        #expect(served.message?["result"] == [:])
        #expect(old.closes())
        let others: [(String, [UInt8], Set<Int>)] = [
            ("HTTP/0.9", Array("GET /mcp\r\n".utf8), [400]),
            ("HTTP/2", Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8), [400, 505]),
            ("HTTP/1.2", Array("POST /mcp HTTP/1.2\r\n\r\n".utf8), [400, 505]),
            ("HTTP/3.0", Array("POST /mcp HTTP/3.0\r\n\r\n".utf8), [400, 505]),
            ("http/1.1", Array("POST /mcp http/1.1\r\n\r\n".utf8), [400, 505]),
            ("TLS", [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3] + [UInt8](repeating: 7, count: 506), [400]),
            ("SSH", Array("SSH-2.0-OpenSSH_9.6\r\n".utf8), [400]),
            ("JSON", Array((Self.body + "\n").utf8), [400]),
            ("SMTP", Array("EHLO example.com\r\n".utf8), [400]),
        ]
        for (name, bytes, statuses) in others { try expectRefusal(bytes: bytes, statuses, named: name) }
        try daemon.expectAlive()
    }

    @Test("fault 67: expectations") func fault67() throws {
        let daemon = try HTTPDaemon.shared()
        let connection = try daemon.connect()
        let expecting = Post(Self.body, method: nil).with("Expect", "100-continue")
        let bytes = expecting.bytes(port: daemon.port)
        try connection.send(Array(bytes.dropLast(Self.body.utf8.count)))
        #expect(try connection.response()?.status == 100)
        try connection.send(Self.body)
        #expect(try connection.response()?.message?["result"] == [:])
        try connection.expectAlive()
        // No 100 where the head does not pass.
        for (post, status) in [
            (expecting.with("Content-Type", "text/plain"), 415),
            (expecting.with("Origin", "http://evil.example"), 403),
            (expecting.with("Content-Length", "5000000"), 413),
        ] {
            let refused = try daemon.connect()
            let bytes = post.bytes(port: daemon.port)
            try refused.send(Array(bytes.dropLast(Self.body.utf8.count)))
            #expect(try refused.response()?.status == status)
            #expect(refused.closes())
        }
        let unknown = try daemon.connect()
        #expect(try unknown.ask(Post(Self.body, method: nil).with("Expect", "200-ok")).status == 417)
        #expect(unknown.closes())
        try daemon.expectAlive()
    }
}
