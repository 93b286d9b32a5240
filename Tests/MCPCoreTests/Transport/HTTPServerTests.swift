import Dispatch
import MCPCore
import TestSupport
import Testing

/// The bytes of Streamable HTTP: statuses, headers, connections.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HTTPServerTests {
    struct Exchange: Sendable, CustomTestStringConvertible {
        let title: String
        let request: String
        let status: Int
        var code: Int?

        init(_ title: String, _ request: String, _ status: Int, _ code: Int? = nil) {
            (self.title, self.request, self.status, self.code) = (title, request, status, code)
        }

        var testDescription: String { title }
    }

    static let meta =
        #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#

    static func body(_ method: String, _ members: String = "", id: String? = "1") -> String {
        let id = id.map { #""id":\#($0),"# } ?? ""
        return
            #"{"jsonrpc":"2.0",\#(id)"method":"\#(method)","params":{\#(members.isEmpty ? "" : members + ",")\#(meta)}}"#
    }

    static func post(
        _ body: String, method: String? = "server/discover", version: String? = "2026-07-28",
        more: String = "",
        path: String = "/mcp", host: String = "127.0.0.1", type: String? = "application/json",
        accept: String? = "application/json, text/event-stream"
    ) -> String {
        var head = "POST \(path) HTTP/1.1\r\nHost: \(host)\r\n"
        if let type { head += "Content-Type: \(type)\r\n" }
        if let accept { head += "Accept: \(accept)\r\n" }
        if let version { head += "MCP-Protocol-Version: \(version)\r\n" }
        if let method { head += "Mcp-Method: \(method)\r\n" }
        return head + more + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
    }

    private static let discover = body("server/discover")
    private static let add = body("tools/call", #""name":"add","arguments":{"a":1}"#)

    /// Table 1, and HTTP's own refusals.
    static let exchanges: [Exchange] = [
        .init("discover", post(discover), 200),
        .init("call", post(add, method: "tools/call", more: "Mcp-Name: add\r\n"), 200),
        // HDR-07
        .init("call with spaces", post(add, method: " tools/call\t", more: "Mcp-Name:   add \r\n"), 200),
        .init(
            "unknown tool",
            post(body("tools/call", #""name":"x""#), method: "tools/call", more: "Mcp-Name: x\r\n"),
            200, -32602),
        // HTTP-08
        .init("notification", post(body("notifications/cancelled", id: nil), method: nil), 202),
        .init("unknown notification", post(body("notifications/x", id: nil), method: nil), 202),
        .init("refused notification", post(body("notifications/x", id: nil), method: "y"), 400, -32020),
        // HTTP-07
        .init("response", post(#"{"jsonrpc":"2.0","id":1,"result":{}}"#), 400, -32600),
        .init("array", post("[\(discover)]"), 400, -32600),
        .init("not JSON", post("{"), 400, -32700),
        .init("empty", post(""), 400, -32700),
        .init("id null", post(body("server/discover", id: "null")), 400, -32600),
        .init("deep", post(String(repeating: "[", count: 200)), 400, -32700),
        // HTTP-10, HTTP-11, HTTP-12, HTTP-14
        .init("unknown method", post(body("no/such"), method: "no/such"), 404, -32601),
        .init(
            "unknown version",
            post(discover.replacing("2026-07-28", with: "2031-01-01"), version: "2031-01-01"),
            400, -32022),
        .init("no version header", post(discover, version: nil), 400, -32020),
        .init("no method header", post(discover, method: nil), 400, -32020),
        .init("wrong method header", post(discover, method: "x"), 400, -32020),
        .init(
            "version header twice", post(discover, more: "MCP-Protocol-Version: 2026-07-28\r\n"), 400, -32020),
        .init(
            "header without claim", post(#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#), 400, -32602
        ),
        .init(
            "no session", post(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, method: nil, version: nil),
            400,
            -32600),
        // HTTP-02, HTTP-03, HTTP-06
        .init("foreign host", post(discover, host: "evil.example"), 403),
        .init("foreign origin", post(discover, more: "Origin: https://evil.example\r\n"), 403),
        .init("null origin", post(discover, more: "Origin: null\r\n"), 403),
        .init("own origin", post(discover, more: "Origin: http://127.0.0.1\r\n"), 200),
        // HTTP-16, LEG-13
        .init("GET", "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n", 405),
        .init("DELETE", "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405),
        .init("PUT", "PUT /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}", 405),
        .init("OPTIONS", "OPTIONS /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405),
        .init("TRACE", "TRACE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 501),
        // HTTP-01
        .init("other path", post(discover, path: "/other"), 404),
        .init("path with a query", post(discover, path: "/mcp?x=1"), 200),
        .init("token in the URL", post(discover, path: "/mcp?access_token=s"), 400),
        // HTTP-30
        .init("no type", post(discover, type: nil), 415),
        .init("text", post(discover, type: "text/plain"), 415),
        .init("type with a parameter", post(discover, type: "Application/JSON; charset=utf-8"), 200),
        .init("compressed", post(discover, more: "Content-Encoding: gzip\r\n"), 415),
        .init("compressed twice", post(discover, more: "Content-Encoding: identity, br\r\n"), 415),
        .init(
            "compressed in the second field",
            post(discover, more: "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n"), 415),
        .init("not compressed", post(discover, more: "content-encoding: Identity\r\n"), 200),
        .init("accepts only JSON", post(discover, accept: "application/json"), 406),
        .init("accepts HTML", post(discover, accept: "text/html"), 406),
        .init("accepts anything", post(discover, accept: "*/*"), 200),
        .init("no Accept", post(discover, accept: nil), 200),
        // HTTP-17, HTTP-23
        .init(
            "session id on a modern request",
            post(discover, more: "Mcp-Session-Id: nonsense\r\nLast-Event-ID: 7\r\n"),
            200),
        .init(
            "session that never was",
            post(
                #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, method: nil,
                version: "2025-06-18", more: "Mcp-Session-Id: nonsense\r\n"), 404, -32600),
        .init("no Host", post(discover).replacing("Host: 127.0.0.1\r\n", with: ""), 400),
        .init("not HTTP", "nonsense\r\n\r\n", 400),
    ]

    /// Runs blocking code on a thread of its own.
    private static func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "test.blocking").async { continuation.resume(with: Result(catching: body)) }
        }
    }

    @Test(arguments: exchanges) func answers(_ exchange: Exchange) async throws {
        try await TestServer().server.withPort { port in
            let response = try await Self.blocking { () throws -> WireResponse? in
                let socket = try WireSocket(port: port)
                socket.send(exchange.request)
                var reader = WireReader(socket)
                return reader.response()
            }
            #expect(response?.status == exchange.status)
            #expect(response?.json?["error"]?["code"]?.int == exchange.code)
            if exchange.status == 405 { #expect(response?.headers["allow"]?.contains("POST") == true) }
            if exchange.code != nil { #expect(response?.headers["content-type"] == "application/json") }
            if exchange.title.hasPrefix("compressed") {
                #expect(response?.headers["accept-encoding"] == "identity")
            }
            #expect(response?.headers["mcp-session-id"] == nil)
        }
    }

    /// The same requests through somebody else's HTTP stack get the same answers.
    @Test(arguments: exchanges.filter { !["not HTTP", "no Host"].contains($0.title) })
    func respond(_ exchange: Exchange) async throws {
        let parts = exchange.request.split(
            separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        var headers = HeaderFields()
        for line in lines.dropFirst() {
            let colon = try #require(line.firstIndex(of: ":"))
            try headers.append(String(line[..<colon]), String(line[line.index(after: colon)...]))
        }
        let request = HTTPRequest(
            method: String(words[0]), target: String(words[1]), headers: headers, body: Array(parts[1].utf8))
        let response = await (try TestServer().server).respond(to: request)
        #expect(response.status == exchange.status)
        let json = response.body.bytes.flatMap { try? RawJSON(validating: ByteSlice($0)) }
        #expect(json?["error"]?["code"]?.int == exchange.code)
    }

    // MARK: Sessions

    private static func legacy(_ body: String, session: String? = nil, version: String? = nil) -> String {
        post(body, method: nil, version: version, more: session.map { "Mcp-Session-Id: \($0)\r\n" } ?? "")
    }

    private static func initialize(_ version: String) -> String {
        legacy(
            #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"\#(version)","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#
        )
    }

    // LEG-21, LEG-23, LEG-24, LEG-26
    @Test(arguments: Setting.versions.dropLast()) func lifeOfASession(_ version: String) async throws {
        try await TestServer().server.withPort { port in
            let statuses = try await Self.blocking { () throws -> [Int?] in
                let socket = try WireSocket(port: port)
                var reader = WireReader(socket)
                func ask(_ request: String) -> WireResponse? {
                    socket.send(request)
                    return reader.response()
                }
                let ping = #"{"jsonrpc":"2.0","id":2,"method":"ping"}"#
                let opened = ask(Self.initialize(version))
                let id = opened?.headers["mcp-session-id"] ?? ""
                let end = "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Session-Id: \(id)\r\n\r\n"
                return [
                    opened?.status, ask(Self.legacy(ping, session: id, version: version))?.status,
                    ask(Self.legacy(ping, session: id + "x"))?.status,
                    ask(Self.legacy(#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#))?.status,
                    // HDR-03
                    ask(Self.legacy(ping, session: id, version: "1999-01-01"))?.status,
                    // An answer to nobody's question is taken and dropped (LEG-03).
                    ask(Self.legacy(#"{"jsonrpc":"2.0","id":9,"result":{}}"#, session: id))?.status,
                    ask(end)?.status, ask(Self.legacy(ping, session: id))?.status, ask(end)?.status,
                ]
            }
            #expect(statuses == [200, 200, 404, 400, 400, 202, 204, 404, 404])
        }
    }

    // JRPC-26: with a key of its own a restarted server goes on with its sessions.
    @Test func sessionsOutliveAServer() async throws {
        var options = ServerOptions()
        options.stateKey = [UInt8](repeating: 9, count: 32)
        var id = ""
        for round in 0 ..< 2 {
            try await TestServer(options).server.withPort { port in
                let session = id
                id = try await Self.blocking { () throws -> String in
                    let socket = try WireSocket(port: port)
                    var reader = WireReader(socket)
                    if round == 0 {
                        socket.send(Self.initialize("2025-11-25"))
                        return reader.response()?.headers["mcp-session-id"] ?? ""
                    }
                    socket.send(
                        Self.legacy(#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#, session: session))
                    return "\(reader.response()?.status ?? 0)"
                }
            }
        }
        #expect(id == "200")
    }

    // MARK: Connections

    /// Requests that come at once are answered in order, whatever they need.
    @Test func pipelining() async throws {
        try await TestServer().server.withPort { port in
            let answers = try await Self.blocking { () throws -> [String] in
                let socket = try WireSocket(port: port)
                var text = ""
                for number in 0 ..< 30 {
                    let tool = number % 3 == 0 ? "later" : "add"
                    let call = Self.body(
                        "tools/call", #""name":"\#(tool)","arguments":{"a":\#(number)}"#, id: "\(number)")
                    text += Self.post(call, method: "tools/call", more: "Mcp-Name: \(tool)\r\n")
                }
                socket.send(text)
                var reader = WireReader(socket)
                return (0 ..< 30).map { _ in reader.response()?.json?["id"].map { "\($0)" } ?? "-" }
            }
            #expect(answers == (0 ..< 30).map { "\($0)" })
        }
    }

    /// A request in any number of pieces is the same request.
    @Test(arguments: [1, 2, 7, 100]) func pieces(_ size: Int) async throws {
        try await TestServer().server.withPort { port in
            let response = try await Self.blocking { () throws -> WireResponse? in
                let socket = try WireSocket(port: port)
                var rest = Array(Self.post(Self.add, method: "tools/call", more: "Mcp-Name: add\r\n").utf8)[
                    ...]
                while !rest.isEmpty {
                    socket.send(Array(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                var reader = WireReader(socket)
                return reader.response()
            }
            #expect(response?.json?["result"]?["content"]?[0]?["text"]?.string == "1")
        }
    }

    @Test func chunkedBody() async throws {
        try await TestServer().server.withPort { port in
            let response = try await Self.blocking { () throws -> WireResponse? in
                let socket = try WireSocket(port: port)
                let head = Self.post(Self.add, method: "tools/call", more: "Mcp-Name: add\r\n")
                    .split(separator: "Content-Length")[0]
                socket.send(head + "Transfer-Encoding: chunked\r\n\r\n")
                for start in stride(from: 0, to: Self.add.count, by: 50) {
                    let piece = Self.add.dropFirst(start).prefix(50)
                    socket.send(String(piece.utf8.count, radix: 16) + "\r\n" + piece + "\r\n")
                }
                socket.send("0\r\n\r\n")
                var reader = WireReader(socket)
                return reader.response()
            }
            #expect(response?.status == 200)
            #expect(response?.json?["result"]?["content"]?[0]?["text"]?.string == "1")
        }
    }

    // HTTP-27
    @Test func limits() async throws {
        var options = HTTPServerOptions()
        options.limits.maxBodyBytes = 1000
        try await TestServer().server.withPort(options) { port in
            func status(_ request: String) async throws -> Int? {
                try await Self.blocking { () throws -> Int? in
                    let socket = try WireSocket(port: port)
                    socket.send(request)
                    var reader = WireReader(socket)
                    return reader.response()?.status
                }
            }
            let field = "X-Long: " + String(repeating: "x", count: 40_000) + "\r\n"
            let statuses = [
                try await status(Self.post(String(repeating: " ", count: 1001))),
                try await status(Self.post(Self.discover, more: field)),
                try await status(Self.post(Self.discover)),
            ]
            #expect(statuses == [413, 431, 200])
        }
    }

    /// The server goes on after a client that sends nonsense, or nothing, or leaves in the middle.
    @Test func clientsThatLeave() async throws {
        try await TestServer().server.withPort { port in
            let status = try await Self.blocking { () throws -> Int? in
                let whole = Self.post(Self.add, method: "tools/call", more: "Mcp-Name: add\r\n")
                for length in stride(from: 0, through: whole.utf8.count, by: 40) {
                    let socket = try WireSocket(port: port)
                    socket.send(String(whole.prefix(length)))
                    socket.shutdown()
                }
                let socket = try WireSocket(port: port)
                socket.send(whole)
                var reader = WireReader(socket)
                return reader.response()?.status
            }
            #expect(status == 200)
        }
    }

    /// A stop lets what is in flight finish.
    @Test func draining() async throws {
        let test = try TestServer()
        var options = HTTPServerOptions()
        options.loops = 1
        let running = try test.server.start([.http(.tcp(port: 0), options: options)])
        let port = try running.port()
        async let response = Self.blocking { () throws -> WireResponse? in
            let socket = try WireSocket(port: port)
            let call = Self.body("tools/call", #""name":"wait","arguments":{"name":"d"}"#)
            socket.send(Self.post(call, method: "tools/call", more: "Mcp-Name: wait\r\n"))
            var reader = WireReader(socket)
            return reader.response()
        }
        #expect(await test.begun("d").wait())
        #expect(running.requestStop())
        #expect(!running.requestStop())
        async let stopped: Void = running.waitUntilEnded()
        test.release.open()
        await stopped
        #expect(try await response?.json?["result"]?["content"]?[0]?["text"]?.string == "released d")
        #expect(throws: (any Error).self) { try WireSocket(port: port) }
    }

    @Test func addressesThatOthersReach() throws {
        let server = MCPServer("s", version: "1")
        for host in ["0.0.0.0", "::", "example.com"] {
            let error = #expect(throws: ListenError.self) {
                try server.start([.http(.tcp(host: host, port: 0))])
            }
            #expect(error?.description.contains("127.0.0.1") == true)
        }
    }

    /// A server that authenticates its callers may listen there; this address is nobody's (RFC 5737).
    @Test func anAddressOfTheNetworkWithAuthorization() throws {
        let server = MCPServer("s", version: "1")
        let authorization = try Protected.authorization(TestVerifier(TestVerifier.people))
        let error = #expect(throws: ListenError.self) {
            try server.start([.http(.tcp(host: "192.0.2.1", port: 0), authorization: authorization)])
        }
        #expect(error?.description.contains("authenticates nobody") == false, "\(String(describing: error))")
    }
}
