import Synchronization
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
        await eventually { peer.ended == connections - 1 }
        _ = try await client.request("tools/list")
        #expect(peer.connections == connections)
        await client.close()
    }

    // MARK: One more time

    /// A kept connection that is reset before the first byte: every kind of request is sent once more.
    @Test(
        arguments: [HTTPPeer.Then.close, .reset],
        ["notifications/initialized", "GET", "DELETE", "tools/call"])
    func resetOfAKeptConnection(_ then: HTTPPeer.Then, _ victim: String) async throws {
        let resets = Mutex(0)
        let peer = try HTTPPeer { heard in
            let kind = heard.method == "POST" ? heard.rpcMethod : heard.method
            let isFirst =
                kind == victim
                && resets.withLock { count in
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
            default: .result(heard, "{}")
            }
        }
        defer { peer.stop() }
        var options = ClientOptions()
        let greetings = Mutex(0)
        options.onNotification = { _, _ in greetings.withLock { $0 += 1 } }
        let client = try await MCPClient.connect(peer.target, options: options)
        await eventually { greetings.withLock { $0 } == 1 }
        // The stream has taken the first connection, so that another one is kept by this.
        _ = try await client.request("tools/list")
        _ = try await client.request("tools/call", ["name": "x"])
        await client.close()
        let heard = peer.heard.filter { $0.method == victim || $0.rpcMethod == victim }
        #expect(heard.count == 2)
        #expect(resets.withLock { $0 } == 2)
        #expect(greetings.withLock { $0 } == 1)
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
