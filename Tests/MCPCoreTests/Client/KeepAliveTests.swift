import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Connections that are kept open between requests, and what a server refuses by HTTP alone.
@Suite struct KeepAliveTests {
    private typealias Answer = HTTPPeer.Answer

    // MARK: How long a connection may be free

    @Test(
        arguments: [
            ("timeout=5", 5), ("Timeout=5, max=1000", 5), ("max=3, timeout = 7", 7), ("timeout=0", 0),
            ("timeout=", nil), ("timeout=-1", nil), ("timeout=99999999999", nil), ("max=5", nil), ("", nil),
        ] as [(String, Int?)]) func announcedTimes(_ value: String, _ seconds: Int?)
    {
        #expect(KeepAliveHint.timeout(ByteSlice(value)) == seconds.map { .seconds($0) })
    }

    private static func server(_ announced: String?) throws -> HTTPPeer {
        let field = announced.map { "Keep-Alive: \($0)\r\n" } ?? ""
        return try HTTPPeer { heard in
            heard.rpcMethod == "server/discover"
                ? .result(heard, Script.discovered, headers: field) : .result(heard, "{}", headers: field)
        }
    }

    /// Node closes a connection five seconds after its last answer and says so.
    @Test(
        arguments: [
            ("timeout=5", 3_900, 1), ("timeout=5", 4_100, 2), ("timeout=100", 29_900, 1), (nil, 29_900, 1),
            (nil, 30_100, 2), ("timeout=1", 0, 2),
        ] as [(String?, Int, Int)]) func freeConnections(
            _ announced: String?, _ pause: Int, _ connections: Int
        )
        async throws
    {
        let peer = try Self.server(announced)
        defer { peer.stop() }
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let url = "http://\(peer.endpoint)/mcp"
        let client = try await MCPClient.connect(
            ClientTarget(url) { (options) throws(ClientError) in
                try HTTPClientTransport(HTTPEndpoint(url: url), options: options, loop: loop)
            })
        // Time passes in steps, as for a loop that sleeps.
        for _ in 0 ..< 10 { clock.advance(by: .milliseconds(pause / 10)) }
        await waitUntil { peer.ended == connections - 1 }
        _ = try await client.request("tools/list")
        #expect(peer.connections == connections)
        await client.close()
    }

    // MARK: One more time

