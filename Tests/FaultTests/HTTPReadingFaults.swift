import Synchronization
import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What a server reads, and what it holds of what it read.
@Suite("faults: HTTP reading", .ownThreads) struct HTTPReadingFaults {
    /// What the systems at both ends hold on their own, many times over.
    private static let kernelBytes = 48 << 20

    private static func server(_ limits: (inout ServerLimits) -> Void = { _ in }) throws -> (
        MCPServer, Release
    ) {
        var options = ServerOptions()
        limits(&options.limits)
        let server = MCPServer("test", version: "1", options: options)
        server.addTool("echo", "Returns the text.", schema: #"{"type":"object"}"#) { arguments, _, out in
            out.text(arguments["text"])
        }
        let release = Release()
        try server.register(Tool("wait", inputSchema: ["type": "object"])) { _, context in
            while !release.isOpen, !context.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            return .text("")
        }
        server.addTool("long", "Returns 8 MB.", schema: #"{"type":"object"}"#) { _, _, out in
            out.text(String(repeating: "l", count: 8_000_000))
        }
        return (server, release)
    }

    private final class Release: Sendable {
        private let state = Mutex(false)
        var isOpen: Bool { state.withLock { $0 } }
        func open() { state.withLock { $0 = true } }
    }

    /// Leaves HTTP at once.
    private struct UpgradingHandler: HTTPRequestHandler {
        func handles(path: String) -> Bool { path == "/up" }
        func respond(to request: HTTPRequest) async -> HTTPResponse {
            .upgrade(to: "test") { socket in _ = FileDescriptor(owning: socket.release()) }
        }
    }

    private static func comesTrue(_ condition: () -> Bool) async throws -> Bool {
        let deadline = Deadline(.seconds(20))
        while !condition(), !deadline.isOver { try await Task.sleep(for: .milliseconds(2)) }
        return condition()
    }

    private static let garbage = [UInt8](repeating: 0x78, count: 1 << 20)

