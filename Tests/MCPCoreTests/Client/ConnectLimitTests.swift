import TestSupport
import Testing

@testable import MCPCore

/// `ClientOptions.connectTimeout` is one limit for all that connecting waits for.
@Suite struct ConnectLimitTests {
    private static let limit = Duration.milliseconds(400)
    /// What a machine may add on which hundreds of tests begin at once: the messages say which limit it was.
    private static let slack = Duration.seconds(30)

    private func failure(_ target: ClientTarget, _ limit: Duration = limit) async -> ClientError? {
        var options = ClientOptions()
        options.connectTimeout = limit
        options.logLevel = .debug
        let start = ContinuousClock.now
        let error = await clientError { await (try MCPClient.connect(target, options: options)).close() }
        let time = ContinuousClock.now - start
        #expect(time >= limit)
        #expect(time < limit + Self.slack)
        return error
    }

    @Test(arguments: [
        ("server/discover", " did not respond to server/discover within 5 s"),
        ("initialize", " did not respond to initialize within 5 s"),
        ("notifications/initialized", " did not respond to notifications/initialized within 5 s"),
    ])
    func aServerThatTakesAndNeverAnswers(_ silent: String, _ message: String) async throws {
        let peer = try HTTPPeer { heard in
            if heard.rpcMethod == silent { return .raw(then: .hang) }
            return switch heard.rpcMethod {
            case "server/discover": .status(400)
            case "initialize": .result(heard, Script.initialized())
            default: .status(202)
            }
        }
        defer { peer.stop() }
        let error = await failure(peer.target, .seconds(5))
        #expect(error?.kind == .timeout)
        #expect(error?.message == peer.endpoint + message)
        await waitUntil { peer.ended == peer.connections }
    }

    /// The kernel takes no more connections for a listener that accepts none.
    @Test func aListenerThatAcceptsNothing() async throws {
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
        let listener = try Syscalls.streamSocket(address.domain)
        try Syscalls.bind(listener.rawValue, to: address)
        try Syscalls.listen(listener.rawValue, backlog: 0)
        let place = try #require(try Syscalls.localAddress(listener.rawValue))
        let queued = try (0 ..< 8).map { _ in
            let socket = try Syscalls.streamSocket(address.domain)
            _ = try Syscalls.connect(socket.rawValue, to: place)
            return socket.release()
        }
        defer { for fd in queued { Syscalls.close(fd) } }
        let port = place.port
        let error = await failure(.http("http://127.0.0.1:\(port)/mcp"))
        #expect(error?.kind == .cannotConnect)
        #expect(error?.message == "cannot connect to 127.0.0.1:\(port): no answer within 400 ms")
    }

    /// A wake-up that is lost, a loop that is stuck: the limit needs neither.
    @Test func aLoopThatNeverTurns() async throws {
        let peer = try HTTPPeer { .result($0, Script.discovered) }
        defer { peer.stop() }
        let loop = try EventLoop()
        let url = "http://\(peer.endpoint)/mcp"
        let target = ClientTarget(url) { (options) throws(ClientError) in
            try HTTPClientTransport(HTTPEndpoint(url: url), options: options, loop: loop)
        }
        #expect(await failure(target)?.kind == .timeout)
        #expect(peer.connections == 0)
        loop.start()
        loop.stop()
    }

    /// Its own rest of the time is left for a server that does not answer `logging/setLevel`.
    @Test func aServerThatIsSilentBehindTheHandshake() async throws {
        let transport = Script.legacy(capabilities: #"{"logging":{}}"#) { _ in [] }
        var options = ClientOptions()
        // Enough for the handshake on a busy machine.
        let limit = Duration.seconds(3)
        options.connectTimeout = limit
        options.logLevel = .debug
        let start = ContinuousClock.now
        let client = try await MCPClient.connect(transport.target, options: options)
        #expect(ContinuousClock.now - start < limit + Self.slack)
        #expect(transport.methods.contains("logging/setLevel"))
        await client.close()
    }

    /// A server that ignores the probe gets `initialize` as well; its answer comes first.
    @Test func aProgramThatIsSilentToTheProbe() async throws {
        let transport = ScriptedTransport { sent in
            sent.method == "initialize" ? [Script.result(Script.initialized())] : []
        }
        var options = ClientOptions()
        options.connectTimeout = .seconds(60)
        options.probeTimeout = .milliseconds(20)
        let client = try await MCPClient.connect(transport.target, options: options)
        #expect(client.protocolVersion == .v2025_11_25)
        #expect(transport.methods == ["server/discover", "initialize", "notifications/initialized"])
        await client.close()
    }
}
