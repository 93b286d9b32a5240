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

/// The lines of stdio.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LineServerTests {
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#

    /// Writes lines, ends the input, and returns everything that came back.
    static func lines(
        _ text: String, _ server: MCPServer? = nil
    ) async throws -> [RawJSON] {
        let link = try StdioLink(
            try server ?? TestServer().server, MessageRecorder([.server], version: "2025-11-25"))
        link.write(text)
        await link.close()
        for _ in 0 ..< 10_000 where !link.isAtEnd { await pause() }
        return link.heard
    }

    // STDIO-02, JRPC-21
    @Test(arguments: [
        (ping, [1]), (ping + "\r", [1]), ("\n\n \t\r\n" + ping, [1]), (ping + "\n" + ping, [1, 1]),
        ("{", [-32700]), ("[]", [-32600]), ("7\n" + ping, [-32600, 1]), ("\u{FEFF}" + ping, [-32700]),
        (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, []), (#"{"jsonrpc":"2.0","method":"x"}"#, []),
        (#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, [-32600]),
        // A malformed response: its id is one of the server's, and would be taken for that of a request.
        (#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#, [-32600]),
        (#"{"jsonrpc":"1.0","id":1,"result":{}}"#, [-32600]),
    ]) func answers(_ text: String, _ expected: [Int]) async throws {
        let heard = try await Self.lines(text)
        #expect(heard.map { ($0["error"]?["code"] ?? $0["id"])?.int } == expected)
        // JRPC-11: nothing fixed a revision, so an unknown id is left out.
        for answer in heard where answer["error"] != nil { #expect(answer["id"] == nil) }
    }

    /// What is left at the end of the drain gets an error, not silence.
    @Test func theDrainEndsWithAnswers() async throws {
        let test = try TestServer()
        let (inReader, inWriter) = try Syscalls.pipe()
        let (outReader, outWriter) = try Syscalls.pipe()
        let null = try Syscalls.open("/dev/null", O_RDWR)
        let streams = try StandardStreams.capture(input: inReader, output: outWriter, errors: null.rawValue)
        Syscalls.close(inReader)
        Syscalls.close(outWriter)
        defer { Syscalls.close(outReader) }
        let loop = try EventLoop(label: "test.stdio")
        let stdio = LineServer(test.server, streams: streams, loop: loop, drainTimeout: .milliseconds(10))
        loop.start()
        loop.execute { stdio.start() }
        let call = HTTPServerTests.body("tools/call", #""name":"wait","arguments":{}"#, id: "\"w\"")
        try writeText(inWriter, call + "\n")
        #expect(await test.begun("").wait())
        Syscalls.close(inWriter)
        #expect(try await Self.isReady(outReader, Int32(POLLIN)))
        let answer = try JSONValue(parsing: try readOnce(outReader, 1 << 16) ?? [])
        #expect(answer["id"] == "w" && answer["error"]?["code"]?.intValue == MCPError.interruptedCode)
        await stdio.waitUntilEnded()
        #expect(await test.cancelled.wait())
        loop.stop()
        loop.waitUntilStopped()
    }

    // STDIO-14: what was read is answered before the end, also the last line without its newline.
    @Test func answersBeforeTheEnd() async throws {
        let test = try TestServer()
        let link = try StdioLink(test.server, MessageRecorder([.server], version: "2025-11-25"))
        let meta = HTTPServerTests.meta
        for number in 0 ..< 20 {
            link.write(
                #"{"jsonrpc":"2.0","id":\#(number),"method":"tools/call","params":{"name":"block","arguments":{},\#(meta)}}"#
            )
        }
        link.write(
            #"{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"wait","arguments":{},\#(meta)}}"#
        )
        #expect(await test.begun("").wait())
        link.endInput()
        test.release.open()
        await link.close()
        for _ in 0 ..< 10_000 where !link.isAtEnd { await pause() }
        #expect(Set(link.heard.compactMap { $0["id"]?.int }) == Set(0 ..< 20).union([99]))
    }

    // SEC-10
    @Test func lineThatIsTooLong() async throws {
        var options = ServerOptions()
        options.limits.maxLineBytes = 1000
        let server = try TestServer(options).server
        let heard = try await Self.lines(String(repeating: "x", count: 5000) + "\n" + Self.ping, server)
        #expect(heard.count == 2)
        #expect(heard.first?["error"]?["code"]?.int == -32600)
        #expect(heard.last?["id"]?.int == 1)
    }

    // JRPC-12: after a handshake of an older revision an unknown id is null.
    @Test(arguments: [("2025-06-18", true), ("2025-11-25", false)])
    func unknownIDs(_ version: String, _ isNull: Bool) async throws {
        let open =
            #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"\#(version)"}}"#
        let heard = try await Self.lines(open + "\n{")
        #expect(heard.last?["error"]?["code"]?.int == -32700)
        #expect((heard.last?["id"]?.isNull == true) == isNull)
    }

    /// `initialize` is done before what follows it in the same piece of input.
    @Test func handshakeInOnePiece() async throws {
        let heard = try await Self.lines(
            #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#
                + "\n"
                + #"{"jsonrpc":"2.0","method":"notifications/initialized"}"# + "\n"
                + #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        #expect(heard.map { $0["id"]?.int } == [0, 1])
        #expect(heard.last?["result"]?["tools"] != nil)
    }

    // CANC-03: a cancellation right behind its request finds it.
    @Test func callAndCancellationInOnePiece() async throws {
        let test = try TestServer()
        let call = HTTPServerTests.body("tools/call", #""name":"wait","arguments":{}"#)
        let cancel = HTTPServerTests.body("notifications/cancelled", #""requestId":1"#, id: nil)
        let heard = try await Self.lines(
            "\(call)\n\(cancel)\n" + Self.ping.replacing(":1,", with: ":2,"), test.server)
        #expect(heard.map { $0["id"]?.int } == [2])
        #expect(await test.cancelled.wait() || test.started.value == 0)
        #expect(test.server.probe.cancelled == 1)
    }

    // JRPC-30: whoever reports from another thread while the answer goes out, nothing comes after the answer.
    @Test func noProgressAfterTheAnswer() async throws {
        var options = ServerOptions()
        options.limits.requestDeadline = .milliseconds(5)
        let server = MCPServer("s", version: "1", options: options)
        try server.register(Tool("busy", inputSchema: ["type": "object"])) { _, context in
            let reporter = Task.detached {
                var step = 0.0
                while !context.isCancelled {
                    step += 1
                    if step <= 300 { await context.progress(step) } else { await Task.yield() }
                }
                for late in 1 ... 50 { await context.progress(step + Double(late)) }
            }
            await Gate().wait()
            await reporter.value
            return .text("late")
        }
        for leg in [Leg.stdio, .http] {
            try await withClient(Setting(leg: leg, version: "2026-07-28"), server) { client in
                let reply = await client.call("busy", id: "b", progressToken: "t")
                #expect(reply.errorCode == MCPError.deadlineExceededCode)
                let kinds = client.heard.map { $0["method"]?.string ?? "answer" }
                #expect(kinds.last == "answer")
                #expect(kinds.count { $0 == "answer" } == 1)
            }
        }
    }

    /// A client that writes much before it reads gets every answer.
    @Test func manyRequestsAtOnce() async throws {
        let text = (0 ..< 2000).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"ping"}"# }.joined(
            separator: "\n")
        let heard = try await Self.lines(text)
        #expect(heard.compactMap { $0["id"]?.int } == Array(0 ..< 2000))
    }

    /// A client that does not read is read no longer, and gets everything once it reads (fault 63).
    @Test func aClientThatDoesNotRead() async throws {
        var options = ServerOptions()
        options.limits.requestDeadline = .milliseconds(50)
        let test = try TestServer(options)
        let (inReader, inWriter) = try Syscalls.pipe()
        let (outReader, outWriter) = try Syscalls.pipe()
        defer { Syscalls.close(outReader) }
        let null = try Syscalls.open("/dev/null", O_RDWR)
        let streams = try StandardStreams.capture(input: inReader, output: outWriter, errors: null.rawValue)
        Syscalls.close(inReader)
        Syscalls.close(outWriter)
        let loop = try EventLoop(label: "test.stdio")
        let stdio = LineServer(test.server, streams: streams, loop: loop, backlogLimit: 1 << 20)
        loop.start()
        loop.execute { stdio.start() }
        try Syscalls.setNonBlocking(inWriter)
        // A call that only its deadline ends, whatever the client reads; then what is answered at once.
        let call = HTTPServerTests.body("tools/call", #""name":"wait","arguments":{}"#, id: "\"w\"")
        var bytes = Array((call + "\n").utf8)
        let first = bytes.count
        while bytes.count < 16 << 20 { bytes += Array((Self.ping + "\n").utf8) }
        var sent = 0
        while sent < bytes.count, try await Self.isReady(inWriter, Int32(POLLOUT)) {
            let written = unsafe try bytes[sent...].withUnsafeBytes { (rest) throws(IOError) in
                unsafe try Syscalls.write(inWriter, rest)
            }
            sent += written ?? 0
        }
        Syscalls.close(inWriter)
        #expect((first ..< 8 << 20).contains(sent), "\(sent) bytes were taken")
        #expect(await comesTrue { test.server.probe.requests == 0 })
        // Everything that was taken is answered once it reads; a line that was cut off is no JSON.
        let ends = bytes[..<sent].count { $0 == 0x0A }
        let expected = ends + (bytes[sent - 1] == 0x0A ? 0 : 1)
        var heard = 0
        while heard < expected, try await Self.isReady(outReader, Int32(POLLIN)) {
            guard let piece = try readOnce(outReader, 1 << 16), !piece.isEmpty else { break }
            heard += piece.count { $0 == 0x0A }
        }
        #expect(heard == expected)
        await stdio.waitUntilEnded()
        loop.stop()
        loop.waitUntilStopped()
    }

    private static func isReady(_ fd: Int32, _ events: Int32) async throws -> Bool {
        for _ in 0 ..< 500 {
            if try Syscalls.isReady(fd, events) { return true }
            try await Task.sleep(for: .milliseconds(1))
        }
        return false
    }
}
