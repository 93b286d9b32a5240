import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let http: [LimitProof] = {
        let (limits, options) = (HTTPLimits(), HTTPServerOptions())
        return [
            LimitProof("request line", LimitText.bytes(limits.maxRequestLineBytes), requestLine),
            LimitProof(
                "header fields", "\(LimitText.bytes(limits.maxHeaderBytes)), \(limits.maxFields) fields",
                fields
            ),
            LimitProof(
                "chunk extensions of a body", LimitText.bytes(limits.maxChunkExtensionBytes), chunkExtensions),
            LimitProof(
                "connections",
                "\(LimitText.grouped(options.maxConnections)), or what the limit of open files allows",
                connections
            ),
            LimitProof(
                "time without a request, or the rest of the first head, while all connections are in use",
                LimitText.seconds(ConnectionSet.waitingTime)
            ) { try await CrowdedServerTests().clientsWithoutARequestMakeRoom() },
            LimitProof(
                "bodies that one principal sends, and responses and event streams that it waits for, while more "
                    + "than half of the connections are in use",
                "a quarter of the connections"
            ) { try await CrowdedServerTests().oneCallerLeavesRoomForOthers() },
            LimitProof("descriptors kept from connections", "\(HTTPServer.keptDescriptors)", descriptors),
            LimitProof(
                "what is read ahead of a request that is being served",
                LimitText.bytes(HTTPConnection.readBytes), readAhead),
            LimitProof("connections accepted in one turn", "\(HTTPListener.acceptsPerTurn)", accepted),
            LimitProof(
                "rest after `accept` has failed",
                "\(HTTPListener.restTime.milliseconds) ms; a log line each "
                    + LimitText.seconds(HTTPListener.logInterval), failedAccepts),
            LimitProof("head", "\(LimitText.seconds(options.headTimeout)) from its first byte", head),
            LimitProof(
                "body", "\(LimitText.seconds(options.bodyTimeout)), and 1 KiB/s after the first 5 s", slowBody
            ),
            LimitProof("rest between two requests", LimitText.seconds(options.idleTimeout), idle),
            LimitProof(
                "client that takes less than \(LimitText.bytes(HTTPConnection.leastTaken)) of its answer",
                LimitText.seconds(options.writeTimeout)
            ) {
                try await unread()
                try await slowReaders()
            },
            LimitProof(
                "endpoints of a router whose sessions and streams are remembered",
                LimitText.grouped(EndpointRouter.maxEndpoints)
            ) { RequestHandlerTests().endpointsThatAreRemembered() },
            LimitProof("response of an HTTP handler", LimitText.seconds(ServerLimits().requestDeadline)) {
                try await RequestHandlerTests().anAnswerThatDoesNotCome()
            },
            LimitProof("drain at the end", LimitText.seconds(options.drainTimeout), drain),
            LimitProof(
                "rest of a refused body that is read",
                "\(LimitText.bytes(HTTPConnection.drainBytes)) or 1 s", refusedBody),
        ]
    }()

    static let discover = HTTPServerTests.body("server/discover")
    static let question = HTTPServerTests.post(discover)

    /// A server of `options`; the answers to each request, on a connection of its own.
    private static func verdicts(
        _ options: HTTPServerOptions, _ requests: [String]
    ) async throws -> [(statuses: [Int], responses: [WireResponse], isClosed: Bool)] {
        var verdicts: [(statuses: [Int], responses: [WireResponse], isClosed: Bool)] = []
        try await TestServer().server.withPort(options) { port in
            for request in requests { verdicts.append(try await answers(port, [request])) }
        }
        return verdicts
    }

    @Sendable private static func requestLine() async throws {
        var options = HTTPServerOptions()
        options.limits.maxRequestLineBytes = 200
        // "POST /mcp?" and " HTTP/1.1" are 19 bytes.
        let requests = [181, 182].map {
            HTTPServerTests.post(discover, path: "/mcp?" + String(repeating: "q", count: $0))
        }
        let verdicts = try await verdicts(options, requests)
        #expect(verdicts.map(\.statuses) == [[200], [414]])
        #expect(verdicts[1].isClosed)
        RequestLimitsTests().requestLineUpToTheLimit()
    }

    @Sendable private static func fields() async throws {
        var options = HTTPServerOptions()
        options.limits.maxHeaderBytes = 1_000
        options.limits.maxFields = 10
        // Six fields are there already; the limit counts line ends and the empty line.
        let own =
            question.split(separator: "\r\n\r\n")[0].utf8.count - "POST /mcp HTTP/1.1\r\n".utf8.count + 4
        func field(_ bytes: Int) -> String { "X: " + String(repeating: "x", count: bytes - 5) + "\r\n" }
        let requests =
            [1_000, 1_001].map { HTTPServerTests.post(discover, more: field($0 - own)) }
            + [4, 5].map { HTTPServerTests.post(discover, more: String(repeating: "X: 1\r\n", count: $0)) }
        let verdicts = try await verdicts(options, requests)
        #expect(verdicts.map(\.statuses) == [[200], [431], [200], [431]])
        #expect(verdicts[1].isClosed && verdicts[3].isClosed)
        RequestLimitsTests().headerBytesUpToTheLimit()
        RequestLimitsTests().fieldsUpToTheLimit()
    }

    @Sendable private static func chunkExtensions() async throws {
        let limit = HTTPLimits().maxChunkExtensionBytes
        let head = question.split(separator: "Content-Length")[0] + "Transfer-Encoding: chunked\r\n\r\n"
        let size = String(discover.utf8.count, radix: 16)
        // The semicolon counts; those of all chunks count together.
        let requests = [limit - 1, limit].map { bytes in
            "\(head)\(size);\(String(repeating: "e", count: bytes - 10))\r\n\(discover)\r\n"
                + "0;\(String(repeating: "e", count: 9))\r\n\r\n"
        }
        let verdicts = try await verdicts(HTTPServerOptions(), requests)
        #expect(verdicts.map(\.statuses) == [[200], [400]])
        #expect(verdicts[1].isClosed)
    }

    /// The last that there is room for is served, one more is told to come again, and there is room once one
    /// leaves.
    @Sendable private static func connections() async throws {
        var options = HTTPServerOptions()
        options.maxConnections = 2
        try await TestServer().server.withPort(options) { port in
            try await onThread {
                func open() throws -> (socket: WireSocket, response: WireResponse?, isClosed: Bool) {
                    let socket = try WireSocket(port: port, isRecorded: false)
                    // It does not wait for a request: another one has begun.
                    socket.send(question + "POST ")
                    var reader = WireReader(socket)
                    let response = reader.response()
                    return (socket, response, response?.status == 503 && reader.response() == nil)
                }
                var kept = try (0 ..< 2).map { _ in try open() }
                #expect(kept.map { $0.response?.status } == [200, 200])
                let refused = try open()
                #expect(refused.response?.status == 503 && refused.isClosed)
                #expect(refused.response?.headers["retry-after"] != nil)
                kept.removeLast().socket.shutdown()
                var again = try open()
                for _ in 0 ..< 1_000 where again.response?.status != 200 { again = try open() }
                #expect(again.response?.status == 200)
            }
        }
    }

    /// How long a server holds a connection on which these bytes came, and what it says.
    private static func held(
        _ options: HTTPServerOptions, _ bytes: String
    ) async throws -> (heard: [UInt8], time: Duration) {
        var outcome: (heard: [UInt8], time: Duration) = ([], .zero)
        try await TestServer().server.withPort(options) { port in
            outcome = try await onThread {
                let start = ContinuousClock.now
                let socket = try WireSocket(port: port, isRecorded: false)
                socket.send(bytes)
                var heard: [UInt8] = []
                while let piece = socket.receive() { heard += piece }
                return (heard, ContinuousClock.now - start)
            }
        }
        return outcome
    }

    /// Options whose times are all long, but for the one that is changed.
    static func patient(_ change: (inout HTTPServerOptions) -> Void) -> HTTPServerOptions {
        var options = HTTPServerOptions()
        options.headTimeout = .seconds(60)
        options.bodyTimeout = .seconds(60)
        options.idleTimeout = .seconds(60)
        options.writeTimeout = .seconds(60)
        change(&options)
        return options
    }

    // A socket here waits 20 s; a time of a minute would end it by itself.
    private static let soon = Duration.milliseconds(300) ..< .seconds(15)

    @Sendable private static func head() async throws {
        for start in ["P", String(question.prefix(60))] {
            let held = try await held(patient { $0.headTimeout = .milliseconds(300) }, start)
            #expect(held.heard.isEmpty && soon.contains(held.time), "\(held.time)")
        }
    }

    @Sendable private static func slowBody() async throws {
        let held = try await held(
            patient { $0.bodyTimeout = .milliseconds(300) }, String(question.dropLast(5)))
        #expect(!String(decoding: held.heard, as: UTF8.self).contains(" 200 ") && soon.contains(held.time))
        // The pace, by a clock of the test.
        var head = RequestHead()
        head.contentLength = 1 << 20
        for (seconds, bytes, isTooSlow) in [
            (4, 0, false), (5, 0, false), (6, 1_023, true), (6, 1_024, false), (15, 10_239, true),
            (15, 10_240, false), (29, 1 << 19, false), (30, 1 << 19, true),
        ] {
            var reader = BodyReader(
                head, bytes: ByteSlice("x"), startedAt: MonotonicInstant(nanoseconds: 0),
                options: HTTPServerOptions(), handler: RequestHandler())
            var input = ByteBuffer()
            input.append([UInt8](repeating: 0x20, count: bytes))
            _ = reader.read(&input)
            let now = MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
            let verdict = reader.isTooSlow(at: now, memoryIsShort: false)
            #expect(verdict == isTooSlow, "\(bytes) bytes in \(seconds) s")
        }
    }

    @Sendable private static func idle() async throws {
        let held = try await held(patient { $0.idleTimeout = .milliseconds(300) }, question)
        #expect(String(decoding: held.heard, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK"))
        #expect(soon.contains(held.time), "\(held.time)")
    }

    @Sendable private static func unread() async throws {
        let server = try TestServer().server
        let text = String(repeating: "x", count: 1 << 20)
        server.addTool("large", "", schema: #"{"type":"object"}"#) { _, _, out in out.text(text) }
        let call = HTTPServerTests.post(
            HTTPServerTests.body("tools/call", #""name":"large","arguments":{}"#), method: "tools/call",
            more: "Mcp-Name: large\r\n")
        let options = patient {
            $0.writeTimeout = .milliseconds(500)
            $0.maxConnections = 1
        }
        try await server.withPort(options) { port in
            let socket = try WireSocket(port: port, isRecorded: false)
            let count = 40
            TestThread.run { for _ in 0 ..< count { socket.send(call) } }
            // Who reads has all the time; who does not is cut off in the middle of what it was sent.
            let read = await onThread { () -> Int in
                var reader = WireReader(socket)
                return (0 ..< 3).count { _ in reader.response()?.status == 200 }
            }
            #expect(read == 3)
            // There is room for another one as soon as it is gone.
            var statuses: [Int] = []
            let end = ContinuousClock.now + .seconds(30)
            while statuses != [200], ContinuousClock.now < end {
                statuses = try await answers(port, [question]).statuses
            }
            #expect(statuses == [200])
            let rest = await onThread { () -> Int in
                var reader = WireReader(socket)
                return (0 ..< count).count { _ in reader.response()?.status == 200 }
            }
            #expect(rest < count - 3)
        }
    }

    @Sendable private static func drain() async throws {
        try await HTTPServerTests().draining()
        let test = try TestServer()
        var options = HTTPServerOptions()
        options.loops = 1
        options.drainTimeout = .milliseconds(200)
        let running = try test.server.start([.http(.tcp(port: 0), options: options)])
        let port = try running.port()
        let call = HTTPServerTests.body("tools/call", #""name":"wait","arguments":{"name":"d"}"#)
        let post = HTTPServerTests.post(call, method: "tools/call", more: "Mcp-Name: wait\r\n")
        async let answer = answers(port, [post])
        #expect(await test.begun("d").wait())
        await running.stop()
        let response = try await answer.responses.first
        #expect(response?.status == 500)
        #expect(response?.json?["error"]?["code"]?.int == MCPError.interruptedCode)
        #expect(await test.cancelled.wait())
    }

    /// A refused body may come for a while, so that its sender reads the refusal; then the connection goes.
    @Sendable private static func refusedBody() async throws {
        var options = HTTPServerOptions()
        options.limits.maxBodyBytes = 1_000
        @Sendable func post(_ length: Int) -> String {
            "\(question.split(separator: "Content-Length")[0])Content-Length: \(length)\r\n\r\n"
        }
        try await TestServer().server.withPort(options) { port in
            // Within the limit its sender reads the refusal and an orderly end.
            let body = String(repeating: " ", count: 4 << 20)
            let verdict = try await answers(port, [post(body.utf8.count) + body])
            #expect(verdict.statuses == [413] && verdict.isClosed)
            // Nobody can send for ever: of four times as much the rest meets a closed door.
            let taken = try await onThread { () -> Int in
                let socket = try WireSocket(port: port, isRecorded: false)
                socket.send(post(1 << 30))
                let piece = [UInt8](repeating: 0x20, count: 1 << 20)
                return (0 ..< 256).prefix { _ in socket.trySend(piece) }.count
            }
            // What systems hold comes on top.
            #expect((1 ..< 64).contains(taken), "\(taken) MiB")
            // Nor wait for ever.
            let start = ContinuousClock.now
            let quiet = try await onThread { () -> Int in
                let socket = try WireSocket(port: port, isRecorded: false)
                socket.send(post(5_000))
                var heard = 0
                while let piece = socket.receive() { heard += piece.count }
                return heard
            }
            #expect(quiet > 0 && ContinuousClock.now - start < .seconds(15))
        }
    }
}
