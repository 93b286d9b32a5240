import TestSupport

#if !canImport(Darwin)
import Synchronization
import Testing
import MCPCore

/// Calls over https against a server behind a TLS proxy. Skipped where OpenSSL 3 is not installed.
@Suite(
    "calls over https (needs libssl.so.3)", .enabled(if: TLSFront.isWanted, "libssl.so.3 is not installed"))
struct HTTPSTests {
    private typealias Behaviour = TLSFront.Behaviour

    private static func behaviour(_ version: TLSFront.Version?, recordBytes: Int = 16_384) -> Behaviour {
        var behaviour = Behaviour(version)
        behaviour.recordBytes = recordBytes
        return behaviour
    }

    /// A client of a peer behind a front.
    private static func withPeer(
        _ behaviour: Behaviour = Behaviour(), options: ClientOptions = ClientOptions(),
        _ script: @escaping @Sendable (HTTPPeer.Heard) -> HTTPPeer.Answer,
        _ body: (MCPClient, HTTPPeer, TLSFront) async throws -> Void
    ) async throws {
        let peer = try HTTPPeer { heard in
            heard.rpcMethod == "server/discover" ? .result(heard, Script.discovered) : script(heard)
        }
        defer { peer.stop() }
        let front = try TLSFront(to: peer.port, behaviour)
        defer { front.stop() }
        let client = try await MCPClient.connect(Secured.target(front.url), options: options)
        try await body(client, peer, front)
        await client.close()
    }

