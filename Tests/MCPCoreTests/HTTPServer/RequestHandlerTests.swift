import TestSupport
import Testing

@testable import MCPCore

/// What a listener serves beside its MCP endpoint: routing, responses, further servers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RequestHandlerTests {
    static func withHandler(
        _ handler: TestHandler, server: MCPServer? = nil, _ options: HTTPServerOptions = HTTPServerOptions(),
        _ body: (UInt16, RunningServer) async throws -> Void
    ) async throws {
        var options = options
        options.loops = 1
        options.drainTimeout = .seconds(2)
        let running = try (try server ?? TestServer().server).start([
            .http(.tcp(port: 0), servers: handler, handler: handler, options: options)
        ])
        let port = try running.port()
        do {
            try await body(port, running)
        } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }

    static func request(
        _ line: String, _ fields: [String] = [], host: String = "127.0.0.1", body: String = ""
    ) -> String {
        let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
        return (["\(line) HTTP/1.1", "Host: \(host)"] + fields + length).joined(separator: "\r\n")
            + "\r\n\r\n" + body
    }

    /// The answers to requests that are sent at once on one connection.
    static func answers(_ port: UInt16, _ requests: [String], count: Int? = nil) async throws
        -> [WireResponse?]
    {
        try await onThread {
            let socket = try WireSocket(port: port, isRecorded: false)
            socket.send(requests.joined())
            var reader = WireReader(socket)
            return (0 ..< (count ?? requests.count)).map { _ in reader.response() }
        }
    }

    // MARK: Routing

    struct Route: Sendable, CustomTestStringConvertible {
        let title: String
        let request: String
        let status: Int
        var isAsked = false
        var testDescription: String { title }
    }

    static let routes: [Route] = [
        .init(title: "handled", request: request("GET /door/x"), status: 200, isAsked: true),
        .init(title: "other path", request: request("GET /other"), status: 404),
        .init(title: "prefix alone", request: request("GET /handler"), status: 404),
        // HTTP-02, HTTP-03: before the handler.
        .init(title: "foreign host", request: request("GET /door/x", host: "evil.example"), status: 403),
        .init(
            title: "foreign origin", request: request("POST /door/x", ["Origin: https://evil.example"]),
            status: 403),
        .init(title: "null origin", request: request("GET /door/x", ["Origin: null"]), status: 403),
        .init(
            title: "own origin", request: request("GET /door/x", ["Origin: http://127.0.0.1"]), status: 200,
            isAsked: true),
        .init(title: "token in the URL", request: request("GET /door/x?access_token=s"), status: 400),
        .init(title: "broken percent", request: request("GET /door/%zz"), status: 400),
        .init(title: "NUL", request: request("GET /door/%00"), status: 400),
        .init(title: "no UTF-8", request: request("GET /door/%ff"), status: 400),
        .init(title: "broken query", request: request("GET /door/x?a=%"), status: 400),
        .init(title: "TRACE", request: request("TRACE /door/x"), status: 501),
        .init(title: "handler's 401", request: request("POST /door/secret"), status: 401, isAsked: true),
        .init(title: "no content", request: request("DELETE /door/empty"), status: 204, isAsked: true),
        .init(title: "not a status", request: request("GET /door/odd"), status: 500, isAsked: true),
        .init(
            title: "handler's 426", request: request("GET /door/upgrade-by-hand"), status: 426, isAsked: true),
        // The main endpoint stays what it is.
        .init(title: "GET of the endpoint", request: request("GET /mcp"), status: 405),
    ]

    @Test(arguments: routes) func routing(_ route: Route) async throws {
        let handler = TestHandler()
        try await Self.withHandler(handler) { port, _ in
            // The connection goes on behind it.
            let call = HTTPServerTests.post(HTTPServerTests.body("server/discover"))
            let answers = try await Self.answers(port, [route.request, call])
            #expect(answers.map { $0?.status } == [route.status, 200])
            #expect(handler.seen.count == (route.isAsked ? 1 : 0))
            if route.status == 401 { #expect(answers[0]?.headers["www-authenticate"] == "Bearer") }
            if route.status == 426 {
                #expect(answers[0]?.headers["upgrade"] == "mcp")
                #expect(answers[0]?.headers["connection"] == "Upgrade")
            }
        }
    }

    /// The same through somebody else's HTTP stack.
    @Test(arguments: routes) func respond(_ route: Route) async throws {
        let handler = TestHandler()
        let lines = route.request.split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        var headers = HeaderFields()
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            try headers.append(String(parts[0]), String(parts[1]))
        }
        let request = HTTPRequest(method: String(words[0]), target: String(words[1]), headers: headers)
        let response = await (try TestServer().server).makeEndpoint(servers: handler, handler: handler)
            .respond(
                to: request)
        #expect(response.status == (route.title == "not a status" ? 99 : route.status))
        #expect(handler.seen.count == (route.isAsked ? 1 : 0))
    }

    @Test func whatTheHandlerSees() async throws {
        let handler = TestHandler()
        try await Self.withHandler(handler) { port, _ in
            let target = "/door/a%20b?x=1+2&y=%26%3D&&z"
            let chunked =
                Self.request("PUT \(target)", ["X-Field: v", "Transfer-Encoding: chunked"])
                + "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
            let plain = Self.request("PUT \(target)", ["X-Field: v"], body: "hello")
            let answers = try await Self.answers(port, [chunked, plain])
            for answer in answers {
                #expect(
                    answer?.body
                        == #"{"method":"PUT","path":"/door/a b","query":"x=1 2;y=&=;z=","body":"hello","#
                        + #""own":false,"field":"v"}"#)
            }
        }
    }

    // HTTP-27
    @Test func bodiesAreLimited() async throws {
        var options = HTTPServerOptions()
        options.limits.maxBodyBytes = 1_000
        let handler = TestHandler()
        try await Self.withHandler(handler, options) { port, _ in
            let bodies = [1_000, 1_001].map { String(repeating: "x", count: $0) }
            let answers = try await Self.answers(port, bodies.map { Self.request("POST /door/x", body: $0) })
            #expect(answers.map { $0?.status } == [200, 413])
            #expect(handler.seen.map(\.body.count) == [1_000])
        }
    }

    @Test func headHasNoBody() async throws {
        try await Self.withHandler(TestHandler()) { port, _ in
            let text = try await onThread { () -> String in
                let socket = try WireSocket(port: port, isRecorded: false)
                for path in ["x", "parts", "events"] { socket.send(Self.request("HEAD /door/\(path)")) }
                socket.send(Self.request("GET /door/last"))
                var bytes: [UInt8] = []
                while let piece = socket.receive() { bytes += piece }
                return String(decoding: bytes, as: UTF8.self)
            }
            // Nothing stands between the heads.
            let heads = text.split(separator: "\r\n\r\n", omittingEmptySubsequences: false)
            #expect(heads.map { $0.prefix(15) } == Array(repeating: "HTTP/1.1 200 OK", count: 4) + [""])
        }
    }

    @Test func aBodyInParts() async throws {
        try await Self.withHandler(TestHandler()) { port, _ in
            let texts = try await onThread { () -> [String] in
                try ["1.1", "1.0"].map { version in
                    let socket = try WireSocket(port: port, isRecorded: false)
                    socket.send(
                        "GET /door/parts HTTP/\(version)\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                    var bytes: [UInt8] = []
                    while let piece = socket.receive() { bytes += piece }
                    let text = String(decoding: bytes, as: UTF8.self)
                    return String(text.split(separator: "\r\n\r\n", maxSplits: 1)[1])
                }
            }
            #expect(
                texts == [
                    "00000004\r\none \r\n00000004\r\ntwo \r\n00000005\r\nthree\r\n0\r\n\r\n", "one two three",
                ])
        }
    }

    /// Answers leave in the order of the requests, whoever makes them.
    @Test func pipelining() async throws {
        let handler = TestHandler()
        try await Self.withHandler(handler) { port, _ in
            let call = HTTPServerTests.post(HTTPServerTests.body("server/discover"))
            let requests = [Self.request("GET /door/wait"), call, Self.request("GET /door/x"), call]
            async let answers = Self.answers(port, requests)
            #expect(await handler.asked.wait())
            handler.release.open()
            let got = try await answers
            #expect(got.map { $0?.status } == [200, 200, 200, 200])
            #expect(got[0]?.body == "released")
            #expect(got[2]?.json?["path"]?.string == "/door/x")
        }
    }

    /// Who has only stopped writing still gets the answer.
    @Test func halfClosed() async throws {
        let handler = TestHandler()
        try await Self.withHandler(handler) { port, _ in
            async let answer = onThread { () -> WireResponse? in
                let socket = try WireSocket(port: port, isRecorded: false)
                socket.send(Self.request("GET /door/wait"))
                socket.finishWriting()
                var reader = WireReader(socket)
                return reader.response()
            }
            #expect(await handler.asked.wait())
            handler.release.open()
            let got = try await answer
            #expect(got?.body == "released")
        }
    }

    @Test func whoLeavesCancels() async throws {
        let handler = TestHandler()
        try await Self.withHandler(handler) { port, _ in
            var socket: WireSocket? = try WireSocket(port: port, isRecorded: false)
            socket?.send(Self.request("GET /door/wait"))
            #expect(await handler.asked.wait())
            socket?.breakOff()
            socket = nil
            #expect(await handler.cancelled.wait())
        }
    }

    // Whoever makes events learns that their client has gone before the first one.
    @Test func whoLeavesBeforeTheEventsBegin() async throws {
        let handler = TestHandler()
        try await Self.withHandler(handler) { port, _ in
            var socket: WireSocket? = try WireSocket(port: port, isRecorded: false)
            socket?.send(Self.request("GET /door/late-events"))
            #expect(await handler.asked.wait())
            socket?.breakOff()
            socket = nil
            #expect(await handler.terminated.wait())
        }
    }

    @Test func anAnswerThatDoesNotCome() async throws {
        var options = ServerOptions()
        // Enough for the answers that come, also on a busy machine.
        options.limits.requestDeadline = .seconds(4)
        let handler = TestHandler()
        try await Self.withHandler(handler, server: MCPServer("s", version: "1", options: options)) {
            port, _ in
            let requests = [Self.request("GET /door/wait"), Self.request("GET /door/x")]
            let answers = try await Self.answers(port, requests)
            #expect(answers.map { $0?.status } == [504, 200])
            // Nothing stands behind the head that a HEAD gets.
            let text = try await onThread { () -> String in
                let socket = try WireSocket(port: port, isRecorded: false)
                socket.send(Self.request("HEAD /door/wait") + Self.request("GET /door/last"))
                var bytes: [UInt8] = []
                while let piece = socket.receive() { bytes += piece }
                return String(decoding: bytes, as: UTF8.self)
            }
            #expect(text.hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
            #expect(text.contains("\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(await handler.cancelled.wait())
        }
    }

    /// The kernel says who is at the other end of a unix socket.
    @Test func ownUser() async throws {
        let path = "/tmp/mcp-handler-\(UInt32.random(in: .min ... .max)).sock"
        let running = try TestServer().server.start([.http(.unix(path: path), handler: TestHandler())])
        let answer = try await onThread { () -> WireResponse? in
            let socket = try WireSocket(path: path)
            socket.send(Self.request("GET /door/x", host: "anything"))
            var reader = WireReader(socket)
            return reader.response()
        }
        #expect(answer?.json?["own"]?.bool == true)
        await running.stop()
    }

    @Test(arguments: [
        ("upgrade", "mcp", true), ("keep-alive, Upgrade", "h2c , MCP", true), ("Upgrade", "websocket", false),
        ("close", "mcp", false), ("", "", false), ("upgrade", " ,,", false),
    ])
    func wishToUpgrade(connection: String, upgrade: String, isOne: Bool) throws {
        let fields = try HeaderFields(["Connection": connection, "Upgrade": upgrade])
        let request = HTTPRequest(method: "POST", target: "/", headers: fields)
        #expect(request.asksToUpgrade(to: "mcp") == isOne)
    }

    // MARK: Further servers

    private static func channel(_ name: String) -> MCPServer {
        let server = MCPServer(name, version: "1")
        server.addTool("who", "Says where it is") { () in name }
        return server
    }

    private static func post(
        _ path: String, _ method: String, _ params: String = "{}", session: String? = nil
    ) -> String {
        let body = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
        return HTTPServerTests.post(
            body, method: nil, version: nil, more: session.map { "Mcp-Session-Id: \($0)\r\n" } ?? "",
            path: path)
    }

    // HTTP-01: stateless requests of each endpoint reach its own server.
    @Test func statelessRequests() async throws {
        let handler = TestHandler(servers: ["/mcp/a": Self.channel("a"), "/mcp/b c": Self.channel("b")])
        try await Self.withHandler(handler, server: Self.channel("main")) { port, _ in
            let call = HTTPServerTests.body("tools/call", #""name":"who""#)
            let requests = ["/mcp", "/mcp/a", "/mcp/b%20c", "/mcp/a?x=1"].map {
                HTTPServerTests.post(call, method: "tools/call", more: "Mcp-Name: who\r\n", path: $0)
            }
            let answers = try await Self.answers(port, requests)
            #expect(
                answers.map { $0?.json?["result"]?["content"]?[0]?["text"]?.string }
                    == ["main", "a", "b", "a"])
            let others = [
                HTTPServerTests.post(call, method: "tools/call", path: "/mcp/c"),
                // HTTP-02 and HTTP-30 hold everywhere.
                HTTPServerTests.post(call, method: "tools/call", path: "/mcp/a", host: "evil.example"),
            ]
            let text = HTTPServerTests.post(call, path: "/mcp/a", type: "text/plain")
            let refused = try await Self.answers(port, others) + Self.answers(port, [text])
            #expect(refused.map { $0?.status } == [404, 403, 415])
        }
    }

    // LEG-21, LEG-28: a session belongs to the endpoint it began at, also with one key for all.
    @Test(arguments: Setting.versions.dropLast()) func sessions(_ version: String) async throws {
        var options = ServerOptions()
        options.stateKey = [UInt8](repeating: 7, count: 32)
        let main = MCPServer("main", version: "1", options: options)
        let handler = TestHandler(servers: [
            "/mcp/a": MCPServer("a", version: "1", options: options), "/mcp/again": main,
        ])
        try await Self.withHandler(handler, server: main) { port, _ in
            let open =
                #"{"protocolVersion":"\#(version)","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#
            let paths = ["/mcp", "/mcp/a", "/mcp/again"]
            var ids: [String] = []
            for path in paths {
                let answer = try await Self.answers(port, [Self.post(path, "initialize", open)])[0]
                #expect(answer?.status == 200)
                ids.append(answer?.headers["mcp-session-id"] ?? "")
            }
            for (home, id) in zip(paths, ids) {
                let requests = paths.map { Self.post($0, "ping", session: id) }
                let ends = paths.map { Self.request("DELETE \($0)", ["Mcp-Session-Id: \(id)"]) }
                let statuses = try await Self.answers(port, requests).map { $0?.status }
                #expect(statuses == paths.map { $0 == home ? 200 : 404 })
                let after = try await Self.answers(port, ends + requests).map { $0?.status }
                #expect(after == paths.map { $0 == home ? 204 : 404 } + [404, 404, 404])
            }
        }
    }

    // LEG-12, LEG-19: streams of a session at another endpoint, taken up again on another connection.
    @Test func streamsOfASession() async throws {
        let channel = Self.channel("a")
        let handler = TestHandler(servers: ["/mcp/a": channel])
        try await Self.withHandler(handler) { port, running in
            let open =
                #"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#
            let opened = try await Self.answers(port, [Self.post("/mcp/a", "initialize", open)])[0]
            let id = try #require(opened?.headers["mcp-session-id"])
            let fields = ["Accept: text/event-stream", "Mcp-Session-Id: \(id)"]
            let stream = try WireStream(port: port, Self.request("GET /mcp/a", fields))
            #expect(await stream.until { $0.lastID != nil })
            channel.notifyToolsChanged()
            #expect(await stream.heard("notifications/tools/list_changed") != nil)
            let last = try #require(stream.events.first?.id)
            stream.close()
            let again = try WireStream(
                port: port, Self.request("GET /mcp/a", fields + ["Last-Event-ID: \(last)"]))
            #expect(await again.heard("notifications/tools/list_changed") != nil)
            // SUB-09, LEG-12: a stop ends them in good order.
            await running.stop()
            #expect(await again.until { $0.isOver })
            #expect(again.isComplete)
        }
    }

    // HTTP-24, HTTP-26: whoever leaves cancels at the server it has asked.
    @Test func cancellation() async throws {
        let channel = try TestServer()
        try await Self.withHandler(TestHandler(servers: ["/mcp/a": channel.server])) { port, _ in
            let call = HTTPServerTests.body("tools/call", #""name":"wait","arguments":{"name":"k"}"#)
            let socket = try WireSocket(port: port, isRecorded: false)
            socket.send(
                HTTPServerTests.post(
                    call, method: "tools/call", more: "Mcp-Name: wait\r\n", path: "/mcp/a"))
            #expect(await channel.begun("k").wait())
            socket.shutdown()
            #expect(await channel.cancelled.wait())
        }
    }

    /// What is remembered of endpoints is bounded, and an endpoint is that of the server it was made for.
    @Test func endpointsThatAreRemembered() {
        let router = EndpointRouter(handler: nil, servers: TestHandler())
        let home = StreamableEndpoint(server: MCPServer("s", version: "1"))
        let server = MCPServer("a", version: "1")
        let first = router.endpoint(of: server, at: "/0", beside: home)
        for number in 1 ..< EndpointRouter.maxEndpoints {
            _ = router.endpoint(of: server, at: "/\(number)", beside: home)
        }
        #expect(router.endpoint(of: server, at: "/0", beside: home) === first)
        _ = router.endpoint(of: server, at: "/more", beside: home)
        #expect(router.endpoints.count == EndpointRouter.maxEndpoints)
        #expect(router.endpoint(of: server, at: "/0", beside: home) === first)
        let other = MCPServer("b", version: "1")
        #expect(router.endpoint(of: other, at: "/0", beside: home).server === other)
        #expect(router.endpoints.count == EndpointRouter.maxEndpoints)
    }
}