    /// A kept connection that ends before the first byte of an answer: whether the server has read the request
    /// cannot be told, so that only what does no harm twice is sent once more.
    @Test(
        arguments: [HTTPPeer.Then.close, .reset],
        [
            ("notifications/initialized", "{}", true), ("GET", "{}", true), ("DELETE", "{}", true),
            ("resources/read", "{}", true), ("prompts/get", "{}", true), ("vendor/do", "{}", false),
            ("tools/call", "{}", false), ("tools/call", #"{"destructiveHint":false}"#, false),
            ("tools/call", #"{"readOnlyHint":false,"idempotentHint":false}"#, false),
            ("tools/call", #"{"readOnlyHint":true}"#, true),
            ("tools/call", #"{"idempotentHint":true}"#, true),
        ] as [(String, String, Bool)])
    func endOfAKeptConnection(_ then: HTTPPeer.Then, _ row: (String, String, Bool)) async throws {
        let (victim, annotations, isRepeated) = row
        let ends = Mutex(0)
        let peer = try HTTPPeer { heard in
            let kind = heard.method == "POST" ? heard.rpcMethod : heard.method
            let isFirst =
                kind == victim
                && ends.withLock { count in
                    count += 1
                    return count == 1
                }
            if isFirst { return .raw(then: then) }
            return switch kind {
            case "server/discover": .status(400)
            case "initialize": .result(heard, Script.initialized(), headers: "Mcp-Session-Id: s\r\n")
            case "GET":
                .events("data: {\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n\n", end: false, then: .hang)
            case "notifications/initialized": .status(202)
            case "DELETE": .status(204)
            case "tools/list":
                .result(
                    heard, #"{"tools":[{"name":"x","inputSchema":{},"annotations":\#(annotations)}]}"#)
            default: .result(heard, "{}")
            }
        }
        defer { peer.stop() }
        var options = ClientOptions()
        let greetings = Mutex(0)
        options.onNotification = { _, _ in greetings.withLock { $0 += 1 } }
        let client = try await MCPClient.connect(peer.target, options: options)
        await waitUntil { greetings.withLock { $0 } == 1 }
        // The stream has taken the first connection, so that another one is kept by this.
        _ = try await client.request("tools/list")
        let isCall = !["notifications/initialized", "GET", "DELETE"].contains(victim)
        let error = await clientError {
            if isCall { _ = try await client.request(victim, ["name": "x", "uri": "test://x"]) }
        }
        #expect((error == nil) == (isRepeated || !isCall))
        if let error {
            #expect(error.kind == .connectionClosed)
            #expect(error.details.contains("\(victim) may have been executed; it was not sent again"))
            #expect(error.hint?.contains("whether it was executed") == true)
        }
        // The client is as good as before.
        _ = try await client.request("ping")
        await client.close()
        let heard = peer.heard.filter { $0.method == victim || $0.rpcMethod == victim }
        #expect(heard.count == (isRepeated ? 2 : 1))
        #expect(greetings.withLock { $0 } == 1)
    }

    /// A response that has begun is not asked for again, also where that would do no harm.
    @Test func aResponseThatIsCutShort() async throws {
        let peer = try HTTPClientTransportTests.modern { heard in
            switch heard.rpcMethod {
            case "tools/list":
                .result(
                    heard,
                    #"{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":"#
                        + #"[{"name":"x","inputSchema":{},"annotations":{"readOnlyHint":true}}]}"#)
            case "tools/call":
                .raw(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
                    then: .close)
            default: .status(202)
            }
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        _ = try await client.listTools()
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == .connectionClosed)
        #expect(error?.details.contains { $0.contains("may have been executed") } == false)
        #expect(peer.heard.count { $0.rpcMethod == "tools/call" } == 1)
        await client.close()
    }

    /// What the list promised of a tool is void when the server says that its tools are others now.
    @Test func promisesThatAreVoid() async throws {
        let calls = Mutex(0)
        let peer = try HTTPClientTransportTests.modern { heard in
            switch heard.rpcMethod {
            case "tools/list":
                return .result(
                    heard,
                    #"{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":"#
                        + #"[{"name":"x","inputSchema":{},"annotations":{"idempotentHint":true}}]}"#)
            case "tools/call":
                calls.withLock { $0 += 1 }
                return .raw(then: .close)
            default: return .status(202)
            }
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        _ = try await client.listTools()
        _ = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(calls.withLock { $0 } == 2)
        _ = try await client.listTools()
        client.connection.changed(.toolsListChanged)
        _ = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(calls.withLock { $0 } == 3)
        await client.close()
    }

    /// The server has ended the connection meanwhile and the loop has not heard of it: a request takes another
    /// one, and nothing is lost.
    @Test func aConnectionThatItsServerHasEndedIsNotUsed() async throws {
        let peer = try HTTPPeer { heard in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", then: heard.connection == 1 ? .hang : .keep)
        }
        defer { peer.stop() }
        let loop = try EventLoop()
        loop.start()
        defer { loop.stop() }
        let pool = LoopBound(
            try HTTPClientPool(
                try HTTPEndpoint(url: "http://\(peer.endpoint)/"), options: ClientOptions(), loop: loop),
            loop: loop)
        for number in 1 ... 2 {
            let error = await withCheckedContinuation { continuation in
                let request = HTTPClientRequest(
                    method: "tools/call",
                    bytes: ByteSlice("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"),
                    session: nil, connectTimeout: .seconds(10), mustBeTaken: true,
                    completion: { continuation.resume(returning: $0) })
                loop.execute {
                    // On the loop, which cannot look at the socket meanwhile.
                    if number == 2 { peer.end(1) }
                    pool.value.send(request)
                }
            }
            #expect(error == nil)
        }
        #expect(peer.heard.map(\.connection) == [1, 2])
        await withCheckedContinuation { continuation in
            loop.execute {
                pool.value.close()
                continuation.resume()
            }
        }
    }

    /// The server is another one than it was taken for. A call that it may have carried out is not made again
    /// in the words of the older era.
    @Test(arguments: [(-32603, false), (-32000, false), (-32601, true), (-32602, true)])
    func aCallInTheWrongEra(_ code: Int, _ isRepeated: Bool) async throws {
        let isOld = Mutex(false)
        let transport = ScriptedTransport { sent in
            let old = isOld.withLock { $0 }
            return switch sent.method {
            case "server/discover": old ? [Script.error(-32601)] : [Script.result(Script.discovered)]
            case "initialize": [Script.result(Script.initialized())]
            case "tools/call" where sent.message.revision?.isModern == true: [Script.error(code)]
            default: [Script.result("{}")]
            }
        }
        let client = try await MCPClient.connect(transport.target)
        isOld.withLock { $0 = true }
        client.connection.state.withLock { $0.isAssumed = true }
        let outcome = await mcpError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(outcome?.code == (isRepeated ? nil : code))
        #expect(transport.methods.count { $0 == "tools/call" } == (isRepeated ? 2 : 1))
        #expect(client.protocolVersion == .v2025_11_25)
        await client.close()
    }

    private func mcpError(_ body: () async throws -> Void) async -> MCPError? {
        do { try await body() } catch { return error as? MCPError }
        return nil
    }

    // MARK: Refusals

    /// HTTPC-11, and the others that come as plain text.
    @Test(
        arguments: [
            (413, "bytes, which is more"), (431, "header fields"), (414, "URL is longer"), (415, nil),
            (406, nil),
            (405, nil), (429, nil), (503, nil),
        ] as [(Int, String?)]) func plainRefusals(_ status: Int, _ hint: String?) async throws
    {
        let peer = try HTTPClientTransportTests.modern { _ in
            .raw(
                "HTTP/1.1 \(status) X\r\nContent-Type: text/plain\r\nRetry-After: 7\r\n"
                    + "Content-Length: 17\r\n\r\nwhat we think: ä")
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == .httpStatus)
        #expect(error?.httpStatus == status)
        #expect(error?.message == "the server refused tools/call with HTTP \(status)")
        #expect(error?.details == ["Retry-After: 7", "body: what we think: ä"])
        #expect(error?.hint?.contains(hint ?? "?") == hint.map { _ in true })
        // The connection, and the client, are as good as before.
        #expect(
            await clientError { _ = try await client.request("tools/call", ["name": "x"]) }?.httpStatus
                == status)
        #expect(peer.connections == 1)
        await client.close()
    }

    /// Our own server answers before the body is there, and closes.
    @Test func tooLongForOurServer() async throws {
        let running = try MCPServer("small", version: "1").start([.http(port: 0)])
        let address = try #require(running.addresses.first)
        let client = try await MCPClient.connect(.http("http://\(address)/mcp"))
        let text = String(repeating: "x", count: 5 << 20)
        var statuses: [Int?] = []
        // A reset may overtake the answer now and then.
        for _ in 0 ..< 10 where !statuses.contains(413) {
            let error = await clientError { _ = try await client.callTool("any", ["text": .string(text)]) }
            #expect(error?.kind == .httpStatus || error?.kind == .connectionClosed)
            statuses.append(error?.httpStatus)
        }
        #expect(statuses.contains(413))
        await client.close()
        await running.stop()
    }
}
