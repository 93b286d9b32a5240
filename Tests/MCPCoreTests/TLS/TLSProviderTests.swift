import Dispatch
import TestSupport
import Testing

@testable import MCPCore

/// A provider that a program brings along takes the place of OpenSSL everywhere.
@Suite struct TLSProviderTests {
    /// The other side of `FakeTLS`, in front of a peer.
    private static func front(_ backend: UInt16) throws -> BareListener {
        try BareListener { client in
            var greeting: [UInt8] = []
            while greeting.count < FakeTLS.greeting.count, let bytes = Between.receive(client) {
                greeting += bytes
            }
            guard greeting == FakeTLS.greeting, let server = BareListener.connect(backend) else { return }
            _ = Between.send(client, FakeTLS.answer)
            // The client has to wait for this before its first request.
            _ = Between.send(client, [UInt8(ascii: "G")])
            let isUp = DispatchSemaphore(value: 0)
            TestThread.run {
                while let bytes = Between.receive(client), Between.send(server, bytes.map { ~$0 }) {}
                BlockingSocket.shutDown(server)
                isUp.signal()
            }
            while let bytes = Between.receive(server), Between.send(client, bytes.map { ~$0 }) {}
            BlockingSocket.shutDown(client)
            isUp.wait()
            BlockingSocket.close(server)
        }
    }

    @Test func callsThroughIt() async throws {
        let peer = try HTTPPeer { heard in
            heard.rpcMethod == "server/discover"
                ? .result(heard, Script.discovered) : .result(heard, #"{"content":[]}"#)
        }
        defer { peer.stop() }
        let front = try Self.front(peer.port)
        defer { front.stop() }
        let client = try await MCPClient.connect(
            .http("https://localhost:\(front.port)/mcp", tls: FakeTLS()).recorded())
        let text = String(repeating: "x", count: 100_000)
        for _ in 0 ..< 3 { _ = try await client.callTool("echo", ["text": .string(text)]) }
        await client.close()
        #expect(peer.connections == 1)
        #expect(peer.heard.last?.body?["params"]?["arguments"]?["text"]?.string == text)
    }

    @Test func whatItRefuses() async throws {
        let listener = try BareListener { client in
            _ = Between.receive(client)
            _ = Between.send(client, Array("WHATEVER".utf8))
            while Between.receive(client) != nil {}
        }
        defer { listener.stop() }
        for (host, text) in [("localhost", "an odd greeting"), ("127.0.0.1", "nobody of that name")] {
            let error = await clientError {
                _ = try await MCPClient.connect(.http("https://\(host):\(listener.port)/mcp", tls: FakeTLS()))
            }
            #expect(error?.kind == .tls)
            #expect(error?.message == "cannot connect to \(host):\(listener.port): \(text)")
        }
    }

    /// Answers everything that comes, as TLS does with some messages.
    private struct Echo: TLSProvider {
        func filter(for host: String) throws(TLSError) -> any TLSFilter { Filter() }

        final class Filter: TLSFilter {
            private var owed = 0
            func handshake() throws(TLSError) -> Bool { true }
            func receive(_ bytes: RawSpan) throws(TLSError) { owed += bytes.byteCount }
            func read(into room: inout MutableRawSpan) throws(TLSError) -> Int? { nil }
            func write(_ bytes: RawSpan) throws(TLSError) -> Int { bytes.byteCount }
            func takeOutput(into room: inout MutableRawSpan) -> Int {
                let count = min(room.byteCount, owed)
                owed -= count
                return count
            }
            func close() {}
        }
    }

    /// What the peer makes TLS itself say, and does not read, is limited.
    @Test func aPeerThatWantsAnswersAndTakesNone() async throws {
        let listener = try BareListener { client in
            let zeros = [UInt8](repeating: 0, count: 65_536)
            while Between.send(client, zeros) {}
        }
        defer { listener.stop() }
        let error = await clientError {
            _ = try await MCPClient.connect(.http("https://localhost:\(listener.port)/mcp", tls: Echo()))
        }
        #expect(error?.kind == .connectionClosed)
        #expect(error?.details == ["the server requests TLS replies but does not read them"])
    }

    /// A verdict on the http server of a place says nothing about its https server.
    @Test func serversAreRememberedByScheme() throws {
        let keys = try ["http", "https"].map { scheme in
            try HTTPClientTransport(
                HTTPEndpoint(url: "\(scheme)://h:1/mcp"), options: ClientOptions(), tls: FakeTLS()
            ).serverKey?.place
        }
        #expect(keys == ["http://h:1/mcp", "https://h:1/mcp"])
    }

    /// LEG-31: what an https server announces stays at its origin.
    @Test(
        arguments: [
            ("/m", "/m"), ("https://h/m?x=1", "/m?x=1"), ("https://h:443/m", "/m"), ("http://h/m", nil),
            ("http://h:443/m", nil), ("https://h:444/m", nil),
        ] as [(String, String?)])
    func announcedPlaces(_ reference: String, _ target: String?) throws {
        let endpoint = try HTTPEndpoint(url: "https://h/sse")
        #expect((try? endpoint.target(of: reference)) == target)
    }
}
