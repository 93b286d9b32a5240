import MCPCore
import Synchronization
import TestSupport
import Testing

/// Clients that are slow, that are in a hurry, and that go away.
@Suite("faults: HTTP peers", .ownThreads) struct HTTPPeerFaults {
    private static func echoServer() throws -> MCPServer {
        let server = MCPServer("test", version: "1")
        server.addTool("echo", "Returns the text.", schema: #"{"type":"object"}"#) { arguments, _, out in
            out.text(arguments["text"])
        }
        return server
    }

    @Test("fault 62: clients that send slowly") func fault62() async throws {
        var options = HTTPServerOptions()
        options.headTimeout = .milliseconds(400)
        options.bodyTimeout = .milliseconds(400)
        options.idleTimeout = .seconds(30)
        try await LocalServer.serve(try Self.echoServer(), options: options) { port in
            let post = Post(Message.echo(id: "1", "x"), name: "echo").bytes(port: port)
            let headEnd = try #require(post.firstEnd(of: Array("\r\n\r\n".utf8), from: 0))
            // One stops in the request line, one in the fields, one in the body, one in a chunk.
            let chunked = Array((Post.chunkedHead() + "5\r\nab").utf8)
            let starts = [Array(post[..<3]), Array(post[..<40]), Array(post[..<(headEnd + 5)]), chunked]
            let slow = try (0 ..< 200).map { index in
                let connection = try WireConnection(port: port)
                try connection.send(starts[index % starts.count])
                return connection
            }
            // And one sends a byte whenever it can: a deadline counts from the first byte of the phase.
            let dripping = try WireConnection(port: port)
            try dripping.send([post[0]])
            let good = try WireConnection(port: port)
            var next = 1
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .seconds(10), !dripping.ended {
                if next < headEnd - 1 {
                    try dripping.send([post[next]])
                    next += next < 60 ? 1 : 0
                }
                // Others are served meanwhile.
                try good.expectAlive()
            }
            #expect(dripping.ended)
            for connection in slow { #expect(connection.closes(within: .seconds(10))) }
            try good.expectAlive()
        }
    }

    @Test("fault 63: a client that does not read") func fault63() async throws {
        var options = HTTPServerOptions()
        options.writeTimeout = .seconds(1)
        let gone = Mutex(0)
        let server = try Self.echoServer()
        try server.register(Tool("flood")) { _, context in
            // Ends when nobody listens any more.
            var count = 0.0
            while !context.isCancelled {
                await context.progress(count, message: String(repeating: "m", count: 60_000))
                count += 1
            }
            gone.withLock { $0 += 1 }
            return .text("")
        }
        try await LocalServer.serve(server, options: options) { port in
            // Answers of 100 KB each; the first that does not fit stops the reading of requests.
            let text = String(repeating: "t", count: 100_000)
            let request = Post(Message.echo(id: "1", text), name: "echo").bytes(port: port)
            let greedy = try WireConnection(port: port, receiveBuffer: 8_192)
            let sent = try greedy.sendUntilBlocked(request, quiet: .milliseconds(300))
            // The kernel's buffers and the server's, but not what was sent.
            #expect(sent < 64 << 20)
            // It is closed after the stall, with what it did not take.
            #expect(greedy.isCut(within: .seconds(20)))

            // A stream that nobody reads is cut at the cap, and its handler ends.
            let deaf = try WireConnection(port: port, receiveBuffer: 8_192)
            let flood = Message.callWithProgress("flood", "{}")
            try deaf.send(Post(flood, name: "flood").bytes(port: port))
            let deadline = Deadline(.seconds(20))
            while gone.withLock({ $0 }) == 0, !deadline.isOver { try await Task.sleep(for: .milliseconds(1)) }
            #expect(gone.withLock { $0 } == 1)
            try WireConnection(port: port).expectAlive()
        }
    }

    @Test("fault 64: pipelined requests") func fault64() throws {
        let daemon = try HTTPDaemon.shared()
        let connection = try daemon.connect()
        var bytes: [UInt8] = []
        // Some are answered at once, some as tasks, some are refused: the order is that of the requests.
        for number in 0 ..< 1_000 {
            switch number % 4 {
            case 0, 1:
                bytes += Post(Message.echo(id: "\(number)", "x"), name: "echo").bytes(port: daemon.port)
            case 2:
                let read = Message.modern(id: "\(number)", "resources/read", #""uri":"demo:///hello""#)
                bytes += Post(read, method: "resources/read", name: "demo:///hello").bytes(port: daemon.port)
            default:
                bytes += Post(Message.modern(id: "\(number)", "nope"), method: "nope").bytes(
                    port: daemon.port)
            }
        }
        try connection.send(bytes)
        for number in 0 ..< 1_000 {
            let response = try #require(try connection.response())
            #expect(response.message?["id"] == .number(JSONNumber(number)))
        }
        try connection.expectAlive()
        // Behind a request that ends the connection nothing is served.
        for last in [
            Post(Message.echo(id: "1", "last"), name: "echo").with("Connection", "close"),
            Post(Message.echo(id: "1", "last"), name: "echo").with("Connection", "keep-alive, Close"),
        ] {
            let ending = try daemon.connect()
            let behind = Post(Message.echo(id: "2", "behind"), name: "echo").bytes(port: daemon.port)
            try ending.send(last.bytes(port: daemon.port) + behind)
            #expect(try ending.response()?.message?["id"] == 1)
            #expect(ending.closes())
        }
    }

    @Test("fault 64: all that was pipelined is answered after a half-close") func fault64HalfClose() throws {
        let daemon = try HTTPDaemon.shared()
        // The answers are longer than the requests: the server stops reading with both in hand.
        let connection = try WireConnection(port: daemon.port, receiveBuffer: 8_192)
        let post = Post(Message.modern(id: "1", "tools/list"), method: "tools/list").bytes(port: daemon.port)
        let complete = try connection.sendUntilBlocked(post, quiet: .milliseconds(300)) / post.count
        #expect(complete > 1_000)
        try connection.finishWriting()
        for number in 0 ..< complete {
            let response = try #require(try connection.response(), "after \(number) answers")
            guard response.status == 200 else {
                Issue.record("answer \(number): \(response)")
                return
            }
        }
        // The last request is cut.
        #expect([nil, 400].contains(try connection.response()?.status))
        #expect(connection.closes())
    }

    @Test("fault 65: the client closes its side behind the request") func fault65() throws {
        let daemon = try HTTPDaemon.shared()
        let text = String(repeating: "t", count: 1 << 20)
        let read = Message.modern(id: "2", "resources/read", #""uri":"demo:///hello""#)
        let posts = [
            Post(Message.echo(id: "1", text), name: "echo"),
            Post(read, method: "resources/read", name: "demo:///hello"),
            Post(Message.modern(id: "3", "tools/list"), method: "tools/list"),
        ]
        for post in posts {
            let connection = try daemon.connect()
            try connection.send(post.bytes(port: daemon.port))
            try connection.finishWriting()
            let response = try connection.response()
            #expect(response?.status == 200)
            #expect(response?.answer?["result"] != nil)
            #expect(connection.closes())
        }
        // In a session the end of the writing is no cancel, however long the call takes (LEG-09).
        let session = try daemon.openSession("2025-11-25")
        let connection = try daemon.connect()
        let call = Message.legacy(id: "1", "tools/call", #"{"name":"slow","arguments":{"seconds":0.3}}"#)
        try connection.send(Post(call, method: nil).with("Mcp-Session-Id", session).bytes(port: daemon.port))
        try connection.finishWriting()
        #expect(try connection.response()?.answer?.text == "waited 0.3 s")
        #expect(connection.closes())
        try daemon.expectAlive()
    }

    @Test("fault 66: the client goes away at any point", .serialized, arguments: [false, true])
    func fault66(_ resets: Bool) throws {
        let daemon = try HTTPDaemon()
        let good = try daemon.connect()
        try good.expectAlive()
        // The first call that takes time makes the daemon open what its timers need.
        _ = try good.ask(Post(Message.call(id: "1", "slow", #"{"seconds":0.01}"#), name: "slow"))
        let before = daemon.descriptorCount
        let echo = Post(Message.echo(id: "1", String(repeating: "t", count: 300_000)), name: "echo").bytes(
            port: daemon.port)
        let slow = Post(Message.call(id: "1", "slow", #"{"seconds":60}"#), name: "slow").bytes(
            port: daemon.port)
        let stream = Post(Message.slowWithProgress, name: "slow").bytes(port: daemon.port)
        let chunked = Array((Post.chunkedHead() + "5\r\nab").utf8)
        func leave(_ connection: WireConnection) throws {
            if resets { try connection.reset() } else { connection.close() }
        }
        for _ in 0 ..< 20 {
            // Before anything, in the head, in the body, in a chunk, with the answer unread, during the call.
            for bytes in [[], Array(echo[..<20]), Array(echo[..<1_000]), chunked, echo, slow] {
                let connection = try daemon.connect()
                try connection.send(bytes)
                try leave(connection)
            }
            // In the middle of the answer.
            let connection = try daemon.connect()
            try connection.send(stream)
            try connection.waitForBytes(100)
            try leave(connection)
        }
        try good.expectAlive()
        // Every descriptor is closed again, once the loop has seen the ends.
        if let before {
            let deadline = Deadline(.seconds(10))
            var now = before + 1
            while now > before, !deadline.isOver {
                try good.expectAlive()
                now = daemon.descriptorCount ?? before
            }
            #expect(now <= before)
        }
        #expect(!daemon.errors.contains("Fatal"))
    }

    @Test("fault 66: the call of a client that went away is cancelled, unless it is of a session")
    func fault66Cancels() async throws {
        let server = MCPServer("test", version: "1")
        let events = AsyncStream.makeStream(of: String.self)
        let gate = AsyncStream.makeStream(of: Void.self)
        try server.register(Tool("wait", inputSchema: ["type": "object"])) { call, context in
            let name = call.arguments["name"]?.string ?? ""
            events.continuation.yield("\(name) starts")
            if name == "session" {
                for await _ in gate.stream {}
            } else {
                while !context.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            }
            events.continuation.yield("\(name) \(context.isCancelled ? "was cancelled" : "went on")")
            return .text("")
        }
        var options = HTTPServerOptions()
        // One loop: what it answers later, it has read later.
        options.loops = 1
        try await LocalServer.serve(server, options: options) { port in
            var iterator = events.stream.makeAsyncIterator()
            let modern = try WireConnection(port: port)
            try modern.send(
                Post(Message.call(id: "1", "wait", #"{"name":"modern"}"#), name: "wait").bytes(port: port))
            #expect(await iterator.next() == "modern starts")
            modern.close()
            #expect(await iterator.next() == "modern was cancelled")

            let opener = try WireConnection(port: port)
            let session = try #require(
                try opener.ask(Post(Message.initialize("2025-11-25"), method: nil))["mcp-session-id"])
            let legacy = try WireConnection(port: port)
            let call = Message.legacy(
                id: "1", "tools/call", #"{"name":"wait","arguments":{"name":"session"}}"#)
            try legacy.send(Post(call, method: nil).with("Mcp-Session-Id", session).bytes(port: port))
            #expect(await iterator.next() == "session starts")
            legacy.close()
            for _ in 0 ..< 3 {
                _ = try opener.ask(Post(Message.modern(id: "1", "tools/list"), method: "tools/list"))
            }
            gate.continuation.finish()
            #expect(await iterator.next() == "session went on")
        }
    }

    /// The allocator keeps what was freed between what is in use, from the second round on also large blocks.
    @Test("memory of large bodies goes back to the system with their connections", .timeLimit(.minutes(5)))
    func closedConnectionsKeepNoMemory() async throws {
        let daemon = try HTTPDaemon()
        // Elsewhere there is nothing to read it from.
        guard let before = ServerProgram.memory(of: daemon.pid, "VmRSS") else { return }
        let head =
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + "Content-Length: 4194304\r\n\r\n"
        let most = Array(head.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 4_194_000)
        for _ in 0 ..< 3 {
            let stalled = try (0 ..< 48).map { _ in
                let connection = try daemon.connect()
                try connection.send(most)
                return connection
            }
            for connection in stalled { connection.close() }
        }
        let deadline = Deadline(.seconds(20))
        var after = ServerProgram.memory(of: daemon.pid, "VmRSS") ?? 0
        while after - before > 32 << 10, !deadline.isOver {
            try await Task.sleep(for: .milliseconds(100))
            after = ServerProgram.memory(of: daemon.pid, "VmRSS") ?? 0
        }
        #if canImport(Glibc)
        #expect(after - before <= 32 << 10, "\(before) KiB before, \(after) KiB after")
        #endif
    }
}
