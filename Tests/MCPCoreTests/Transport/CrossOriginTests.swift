import MCPCore
import TestSupport
import Testing

/// Web pages of other origins that the policy lists may call the MCP endpoint: browsers ask for permission
/// first, and let a page read only what names its origin (the CORS protocol of the Fetch standard).
@Suite(.timeLimit(.minutes(5))) struct CrossOriginTests {
    private static let page = "https://App.example"
    private static let origin = "Origin: \(page)\r\n"

    /// Serves with one listed origin while `body` runs.
    private static func serve(
        token: Bool = false, handler: (any HTTPRequestHandler)? = nil,
        _ body: (TestServer, UInt16) async throws -> Void
    ) async throws {
        let server = try TestServer()
        let authorization =
            token ? try Protected.authorization(TestVerifier(TestVerifier.people)) : nil
        var options = HTTPServerOptions()
        options.loops = 1
        let running = try server.server.start([
            .http(
                .tcp(port: 0), handler: handler,
                policy: AccessPolicy(
                    hosts: .loopback, origins: OriginPolicy(allowed: ["https://app.example"])),
                options: options, authorization: authorization)
        ])
        do {
            try await body(server, try running.port())
        } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }

    private static func preflight(
        _ path: String = "/mcp", origin: String = page, host: String = "127.0.0.1",
        asks: Bool = true
    ) -> String {
        let question = [
            "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: authorization,content-type,mcp-param-city",
        ]
        return RequestHandlerTests.request(
            "OPTIONS \(path)", ["Origin: \(origin)"] + (asks ? question : []), host: host)
    }

    private static func expectReadable(
        _ response: WireResponse, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            response.headers["access-control-allow-origin"] == page, "\(response)", sourceLocation: location)
        #expect(response.headers["vary"] == "Origin", sourceLocation: location)
        let exposed = response.headers["access-control-expose-headers"] ?? ""
        #expect(exposed.contains("Mcp-Session-Id"), sourceLocation: location)
        #expect(response.headers["access-control-allow-credentials"] == nil, sourceLocation: location)
    }

    /// A browser asks without the page's token.
    @Test(arguments: [false, true]) func preflights(_ token: Bool) async throws {
        try await Self.serve(token: token) { _, port in
            let answer = try await Protected.answer(port, Self.preflight())
            #expect(answer.status == 204)
            Self.expectReadable(answer)
            #expect(answer.headers["access-control-allow-methods"] == "GET, POST, DELETE")
            #expect(answer.headers["access-control-allow-headers"] == "Authorization, *")
            #expect(answer.headers["access-control-max-age"] == "600")
        }
    }

    /// Nothing is there that could be asked for, which the page may read.
    @Test(arguments: [false, true]) func preflightsOfUnknownPaths(_ token: Bool) async throws {
        try await Self.serve(token: token) { _, port in
            for path in ["/other", "/", "/mcp/", "/.well-known/other"] {
                let answer = try await Protected.answer(port, Self.preflight(path))
                #expect(answer.status == 404, "\(path)")
                Self.expectReadable(answer)
            }
            let metadata = try await Protected.answer(
                port, Self.preflight("/.well-known/oauth-protected-resource/mcp"))
            #expect(metadata.status == (token ? 204 : 404))
            Self.expectReadable(metadata)
            // The host is looked at first.
            let foreign = try await Protected.answer(port, Self.preflight("/other", host: "evil.example"))
            #expect(foreign.status == 403)
        }
    }

    /// What is refused before anybody looks at the path.
    @Test(arguments: [false, true]) func bodiesThatAreTooLarge(_ isChunked: Bool) async throws {
        let length = HTTPLimits().maxBodyBytes + 1
        let framing =
            isChunked
            ? "Transfer-Encoding: chunked\r\n\r\n\(String(length, radix: 16))\r\n"
            : "Content-Length: \(length)\r\n\r\n"
        func post(_ origin: String) -> String {
            let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n"
            return head + "Content-Type: application/json\r\n\(origin)\(framing)"
        }
        try await Self.serve { _, port in
            let answer = try await Protected.answer(port, post(Self.origin))
            #expect(answer.status == 413)
            Self.expectReadable(answer)
            // Behind a request of the page, too.
            let plain = HTTPServerTests.post(HTTPServerTests.body("server/discover"), more: Self.origin)
            let answers = try await RequestHandlerTests.answers(port, [plain, post("")])
            #expect(answers.map { $0?.status } == [200, 413])
            #expect(answers[1]?.headers["access-control-allow-origin"] == nil)
        }
    }

    /// Neither other pages nor other hosts are admitted, and nothing else is learnt by asking.
    @Test func refusedPreflights() async throws {
        try await Self.serve { _, port in
            for request in [
                Self.preflight(origin: "https://evil.example"), Self.preflight(origin: "null"),
                Self.preflight(host: "evil.example"),
                Self.preflight(origin: "https://app.example.evil.example"),
            ] {
                let answer = try await Protected.answer(port, request)
                #expect(answer.status == 403)
                #expect(answer.headers["access-control-allow-methods"] == nil)
            }
            let plain = try await Protected.answer(port, Self.preflight(asks: false))
            #expect(plain.status == 405)
            let own = try await Protected.answer(port, Self.preflight(origin: "http://127.0.0.1"))
            #expect(own.status == 405)
            #expect(own.headers["access-control-allow-origin"] == nil)
        }
    }

    /// Errors included: a page that cannot read a 401 does not know that it needs a token.
    @Test func responses() async throws {
        try await Self.serve(token: true) { server, port in
            let requests = [
                (Protected.post("server/discover", more: Self.origin), 200),
                (Protected.call("add", #"{"a":1}"#, more: Self.origin), 200),
                (Protected.call("no such", more: Self.origin), 200),
                (Protected.post("no/such", more: Self.origin), 404),
                (Protected.post("server/discover", token: nil, more: Self.origin), 401),
                (Protected.post("server/discover", token: "weak", more: Self.origin), 403),
                (Protected.post("server/discover", token: "x", more: Self.origin), 401),
                (Protected.post("server/discover", more: Self.origin, path: "/other"), 404),
            ]
            for (request, status) in requests {
                let answer = try await Protected.answer(port, request)
                #expect(answer.status == status)
                Self.expectReadable(answer)
            }
            let refused = try await Protected.answer(
                port, Protected.post("server/discover", token: nil, more: Self.origin))
            #expect(refused.status == 401)
            #expect(refused.headers["www-authenticate"] != nil)
            // A call that is answered later.
            server.release.open()
            let later = try await Protected.answer(port, Protected.call("wait", more: Self.origin))
            #expect(later.status == 200)
            Self.expectReadable(later)
        }
    }

    @Test func sessionsAndStreams() async throws {
        try await Self.serve { _, port in
            let body =
                #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#
                + #""capabilities":{},"clientInfo":{"name":"page","version":"1"}}}"#
            let opened = try await Protected.answer(
                port, HTTPServerTests.post(body, method: nil, version: nil, more: Self.origin))
            #expect(opened.headers["mcp-session-id"] != nil)
            Self.expectReadable(opened)
            let filter = #""notifications":{"toolsListChanged":true}"#
            let stream = try WireStream(
                port: port,
                HTTPServerTests.post(
                    HTTPServerTests.body("subscriptions/listen", filter), method: "subscriptions/listen",
                    more: Self.origin))
            #expect(await stream.opened())
            #expect(stream.headers["content-type"] == "text/event-stream")
            #expect(stream.headers["access-control-allow-origin"] == Self.page)
            stream.close()
        }
    }

    /// The fields belong to one request: the next one on the connection may be another client's.
    @Test func otherClients() async throws {
        try await Self.serve { _, port in
            let fromPage = HTTPServerTests.post(HTTPServerTests.body("server/discover"), more: Self.origin)
            let plain = HTTPServerTests.post(HTTPServerTests.body("server/discover"))
            let own = HTTPServerTests.post(
                HTTPServerTests.body("server/discover"), more: "Origin: http://127.0.0.1\r\n")
            let answers = try await RequestHandlerTests.answers(
                port, [fromPage, plain, own, fromPage, "BAD\r\n\r\n"])
            let origins = answers.map { $0?.headers["access-control-allow-origin"] }
            #expect(origins == [Self.page, nil, nil, Self.page, nil])
            #expect(answers.map { $0?.status } == [200, 200, 200, 200, 400])
        }
    }

    /// A handler decides about pages itself.
    private struct Handler: HTTPRequestHandler {
        func handles(path: String) -> Bool { path == "/own" }
        func respond(to request: HTTPRequest) async -> HTTPResponse {
            HTTPResponse(status: request.method == "OPTIONS" ? 299 : 200)
        }
    }

    @Test func handlersAnswerThemselves() async throws {
        try await Self.serve(handler: Handler()) { _, port in
            let asked = try await Protected.answer(port, Self.preflight("/own"))
            #expect(asked.status == 299)
            #expect(asked.headers["access-control-allow-origin"] == nil)
        }
    }
}