    @Test(arguments: [TLSFront.Version.tls12, .tls13]) func calls(_ version: TLSFront.Version) async throws {
        let served = try TestServer()
        let running = try served.server.start([.http(.tcp(port: 0))])
        let port = try running.port()
        let front = try TLSFront(to: port, Behaviour(version))
        let client = try await MCPClient.connect(Secured.target(front.url))
        for number in 0 ..< 20 {
            #expect(
                try await client.callTool("add", ["a": .number(JSONNumber(number)), "b": 1]).text
                    == "\(number + 1)")
        }
        await client.close()
        // All calls went over one connection, which was ended in good order.
        #expect(front.handshakes.count == 1)
        let handshake = try #require(front.handshakes.first)
        #expect(handshake.serverName == "localhost")
        #expect(handshake.application == "http/1.1")
        #expect(handshake.version == (version == .tls12 ? "TLSv1.2" : "TLSv1.3"))
        await waitUntil { front.endedInOrder == 1 }
        #expect(front.endedInOrder == 1)
        front.stop()
        await running.stop()
    }

    /// RFC 6066 3: an address is not sent as a server's name, and the certificate names it.
    @Test func addressesAreCheckedAndNotSent() async throws {
        let peer = try HTTPPeer { .result($0, Script.discovered) }
        defer { peer.stop() }
        let front = try TLSFront(to: peer.port)
        defer { front.stop() }
        let client = try await MCPClient.connect(Secured.target("https://127.0.0.1:\(front.port)/mcp"))
        await client.close()
        let handshake = try #require(front.handshakes.first)
        #expect(handshake.serverName == nil)
        #expect(peer.heard.first?.header("host") == "127.0.0.1:\(front.port)")
    }

    // MARK: Sizes

    @Test(arguments: [TLSFront.Version.tls12, .tls13], [16_384, 1_000])
    func fiveMegabytesEachWay(_ version: TLSFront.Version, _ recordBytes: Int) async throws {
        let size = 5 << 20
        let text = String(repeating: "x", count: size)
        try await Self.withPeer(Self.behaviour(version, recordBytes: recordBytes)) { heard in
            let count = heard.body?["params"]?["arguments"]?["text"]?.string?.utf8.count ?? 0
            return .result(
                heard,
                #"{"content":[{"type":"text","text":"\#(count) \#(String(repeating: "y", count: size))"}]}"#)
        } _: { client, _, front in
            let result = try await client.callTool("echo", ["text": .string(text)])
            #expect(result.text.utf8.count == "\(size) ".utf8.count + size)
            #expect(result.text.hasPrefix("\(size) yyy"))
            #expect(front.handshakes.count == 1)
        }
    }

    @Test func theLimitOfAnAnswerHolds() async throws {
        var options = ClientOptions()
        options.maxMessageBytes = 100_000
        try await Self.withPeer(options: options) { heard in
            .result(
                heard, #"{"content":[{"type":"text","text":"\#(String(repeating: "y", count: 200_000))"}]}"#)
        } _: { client, _, _ in
            let error = await clientError { _ = try await client.callTool("echo") }
            #expect(error?.kind == .protocolViolation)
        }
    }

    // MARK: Streams

    @Test(arguments: [TLSFront.Version.tls12, .tls13], [1, 7, 16_384])
    func eventStreamsInSmallRecords(_ version: TLSFront.Version, _ recordBytes: Int) async throws {
        let reports = Mutex(0)
        try await Self.withPeer(Self.behaviour(version, recordBytes: recordBytes)) { heard in
            let token = heard.body?["params"]?["_meta"]?["progressToken"].map { "\($0)" } ?? "null"
            let events = (1 ... 50).map { "data: \(Script.progress(token, "\($0)"))\n\n" }.joined()
            let answer = #"{"jsonrpc":"2.0","id":\#(heard.id),"result":{"content":[]}}"#
            return .events(events + "data: \(answer)\n\n")
        } _: { client, _, front in
            for _ in 0 ..< 2 {
                let options = CallOptions(onProgress: { _ in reports.withLock { $0 += 1 } })
                _ = try await client.callTool("slow", options: options)
            }
            #expect(reports.withLock { $0 } == 100)
            // A call ends with its answer; the connection is free when the end of the stream has come, too.
            #expect((1 ... 2).contains(front.handshakes.count))
        }
    }

    // MARK: What TLS does by itself

    @Test func keysAreChangedOnTheWay() async throws {
        var behaviour = Self.behaviour(.tls13, recordBytes: 100)
        behaviour.updatesKeys = true
        try await Self.withPeer(behaviour) {
            .result($0, #"{"content":[]}"#)
        } _: { client, _, front in
            for _ in 0 ..< 5 { _ = try await client.callTool("echo") }
            #expect(front.handshakes.count == 1)
        }
    }

    @Test func aSecondHandshakeOnTheWay() async throws {
        var behaviour = Behaviour(.tls12)
        behaviour.renegotiates = true
        let text = String(repeating: "x", count: 300_000)
        try await Self.withPeer(behaviour) {
            .result($0, #"{"content":[]}"#)
        } _: { client, _, front in
            for _ in 0 ..< 3 { _ = try await client.callTool("echo", ["text": .string(text)]) }
            #expect(front.handshakes.count == 1)
        }
    }

    // MARK: Ends

    /// A kept connection that ends before the first byte of the answer: a request that does no harm twice is
    /// sent once more.
    @Test(arguments: [HTTPPeer.Then.close, .reset], [false, true])
    func resetOfAKeptConnection(_ then: HTTPPeer.Then, _ cutsOff: Bool) async throws {
        var behaviour = Behaviour()
        behaviour.cutsOff = cutsOff
        let calls = Mutex(0)
        try await Self.withPeer(behaviour) { heard in
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            return number == 1 ? .raw(then: then) : .result(heard, #"{"prompts":[]}"#)
        } _: { client, _, front in
            _ = try await client.listPrompts()
            #expect(calls.withLock { $0 } == 2)
            #expect(front.handshakes.count == 2)
        }
    }

    /// A body that ends with the connection: only `close_notify` says that nobody cut it off.
    @Test(arguments: [false, true]) func bodiesThatEndWithTheConnection(_ cutsOff: Bool) async throws {
        var behaviour = Behaviour()
        behaviour.cutsOff = cutsOff
        try await Self.withPeer(behaviour) { heard in
            .raw(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
                #"{"jsonrpc":"2.0","id":\#(heard.id),"result":{"content":[]}}"#, then: .close)
        } _: { client, _, _ in
            let error = await clientError { _ = try await client.callTool("echo") }
            #expect(error?.kind == (cutsOff ? .connectionClosed : nil))
            #expect(error?.message.contains("may be cut off") ?? !cutsOff)
        }
    }

    /// A refusal is understood as far as it has come.
    @Test func aRefusalThatIsCutOff() async throws {
        var behaviour = Behaviour()
        behaviour.cutsOff = true
        try await Self.withPeer(behaviour) { _ in
            .raw("HTTP/1.1 401 No\r\n\r\nwho are you?", then: .close)
        } _: { client, _, _ in
            let error = await clientError { _ = try await client.callTool("echo") }
            #expect(error?.kind == .authentication)
        }
    }
}
#endif
