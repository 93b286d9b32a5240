import MCPCore
import TestSupport
import Testing

/// Event streams of a handler, and connections that leave HTTP by it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HandlerResponseTests {
    private static func events(_ port: UInt16, _ fields: [String] = []) throws -> WireStream {
        try WireStream(port: port, RequestHandlerTests.request("GET /door/events", fields))
    }

    // MARK: Events

    // HTTP-20, HTTP-22
    @Test func events() async throws {
        let handler = TestHandler()
        var options = HTTPServerOptions()
        options.keepAliveInterval = .milliseconds(20)
        try await RequestHandlerTests.withHandler(handler, options) { port, _ in
            let stream = try Self.events(port, ["Last-Event-ID: 41"])
            #expect(await stream.opened())
            #expect(stream.headers["content-type"] == "text/event-stream")
            #expect(stream.headers["cache-control"] == "no-store")
            #expect(stream.headers["x-accel-buffering"] == "no")
            #expect(handler.seen.first?.headers["Last-Event-ID"] == "41")
            handler.send(#"{"a":1}"#, id: "42")
            handler.send("two\nlines")
            #expect(await stream.until { $0.events.count == 2 })
            #expect(stream.events.map(\.id) == ["42", nil])
            #expect(stream.events.map(\.data) == [#"{"a":1}"#, "twolines"])
            // A comment while nothing happens.
            #expect(await stream.until { $0.comments >= 2 })
            handler.finish()
            #expect(await stream.until { $0.isComplete })
            #expect(!stream.isOver)
            stream.close()
        }
    }

    /// After the end of a stream the connection goes on.
    @Test func theConnectionGoesOn() async throws {
        let handler = TestHandler()
        try await RequestHandlerTests.withHandler(handler) { port, _ in
            async let answers = RequestHandlerTests.answers(
                port,
                [RequestHandlerTests.request("GET /door/events"), RequestHandlerTests.request("GET /door/x")])
            #expect(await handler.begun.wait())
            handler.send("1")
            handler.finish()
            let got = try await answers
            #expect(got.map { $0?.status } == [200, 200])
            #expect(got[0]?.events == ["1"])
        }
    }

    @Test(arguments: [false, true]) func whoLeavesEndsTheStream(onlyWriting: Bool) async throws {
        let handler = TestHandler()
        try await RequestHandlerTests.withHandler(handler) { port, _ in
            let socket = try WireSocket(port: port, isRecorded: false)
            socket.send(RequestHandlerTests.request("GET /door/events"))
            #expect(await handler.begun.wait())
            #expect(!handler.terminated.isOpen)
            if onlyWriting { socket.finishWriting() } else { socket.shutdown() }
            #expect(await handler.terminated.wait())
        }
    }

    /// Who had stopped writing before the stream began.
    @Test func whoHasLeft() async throws {
        let handler = TestHandler()
        try await RequestHandlerTests.withHandler(handler) { port, _ in
            let text = try await onThread { () -> [UInt8] in
                let socket = try WireSocket(port: port, isRecorded: false)
                socket.send(RequestHandlerTests.request("GET /door/events"))
                socket.finishWriting()
                var bytes: [UInt8] = []
                while let piece = socket.receive() { bytes += piece }
                return bytes
            }
            // Nothing, or the head when that was quicker; in any case the end.
            #expect(!String(decoding: text, as: UTF8.self).contains("data:"))
            #expect(await handler.terminated.wait())
        }
    }

    // HTTP/1.0 has no chunks: the end of the connection is the end of the stream.
    @Test func http10() async throws {
        let handler = TestHandler()
        try await RequestHandlerTests.withHandler(handler) { port, _ in
            async let text = onThread { () -> String in
                let socket = try WireSocket(port: port, isRecorded: false)
                socket.send("GET /door/events HTTP/1.0\r\n\r\n")
                var bytes: [UInt8] = []
                while let piece = socket.receive() { bytes += piece }
                return String(decoding: bytes, as: UTF8.self)
            }
            #expect(await handler.begun.wait())
            handler.send("x", id: "1")
            handler.finish()
            let got = try await text
            #expect(got.hasSuffix("Connection: close\r\n\r\nid: 1\ndata: x\n\n"))
        }
    }

    // Fault 63: who does not read is cut off at the limit, and nobody else notices.
    @Test func slowReader() async throws {
        var options = ServerOptions()
        options.limits.maxOutputBytes = 64 << 10
        let handler = TestHandler()
        let server = MCPServer("s", version: "1", options: options)
        try await RequestHandlerTests.withHandler(handler, server: server) { port, _ in
            let socket = try WireSocket(port: port, isRecorded: false)
            socket.send(RequestHandlerTests.request("GET /door/events"))
            #expect(await handler.begun.wait())
            let large = String(repeating: "x", count: 256 << 10)
            // Systems hold some megabytes on their own before a writer has to wait.
            var sent = 0
            while !handler.terminated.isOpen, sent < 400 {
                sent += 1
                handler.send(large)
                let answers = try await RequestHandlerTests.answers(
                    port, [RequestHandlerTests.request("GET /door/x")])
                #expect(answers[0]?.status == 200)
            }
            #expect((1 ..< 400).contains(sent), "\(sent)")
            socket.shutdown()
        }
    }

    /// Through somebody else's HTTP stack: the same events, and the same end when nobody reads.
    @Test func respond() async throws {
        let handler = TestHandler()
        let endpoint = try TestServer().server.makeEndpoint(handler: handler)
        let request = HTTPRequest(
            method: "GET", target: "/door/events", headers: try HeaderFields(["Host": "localhost"]))
        let reader = Task { () -> [UInt8]? in
            let response = await endpoint.respond(to: request)
            guard response.headers["Content-Type"] == "text/event-stream" else { return nil }
            for await part in response.body.parts { return part }
            return nil
        }
        #expect(await handler.begun.wait())
        handler.send("x", id: "7")
        #expect(await reader.value.map { String(decoding: $0, as: UTF8.self) } == "id: 7\ndata: x\n\n")
        #expect(await handler.terminated.wait())
        let upgrade = HTTPRequest(
            method: "POST", target: "/door/upgrade", headers: try HeaderFields(["Host": "localhost"]))
        #expect(await endpoint.respond(to: upgrade).status == 501)
    }

    // MARK: Upgrades

    private static let upgrade = RequestHandlerTests.request(
        "POST /door/upgrade?channel=c", ["Connection: Upgrade", "Upgrade: mcp", "Content-Length: 0"])

    private static let switched =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: mcp\r\n\r\n"

    /// What comes behind the head, at once and later, reaches the new owner; nothing of it is read as HTTP.
    @Test(arguments: ["", "first\n", "GET /door/x HTTP/1.1\r\n\r\n"]) func upgrading(rest: String)
        async throws
    {
        let handler = TestHandler()
        try await RequestHandlerTests.withHandler(handler) { port, _ in
            let text = try await onThread { () -> [String] in
                let socket = try WireSocket(port: port, isRecorded: false)
                // Behind an answer of HTTP.
                let before = RequestHandlerTests.request("GET /door/last").replacing("last", with: "x")
                socket.send(before + Self.upgrade + rest)
                var bytes: [UInt8] = []
                func read(until end: String) -> String {
                    while !String(decoding: bytes, as: UTF8.self).hasSuffix(end),
                        let piece = socket.receive()
                    {
                        bytes += piece
                    }
                    defer { bytes = [] }
                    return String(decoding: bytes, as: UTF8.self)
                }
                let first = read(until: Self.switched + rest)
                socket.send("second\n")
                let second = read(until: "second\n")
                socket.finishWriting()
                return [first, second, read(until: "never")]
            }
            #expect(text[0].hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(text[0].hasSuffix("}" + Self.switched + rest))
            #expect(Array(text.dropFirst()) == ["second\n", ""])
            #expect(await handler.ended.wait())
            #expect(handler.seen.count == 2)
            #expect(handler.seen.last?.parameter("channel") == "c")
        }
    }

    @Test(arguments: [
        ["Content-Length: 0"], ["Upgrade: mcp"], ["Connection: upgrade"],
        ["Connection: Upgrade", "Upgrade: websocket"],
    ]) func notAskedFor(fields: [String]) async throws {
        let handler = TestHandler()
        try await RequestHandlerTests.withHandler(handler) { port, _ in
            let request = RequestHandlerTests.request("POST /door/upgrade", fields)
            let answers = try await RequestHandlerTests.answers(port, [request, Self.upgrade], count: 2)
            #expect(answers.map { $0?.status } == [426, 101])
            #expect(answers[0]?.headers["upgrade"] == "mcp")
            #expect(answers[0]?.headers["connection"] == "Upgrade")
        }
    }

    // RFC 9110, section 7.8
    @Test func notInHTTP10() async throws {
        try await RequestHandlerTests.withHandler(TestHandler()) { port, _ in
            let request = Self.upgrade.replacing("HTTP/1.1", with: "HTTP/1.0")
            let answers = try await RequestHandlerTests.answers(port, [request])
            #expect(answers[0]?.status == 426)
        }
    }

    // MARK: The end of the server

    /// Streams end in good order, answers that are being made still leave, and nobody waits for sockets that
    /// have left.
    @Test func stopping() async throws {
        let handler = TestHandler()
        var options = HTTPServerOptions()
        options.loops = 1
        let running = try TestServer().server.start([
            .http(.tcp(port: 0), handler: handler, options: options)
        ])
        let port = try running.port()
        let stream = try Self.events(port)
        #expect(await stream.opened())
        async let answer = RequestHandlerTests.answers(port, [RequestHandlerTests.request("GET /door/wait")])
        #expect(await handler.asked.wait())
        let upgraded = try WireSocket(port: port, isRecorded: false)
        upgraded.send(Self.upgrade)
        #expect(await onThread { upgraded.receive() } == Array(Self.switched.utf8))
        async let stopped: Void = running.stop()
        #expect(await stream.until { $0.isOver })
        #expect(stream.isComplete)
        #expect(await handler.terminated.wait())
        handler.release.open()
        #expect(try await answer[0]?.body == "released")
        await stopped
        // Its owner is somebody else now.
        upgraded.send("still here\n")
        #expect(await onThread { upgraded.receive() } == Array("still here\n".utf8))
        upgraded.shutdown()
        #expect(await handler.ended.wait())
    }

    /// An answer that does not come within the time to drain is given up.
    @Test func stoppingWithoutAnAnswer() async throws {
        let handler = TestHandler()
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .milliseconds(50)
        let running = try TestServer().server.start([
            .http(.tcp(port: 0), handler: handler, options: options)
        ])
        let port = try running.port()
        async let answer = RequestHandlerTests.answers(port, [RequestHandlerTests.request("GET /door/wait")])
        #expect(await handler.asked.wait())
        await running.stop()
        #expect(try await answer[0] == nil)
        #expect(await handler.cancelled.wait())
    }
}
