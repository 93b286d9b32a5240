import MCPCore
import Synchronization
import TestSupport
import Testing

/// What middleware is told beside the requests that it accepts.
@Suite(.timeLimit(.minutes(5))) struct MiddlewareRefusalTests {
    private final class Notes: ServerMiddleware {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        private func add(_ line: String) { lines.withLock { $0.append(line) } }

        func didServe(_ request: IncomingRequest, _ end: RequestEnd) {
            let isLocal = request.peer?.hasPrefix("127.0.0.1:") == true
            add("\(request.name ?? "-") \(end.outcome) \(isLocal) \(request.traceContext?.traceID ?? "-")")
            if end.responseSize == 0 { add("no size") }
            if (end.response != nil) != (end.outcome != .result) { add("a response too many or too few") }
        }

        func didRefuse(_ refusal: RefusedRequest) {
            let number = refusal.status ?? refusal.code ?? 0
            add("refused \(refusal.reason.rawValue) \(number) \(refusal.detail ?? "-")")
        }
    }

    private static func text(_ name: String, meta: String = "") -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(name)","arguments":{},"_meta":{"#
            + meta + #""io.modelcontextprotocol/protocolVersion":"2026-07-28","#
            + #""io.modelcontextprotocol/clientCapabilities":{}}}}"#
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private func post(
        _ port: UInt16, _ body: String, tool: String, host: String? = nil, _ more: [(String, String)] = []
    ) throws {
        let connection = try PlainConnection(port: port)
        try connection.send(
            "POST", "/mcp",
            headers: [
                ("Host", host ?? "127.0.0.1:\(port)"), ("Content-Type", "application/json"),
                ("Accept", "application/json, text/event-stream"), ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"), ("Mcp-Name", tool),
            ] + more, body: body)
        _ = try connection.response()
    }

    @Test func overHTTP() async throws {
        let notes = Notes()
        var options = ServerOptions()
        options.middleware = [notes]
        let server = MCPServer("seen", version: "1", options: options)
        server.addTool("good", "Good") { "x" }
        server.addTool("bad", "Bad") { () throws -> String in throw ToolError("no") }
        let header = "00-\(Self.trace)-00f067aa0ba902b7-01"
        try await server.withPort { port in
            try await Task.detached {
                try post(port, Self.text("good"), tool: "good", [("traceparent", header)])
                try post(port, Self.text("bad"), tool: "bad", [("traceparent", "00-zz")])
                let meta = #""traceparent":"00-11111111111111111111111111111111-00f067aa0ba902b7-01","#
                // That of the message counts.
                try post(port, Self.text("good", meta: meta), tool: "good", [("traceparent", header)])
                try post(port, Self.text("good"), tool: "good", host: "evil.example")
                try post(port, Self.text("good"), tool: "good", [("Origin", "https://evil.example")])
                try post(port, "{", tool: "good")
                try post(port, Self.text("good").replacing("tools/call", with: "no/such"), tool: "good")
            }.value
        }
        #expect(
            notes.all == [
                "good result true \(Self.trace)", "bad toolError true -",
                "good result true 11111111111111111111111111111111",
                "refused host 403 evil.example", "refused origin 403 https://evil.example",
                "refused malformed -32700 -", "refused malformed -32020 -",
            ])
    }

    /// Writes down the clients of requests and of refusals.
    private final class Clients: ServerMiddleware {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func didServe(_ request: IncomingRequest, _ end: RequestEnd) {
            let peer = request.peer ?? "-"
            lines.withLock { $0.append(peer.hasPrefix("127.0.0.1:") ? "proxy" : peer) }
        }
        func didRefuse(_ refusal: RefusedRequest) {
            let peer = refusal.peer ?? "-"
            lines.withLock { $0.append("refused \(peer.hasPrefix("127.0.0.1:") ? "proxy" : peer)") }
        }
    }

    /// What does not arrive in time is refused like the rest, although nobody receives a response.
    @Test func requestsThatDoNotArrive() async throws {
        let (notes, clients) = (Notes(), Clients())
        var options = ServerOptions()
        options.middleware = [notes, clients]
        let server = MCPServer("seen", version: "1", options: options)
        var http = HTTPServerOptions()
        (http.headTimeout, http.bodyTimeout) = (.milliseconds(300), .milliseconds(300))
        http.proxies = try #require(ProxyPolicy(["127.0.0.1"]))
        let fields = "Content-Type: application/json\r\nX-Forwarded-For: 203.0.113.9\r\n"
        let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)"
        try await server.withPort(http) { port in
            try await onThread {
                for (text, responses) in [
                    ("P", 0), (head, 0), (head + "Content-Length: 2\r\n\r\n{", 0),
                    (head + "Transfer-Encoding: chunked\r\n\r\n5\r\nab", 0),
                    // The second on its connection.
                    (head + "Content-Length: 1\r\n\r\n{" + "GET /", 1),
                ] {
                    let socket = try WireSocket(port: port)
                    socket.send(text)
                    var reader = WireReader(socket)
                    for _ in 0 ..< responses { #expect(reader.response() != nil) }
                    #expect(reader.response() == nil)
                }
                // One that only connects has asked for nothing.
                _ = try WireSocket(port: port)
            }
        }
        // An empty line that follows a body, or precedes a request, is no part of one (RFC 9112, section 2.2).
        http.idleTimeout = .milliseconds(900)
        try await server.withPort(http) { port in
            try await onThread {
                for (text, responses) in [
                    ("\r\n", 0), (head + "Content-Length: 1\r\n\r\n{\r\n", 1),
                ] {
                    let socket = try WireSocket(port: port)
                    socket.send(text)
                    var reader = WireReader(socket)
                    for _ in 0 ..< responses { #expect(reader.response() != nil) }
                    #expect(reader.response() == nil)
                }
            }
        }
        let late = "refused timeout 408 -"
        let malformed = "refused malformed -32700 -"
        #expect(notes.all == [late, late, late, late, malformed, late, malformed])
        #expect(
            clients.all == [
                "refused proxy", "refused proxy", "refused 203.0.113.9", "refused 203.0.113.9",
                "refused 203.0.113.9", "refused proxy", "refused 203.0.113.9",
            ])
    }

    /// Clients of a proxy share its connections, and have addresses of their own.
    @Test(arguments: [true, false]) func behindAProxy(_ isTrusted: Bool) async throws {
        let clients = Clients()
        var options = ServerOptions()
        options.middleware = [clients]
        let server = MCPServer("seen", version: "1", options: options)
        server.addTool("good", "Good") { "x" }
        var http = HTTPServerOptions()
        if isTrusted { http.proxies = try #require(ProxyPolicy(["127.0.0.1"])) }
        try await server.withPort(http) { port in
            try await Task.detached {
                let connection = try PlainConnection(port: port)
                for (field, host) in [
                    ("203.0.113.9", nil), ("198.51.100.1, 2001:db8::5", nil), (nil, nil),
                    ("203.0.113.7", "evil.example"),
                ] as [(String?, String?)] {
                    try connection.send(
                        "POST", "/mcp",
                        headers: [
                            ("Host", host ?? "127.0.0.1:\(port)"), ("Content-Type", "application/json"),
                            ("Accept", "application/json, text/event-stream"),
                            ("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"),
                            ("Mcp-Name", "good"),
                        ] + (field.map { [("X-Forwarded-For", $0)] } ?? []), body: Self.text("good"))
                    _ = try connection.response()
                }
            }.value
        }
        #expect(
            clients.all
                == (isTrusted
                    ? ["203.0.113.9", "2001:db8::5", "proxy", "refused 203.0.113.7"]
                    : ["proxy", "proxy", "proxy", "refused proxy"]))
    }

    @Test(arguments: [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
        ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false),
        ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
        ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01", false), ("", false), ("\n", false),
    ])
    func traceContexts(_ text: String, _ isValid: Bool) {
        let context = TraceContext(text)
        #expect((context != nil) == isValid)
        #expect(context.map { $0.traceID.count == 32 && $0.traceparent.count == 55 } ?? true)
    }
}