    @Test("fault 63: what stands behind a request that is being served stays in the socket")
    func fault63Behind() async throws {
        let (server, release) = try Self.server { $0.maxOutputBytes = 64 << 20 }
        try await LocalServer.serve(server, handler: UpgradingHandler()) { port in
            func expectBlocked(_ connection: WireConnection, _ name: String) throws {
                let sent = try connection.sendUntilBlocked(
                    Self.garbage, quiet: .milliseconds(300), atMost: 2 * Self.kernelBytes)
                #expect(sent < Self.kernelBytes, "\(name): \(sent) bytes were taken")
                try WireConnection(port: port).expectAlive()
            }
            // A call that takes time.
            let deferred = try WireConnection(port: port)
            try deferred.send(Post(Message.call(id: "1", "wait", "{}"), name: "wait").bytes(port: port))
            #expect(try await Self.comesTrue { server.probe.requests == 1 })
            try expectBlocked(deferred, "a call")
            // A quiet stream.
            let opener = try WireConnection(port: port)
            let session = try #require(
                try opener.ask(Post(Message.initialize("2025-11-25"), method: nil))["mcp-session-id"])
            let stream = try WireConnection(port: port)
            try stream.send(
                "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
                    + "Mcp-Session-Id: \(session)\r\n\r\n")
            try stream.waitForBytes(20)
            try expectBlocked(stream, "a stream")
            // A connection that leaves HTTP and whose answers are not read.
            let leaving = try WireConnection(port: port, receiveBuffer: 8_192)
            try leaving.send(Post(Message.call(id: "1", "long", "{}"), name: "long").bytes(port: port))
            try leaving.send(Post(Message.call(id: "2", "long", "{}"), name: "long").bytes(port: port))
            try leaving.send(
                "GET /up HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: test\r\n\r\n")
            try expectBlocked(leaving, "an upgrade")
            leaving.close()
            // What is read ahead, and no more, is held of the other two.
            #expect(try await Self.comesTrue { server.dispatcher.memory.used < 4 * HTTPConnection.readBytes })
            release.open()
        }
    }

    @Test("fault 53: bodies that memory is too short for are refused, small messages are served")
    func fault53Memory() async throws {
        let limit = 8 << 20
        let (server, release) = try Self.server { $0.maxMemoryBytes = limit }
        try await LocalServer.serve(server) { port in
            let memory = server.dispatcher.memory
            let text = String(repeating: "t", count: 1 << 20)
            let post = Post(Message.echo(id: "1", text), name: "echo").bytes(port: port)
            // Who announces and sends nothing takes nothing.
            let head = Post([], name: "echo").with("Content-Length", "4000000").bytes(port: port)
            let quiet = try (0 ..< 50).map { _ in
                let connection = try WireConnection(port: port)
                try connection.send(head)
                return connection
            }
            #expect(
                try WireConnection(port: port).ask(Post(Message.echo(id: "1", text), name: "echo")).status
                    == 200)
            #expect(memory.used < limit / 2)
            // Who sends, and does not come to an end.
            var refused = 0
            var open: [WireConnection] = []
            for _ in 0 ..< 24 {
                let connection = try WireConnection(port: port)
                try connection.send(Array(post.dropLast()))
                // One loop for each connection or two: what it says to a small call comes after that.
                try WireConnection(port: port).expectAlive()
                open.append(connection)
            }
            for connection in open {
                guard let response = try? connection.response(within: .milliseconds(100)) else { continue }
                refused += 1
                #expect(response.status == 503)
                #expect(response["retry-after"] == "1")
            }
            #expect((8 ..< 24).contains(refused), "\(refused)")
            #expect(memory.used <= limit + (2 << 20))
            // Before a client sends what it only asks about.
            let asking = try WireConnection(port: port)
            try asking.send(
                Post([], name: "echo").with("Content-Length", "4000000").with("Expect", "100-continue").bytes(
                    port: port))
            #expect(try asking.response()?.status == 503)
            for connection in open + quiet { connection.close() }
            #expect(try await Self.comesTrue { memory.used < 2 << 20 })
            // Handed on, a body counts until its request is over.
            let waiting = try (0 ..< 4).map { number in
                let connection = try WireConnection(port: port)
                let call = Message.call(id: "\(number)", "wait", #"{"text":"\#(text)"}"#)
                try connection.send(Post(call, name: "wait").bytes(port: port))
                return connection
            }
            #expect(try await Self.comesTrue { server.probe.requests == 4 })
            #expect(memory.used >= 4 << 20)
            release.open()
            for connection in waiting { #expect(try connection.response()?.status == 200) }
            #expect(try await Self.comesTrue { memory.used < 4 << 20 })
            for connection in waiting { connection.close() }
            #expect(try await Self.comesTrue { memory.used == 0 })
        }
    }

    @Test("fault 63: answers that nobody reads are cut off when memory is used up")
    func fault63Memory() async throws {
        let limit = 40 << 20
        let (server, _) = try Self.server { $0.maxMemoryBytes = limit }
        try await LocalServer.serve(server) { port in
            let deaf = try (0 ..< 12).map { _ in
                let connection = try WireConnection(port: port, receiveBuffer: 8_192)
                try connection.send(Post(Message.call(id: "1", "long", "{}"), name: "long").bytes(port: port))
                // Its answer has begun, and it reads no more of it.
                try connection.waitForBytes(100)
                return connection
            }
            #expect(try await Self.comesTrue { server.dispatcher.memory.used <= limit })
            // Those that are cut off get what was on its way.
            var cut = 0
            for connection in deaf where try connection.response() == nil { cut += 1 }
            #expect((1 ..< 12).contains(cut), "\(cut)")
            try WireConnection(port: port).expectAlive()
        }
    }

    @Test("fault 59: HEAD is answered by a head alone, whatever is wrong with it")
    func fault59Head() throws {
        let daemon = try HTTPDaemon.shared()
        let host = "Host: 127.0.0.1:\(daemon.port)\r\n"
        let kept: [(String, Int)] = [
            ("HEAD /mcp HTTP/1.1\r\n\(host)\r\n", 405),
            ("HEAD /mcp HTTP/1.1\r\n\(host)Content-Length: 1\r\n\r\nA", 405),
            ("HEAD /mcp HTTP/1.1\r\n\(host)Mcp-Session-Id: x\r\n\r\n", 405),
            ("HEAD /other HTTP/1.1\r\n\(host)Content-Length: 3\r\n\r\nABC", 404),
            ("HEAD /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1\r\n\r\nA", 403),
            ("HEAD /mcp?access_token=x HTTP/1.1\r\n\(host)\r\n", 400),
        ]
        let connection = try daemon.connect()
        for (request, status) in kept {
            try connection.send(request)
            let response = try connection.response(hasBody: false)
            #expect(response?.status == status, "\(request)")
            // What GET would have got (RFC 9110, section 8.6).
            #expect(response?["content-length"] != "0", "\(request)")
        }
        // Nothing stands between the heads, or the next answer would not be one.
        try connection.expectAlive()
        let closing: [(String, Int)] = [
            ("HEAD /mcp HTTP/1.1\r\n\(host)Connection: close\r\n\r\n", 405),
            ("HEAD /mcp HTTP/1.1\r\n\(host)Content-Length: 10\r\n\r\nA", 405),
            ("HEAD /mcp HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n1\r\nA\r\n", 405),
            ("HEAD /mcp HTTP/1.1\r\n\(host)Content-Length: 99999999\r\n\r\n", 413),
            ("HEAD /mcp HTTP/1.1\r\n\(host)Content-Length: 5,5\r\n\r\n", 400),
            ("HEAD /mcp HTTP/1.0\r\n\(host)\r\n", 405),
            ("HEAD /mcp HTTP/1.1\r\n\r\n", 400),
        ]
        for (request, status) in closing {
            let connection = try daemon.connect()
            try connection.send(request)
            #expect(try connection.response(hasBody: false)?.status == status, "\(request)")
            #expect(connection.closes(), "a body behind the head: \(request)")
        }
    }

    @Test("fault 92: one connection too many gets a head alone") func fault92Head() async throws {
        var options = HTTPServerOptions()
        options.maxConnections = 1
        let (server, _) = try Self.server()
        try await LocalServer.serve(server, options: options) { port in
            let first = try WireConnection(port: port)
            try first.expectAlive()
            let second = try WireConnection(port: port)
            let response = try second.response(hasBody: false)
            #expect(response?.status == 503)
            #expect(response?["retry-after"] == "1")
            #expect(second.closes())
        }
    }

    @Test("fault 67: no 100 Continue before a refusal") func fault67Refused() throws {
        let daemon = try HTTPDaemon.shared()
        for method in ["DELETE", "GET"] {
            let connection = try daemon.connect()
            try connection.send(
                "\(method) /mcp HTTP/1.1\r\nHost: 127.0.0.1:\(daemon.port)\r\nMcp-Session-Id: x\r\n"
                    + "Accept: text/event-stream\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            #expect(try connection.response()?.status == 400)
            #expect(connection.closes())
        }
    }

    // HTTP-08, Table 1
    @Test("fault 27: a response that nobody waits for is refused like any other message")
    func fault27Body() throws {
        let daemon = try HTTPDaemon.shared()
        let connection = try daemon.connect()
        for body in [
            #"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            #"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}"#,
        ] {
            let response = try connection.ask(Post(body, method: nil))
            #expect(response.status == 400)
            #expect(response["content-type"] == "application/json")
            #expect(response.message?.code == -32600)
            #expect(response.message?.hasID == false)
        }
        // So is a message whose session is not clear.
        let session = try daemon.openSession("2025-11-25")
        let list = Post(Message.legacy(id: "1", "tools/list"), method: nil)
        let twice = try connection.ask(
            list.adding("Mcp-Session-Id", session).adding("Mcp-Session-Id", session))
        #expect(twice.status == 400)
        #expect(twice.message?.code == -32600)
        let unknown = try connection.ask(list.with("Mcp-Session-Id", "x"))
        #expect(unknown.status == 404)
        #expect(unknown.message?.code == -32600)
        // In a session a response is taken, whoever waits for it (LEG-03).
        let stray = Post(#"{"jsonrpc":"2.0","id":7,"result":{}}"#, method: nil)
        let taken = try connection.ask(stray.with("Mcp-Session-Id", session))
        #expect(taken.status == 202)
        #expect(taken.body.isEmpty)
        try connection.expectAlive()
    }

    #if DEBUG
    @Test("faults 74, 75: accept fails for ever", arguments: [ECONNABORTED, EPROTO, EINTR, EMFILE])
    func fault75ForEver(_ number: Int32) async throws {
        var options = HTTPServerOptions()
        options.loops = 1
        let (server, _) = try Self.server()
        try await LocalServer.serve(server, options: options) { port in
            let served = try WireConnection(port: port)
            try served.expectAlive()
            let listener = try #require(Self.listener(on: port))
            let calls = Mutex(0)
            let start = ContinuousClock.now
            let waiting = try await FaultInjection.during { function, fd in
                guard function == "accept", fd == listener else { return nil }
                calls.withLock { $0 += 1 }
                return number
            } _: {
                let waiting = try WireConnection(port: port)
                #expect(try await Self.comesTrue { calls.withLock { $0 } > 0 })
                let seen = ContinuousClock.now
                while ContinuousClock.now - seen < .milliseconds(350) { try served.expectAlive() }
                // Turns of at most 64 tries of 16 interruptions, 100 ms apart; a spinning loop makes millions.
                let rounds = Int((ContinuousClock.now - start).components.seconds * 10) + 6
                #expect(calls.withLock { $0 } <= rounds * 64, "\(calls.withLock { $0 }) calls")
                return waiting
            }
            try waiting.expectAlive()
        }
    }

    private static func listener(on port: UInt16) -> Int32? {
        (3 ..< 65_536).first { descriptor in
            var isListening: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0,
                isListening != 0
            else { return false }
            return (try? Syscalls.localAddress(descriptor))??.port == port
        }
    }
    #endif

    // JRPC-19
    @Test("what handlers of a batch say while it is read is bounded") func earlyMessages() async throws {
        let (server, release) = try Self.server { $0.maxOutputBytes = 64 << 10 }
        try server.register(Tool("spam", inputSchema: ["type": "object"])) { _, context in
            for step in 1 ... 5_000 {
                await context.progress(Double(step), message: "a message of some length")
            }
            release.open()
            return .text("")
        }
        server.addTool("block", "Takes long.", schema: #"{"type":"object"}"#) { _, _, out in
            while !release.isOpen { usleep(1_000) }
            out.text("")
        }
        try await LocalServer.serve(server) { port in
            let connection = try WireConnection(port: port)
            let open = Post(Message.initialize("2025-03-26"), method: nil)
            let session = try #require(try connection.ask(open)["mcp-session-id"])
            let spam =
                #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"spam","arguments":{},"#
                + #""_meta":{"progressToken":1}}}"#
            let block = Message.legacy(id: "2", "tools/call", #"{"name":"block","arguments":{}}"#)
            let response = try connection.ask(
                Post("[\(spam),\(block)]", method: nil).with("Mcp-Session-Id", session))
            #expect(response.status == 200)
            // Where both are done when the batch was read there is no stream, and nothing told early.
            let answers = response.events.last ?? response.message
            #expect(answers?.arrayValue?.count == 2)
            #expect(response.events.count < 2_000, "\(response.events.count)")
        }
    }
}
