import MCPCore
import TestSupport
import Testing

/// Requests from somebody who must not, or for something that is not there.
@Suite("faults: HTTP access", .ownThreads) struct HTTPAccessFaults {
    static let echo = Post(Message.echo(id: "1", "x"), name: "echo")

    @Test("fault 54: the Host field") func fault54() throws {
        let daemon = try HTTPDaemon.shared()
        let bytes = String(decoding: Self.echo.bytes(port: daemon.port), as: UTF8.self)
        let line = "Host: 127.0.0.1:\(daemon.port)\r\n"
        let replacements = [
            "", line + line, line + "Host: localhost\r\n", "Host: \r\n", "Host: a b\r\n",
            "Host: user@127.0.0.1\r\n",
            "Host: 127.0.0.1:\r\nHost: x\r\n", "Host: 127.0.0.1:99999\r\n", "Host: 127.0.0.1:x\r\n",
            "Host: [::1\r\n",
            "Host: 127.0.0.1/mcp\r\n", "Host: http://127.0.0.1\r\n", "Host: 127.0.0.1, 127.0.0.1\r\n",
            "Host: :80\r\n",
        ]
        for replacement in replacements {
            let connection = try daemon.connect()
            try connection.send(bytes.replacing(line, with: replacement))
            #expect(try connection.response()?.status == 400, "\(replacement)")
            #expect(connection.closes(), "\(replacement)")
        }
        // An absolute target names the same host, or none at all.
        let connection = try daemon.connect()
        var post = Self.echo
        post.requestLine = "POST http://127.0.0.1:\(daemon.port)/mcp HTTP/1.1"
        #expect(try connection.ask(post).status == 200)
        post.requestLine = "POST http://evil.example/mcp HTTP/1.1"
        #expect(try connection.ask(post).status == 400)
        #expect(connection.closes())
        try daemon.expectAlive()
    }

    @Test("fault 55: a foreign Host, as DNS rebinding brings it") func fault55() throws {
        let connection = try HTTPDaemon.shared().connect()
        let port = connection.port
        for host in [
            "evil.example", "evil.example:\(port)", "127.0.0.1.evil.example", "localhost.evil.example",
            "127.0.0.2",
            "localhost.", "0.0.0.0", "[::]", "[::2]:\(port)", "2130706433", "0x7f000001", "127.1",
            "evil.example:127",
        ] {
            let response = try connection.ask(Self.echo.with("Host", host))
            #expect(response.status == 403, "\(host)")
            #expect(response.message == nil)
        }
        for host in ["127.0.0.1", "localhost", "LOCALHOST:\(port)", "[::1]:\(port)", "127.0.0.1:1"] {
            #expect(try connection.ask(Self.echo.with("Host", host)).status == 200, "\(host)")
        }
    }

    @Test("fault 56: a foreign Origin") func fault56() throws {
        let connection = try HTTPDaemon.shared().connect()
        let port = connection.port
        for origin in [
            "http://evil.example", "null", "", "x", "http://", "http://127.0.0.1.evil.example", "file://",
            "http://evil.example, http://127.0.0.1:\(port)", "http://127.0.0.1:1",
            "http://127.0.0.1:\(port)/",
            "http://127.0.0.1:\(port).evil.example", "http://user@127.0.0.1:\(port)",
            "https://localhost:\(port)",
        ] {
            let response = try connection.ask(Self.echo.with("Origin", origin))
            #expect(response.status == 403, "\(origin)")
            #expect(response["access-control-allow-origin"] == nil)
        }
        let twice = Self.echo.with("Origin", "http://127.0.0.1:\(port)").adding(
            "Origin", "http://evil.example")
        #expect(try connection.ask(twice).status == 403)
        #expect(try connection.ask(Self.echo.with("Origin", "http://127.0.0.1:\(port)")).status == 200)
        try connection.expectAlive()
    }

    @Test("fault 57: the types that a web page can send without asking") func fault57() throws {
        let connection = try HTTPDaemon.shared().connect()
        for type in [
            nil, "", "text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded",
            "text/json",
            "multipart/form-data; boundary=x", "application/jsonx", "application/json-seq",
            "application/problem+json",
            "text/plain, application/json", "application/json, text/plain", "application", "json",
        ] {
            let response = try connection.ask(Self.echo.with("Content-Type", type))
            #expect(response.status == 415, "\(type ?? "none")")
        }
        #expect(try connection.ask(Self.echo.adding("Content-Type", "text/plain")).status == 415)
        for type in ["application/json; charset=utf-8", "Application/JSON"] {
            #expect(try connection.ask(Self.echo.with("Content-Type", type)).status == 200, "\(type)")
        }
    }

    @Test("fault 58: what the client accepts") func fault58() throws {
        let connection = try HTTPDaemon.shared().connect()
        for accept in [
            "application/json", "text/event-stream", "text/html", "application/json;q=0, text/event-stream",
            "*/*, text/event-stream;q=0", "", ",,;;=", "application/json, text/event-stream;q=0.0",
        ] {
            #expect(try connection.ask(Self.echo.with("Accept", accept)).status == 406, "\(accept)")
        }
        for accept in [nil, "*/*", "text/*, application/*", "text/event-stream;q=0.1,APPLICATION/JSON"] {
            #expect(try connection.ask(Self.echo.with("Accept", accept)).status == 200, "\(accept ?? "none")")
        }
        let split = Self.echo.with("Accept", "application/json").adding("Accept", "text/event-stream")
        #expect(try connection.ask(split).status == 200)
    }

    @Test("fault 59: other methods") func fault59() throws {
        let daemon = try HTTPDaemon.shared()
        let connection = try daemon.connect()
        for method in ["GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"] {
            try connection.send("\(method) /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            let response = try connection.response(hasBody: method != "HEAD")
            #expect(response?.status == 405, "\(method)")
            #expect(response?["allow"]?.contains("POST") == true, "\(method)")
            try connection.expectAlive()
        }
        for method in ["TRACE", "BREW", "post", "GETT"] {
            try connection.send("\(method) /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            #expect(try connection.response()?.status == 501, "\(method)")
            try connection.expectAlive()
        }
        try connection.send("CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n")
        #expect(try connection.response()?.status == 501)
        // Other paths are not there, whatever is asked of them.
        for path in ["/", "/mcp/", "/MCP", "/mcp/../mcp", "//mcp", "/%6dcp", "/mcp%00"] {
            var post = Self.echo
            post.requestLine = "POST \(path) HTTP/1.1"
            #expect(try connection.ask(post).status == 404, "\(path)")
        }
        let long = try daemon.connect()
        try long.send(String(repeating: "X", count: 1_024) + " /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        #expect(try long.response()?.status == 501)
        #expect(long.closes())
        try daemon.expectAlive()
    }

    @Test("fault 60: a preflight from a foreign origin") func fault60() throws {
        let connection = try HTTPDaemon.shared().connect()
        for origin in ["http://evil.example", "null", "http://127.0.0.1:\(connection.port)"] {
            try connection.send(
                "OPTIONS /mcp HTTP/1.1\r\nHost: 127.0.0.1:\(connection.port)\r\nOrigin: \(origin)\r\n"
                    + "Access-Control-Request-Method: POST\r\n"
                    + "Access-Control-Request-Headers: content-type\r\n\r\n"
            )
            let response = try #require(try connection.response())
            #expect(response.status == 403 || response.status == 405)
            #expect(!response.fields.contains { $0.name.hasPrefix("access-control-") })
        }
        try connection.expectAlive()
    }
}
