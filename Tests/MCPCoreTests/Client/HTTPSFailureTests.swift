import TestSupport

#if !canImport(Darwin)
import Synchronization
import Testing
import MCPCore

/// Servers with which no TLS can be spoken. Skipped where OpenSSL 3 is not installed.
@Suite(
    "failures of https (needs libssl.so.3)", .enabled(if: TLSFront.isWanted, "libssl.so.3 is not installed"))
struct HTTPSFailureTests {
    private func outcome(
        _ url: String, tls: any TLSProvider = Secured.tls, connectTimeout: Duration = .seconds(10)
    ) async -> ClientError? {
        var options = ClientOptions()
        options.connectTimeout = connectTimeout
        return await clientError {
            let client = try await MCPClient.connect(Secured.target(url, tls: tls), options: options)
            await client.close()
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let identity: TLSIdentity
        var host = "localhost"
        var isTrusted = true
        let text: String
        let hint: String
    }

    static let cases = [
        Case(
            testDescription: "expired", identity: .expired, text: "its certificate expired on 2021-01-02",
            hint: "has to renew it"),
        Case(
            testDescription: "self-signed", identity: .selfSigned, text: "its certificate is self-signed",
            hint: "--cacert"),
        Case(
            testDescription: "unknown issuer", identity: .server, isTrusted: false,
            text: "its certificate was issued by CN=swift-mcp-core test CA, which is not trusted here",
            hint: "ca-certificates"),
        Case(
            testDescription: "other name", identity: .other,
            text: "its certificate is for other.example, *.other.example, 192.0.2.1, not for localhost",
            hint: "check the address"),
        Case(
            testDescription: "other address", identity: .other, host: "127.0.0.1",
            text: "its certificate is for other.example, *.other.example, 192.0.2.1, not for 127.0.0.1",
            hint: "check the address"),
    ]

    @Test("certificates that are not accepted", arguments: cases) func certificates(_ test: Case) async throws
    {
        let peer = try HTTPPeer { .result($0, Script.discovered) }
        defer { peer.stop() }
        let front = try TLSFront(test.identity, to: peer.port)
        defer { front.stop() }
        let tls = test.isTrusted ? Secured.tls : OpenSSLProvider.system
        let error = try #require(await outcome("https://\(test.host):\(front.port)/mcp", tls: tls))
        #expect(error.kind == .tls)
        #expect(error.message.hasPrefix("cannot connect to \(test.host):\(front.port): \(test.text)"))
        #expect(error.details == ["nothing was sent"])
        #expect(error.hint?.contains(test.hint) == true)
        #expect(peer.connections == 0)
        // The server was told by an alert.
        await waitUntil { front.failedHandshakes == 1 }
        #expect(front.failedHandshakes == 1)
        #expect(front.handshakes.isEmpty)
    }

    @Test func aServerThatSpeaksPlainHTTP() async throws {
        let running = try TestServer().server.start([.http(.tcp(port: 0))])
        let port = try running.port()
        let error = try #require(await outcome("https://localhost:\(port)/mcp"))
        #expect(error.kind == .tls)
        #expect(error.message == "cannot connect to localhost:\(port): the server does not use TLS")
        #expect(error.details.first?.hasPrefix("it sent: HTTP/1.1 400") == true)
        #expect(error.hint == "use http:// if the server uses plain HTTP")
        await running.stop()
    }

    @Test func aServerThatSpeaksTooOldATLS() async throws {
        let front = try TLSFront(to: 1, TLSFront.Behaviour(.tls11))
        defer { front.stop() }
        let error = try #require(await outcome(front.url))
        #expect(error.kind == .tls)
        #expect(error.hint == "this client supports TLS 1.2 and 1.3")
        #expect(front.handshakes.isEmpty)
    }

    // MARK: Peers that are no servers

    static let garbage: [[UInt8]] = [
        Array(repeating: 0, count: 100), Array(repeating: 0xFF, count: 70_000), [0x16],
        [0x16, 3, 3, 0xFF, 0xFF],
        [0x16, 3, 3, 0, 4, 2, 0xFF, 0xFF, 0xFF], [0x15, 3, 3, 0, 2, 2, 40], [0x15, 3, 3, 0, 2, 1, 0],
        [0x17, 3, 3, 0, 1, 0], Array("SSH-2.0-OpenSSH_9.2\r\n".utf8), [0x80, 0x2E, 1, 0, 2],
        (0 ..< 5_000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 7) },
    ]

    /// It stays open or not: either way the client ends in time, and tells.
    @Test(arguments: garbage, [false, true]) func peersThatSendGarbage(_ bytes: [UInt8], _ staysOpen: Bool)
        async throws
    {
        let listener = try BareListener { descriptor in
            _ = Between.receive(descriptor)
            _ = Between.send(descriptor, bytes)
            if staysOpen { while Between.receive(descriptor) != nil {} }
        }
        defer { listener.stop() }
        let error = try #require(
            await outcome("https://localhost:\(listener.port)/mcp", connectTimeout: .seconds(3)))
        #expect(error.kind == .tls || error.kind == .cannotConnect || staysOpen && error.kind == .timeout)
    }

    @Test(arguments: [false, true]) func aPeerThatClosesInTheHandshake(_ resets: Bool) async throws {
        let listener = try BareListener { descriptor in
            _ = Between.receive(descriptor)
            if resets { BareListener.reset(descriptor) }
        }
        defer { listener.stop() }
        let error = try #require(await outcome("https://localhost:\(listener.port)/mcp"))
        #expect(error.kind == .cannotConnect)
        #expect(
            resets || error.message.hasSuffix("the server closed the connection during the TLS handshake"))
        #expect(resets || error.details == ["nothing was sent"])
    }

    @Test(arguments: [1, 5, 50, 200, 600]) func anEndInTheMiddleOfTheHandshake(_ bytes: Int) async throws {
        let front = try TLSFront(to: 1)
        defer { front.stop() }
        let between = try Between(to: front.port) { passed, piece in
            passed + piece.count < bytes ? .pass(piece) : .close(Array(piece.prefix(bytes - passed)))
        }
        defer { between.stop() }
        let error = try #require(await outcome("https://localhost:\(between.port)/mcp"))
        #expect(error.kind == .cannotConnect)
    }

    /// One byte of the server's side is another one: the client ends in time, whichever it is.
    @Test func handshakesWithOneWrongByte() async throws {
        let peer = try HTTPPeer { .result($0, Script.discovered) }
        defer { peer.stop() }
        let front = try TLSFront(to: peer.port)
        defer { front.stop() }
        let kinds = await withTaskGroup(of: ClientError.Kind?.self) { group in
            for place in stride(from: 0, to: 1_000, by: 23) {
                group.addTask {
                    let between = try? Between(to: front.port) { passed, piece in
                        var piece = piece
                        if piece.indices.contains(place - passed) { piece[place - passed] ^= 0x41 }
                        return .pass(piece)
                    }
                    guard let between else { return nil }
                    let url = "https://localhost:\(between.port)/mcp"
                    let error = await self.outcome(url, connectTimeout: .seconds(3))
                    between.stop()
                    return error?.kind
                }
            }
            return await group.reduce(into: [ClientError.Kind?]()) { $0.append($1) }
        }
        #expect(kinds.count == 44)
        // Behind the client's part of the handshake a wrong byte ends the call: at once, or, in a length,
        // when what never comes was waited for.
        #expect(kinds.allSatisfy { [.tls, .cannotConnect, .connectionClosed, .timeout].contains($0) })
        #expect(peer.connections <= 44)
    }

    @Test func aPeerThatNeverEndsTheHandshake() async throws {
        let listener = try BareListener { descriptor in while Between.receive(descriptor) != nil {} }
        defer { listener.stop() }
        let error = try #require(
            await outcome("https://127.0.0.1:\(listener.port)/mcp", connectTimeout: .seconds(3)))
        #expect(error.kind == .cannotConnect)
        #expect(error.message.hasSuffix("the server did not finish the TLS handshake within 3 s"))
        #expect(error.hint != nil)
    }

    /// What came of an answer cannot be read, but the request was carried out: it is not sent again.
    @Test(arguments: ["changed", "short", "plain"]) func answersThatAreSpoiltOnTheWay(_ how: String)
        async throws
    {
        let peer = try HTTPPeer { heard in
            .result(heard, heard.rpcMethod == "server/discover" ? Script.discovered : #"{"content":[]}"#)
        }
        defer { peer.stop() }
        let front = try TLSFront(to: peer.port)
        defer { front.stop() }
        let isBad = Mutex(false)
        let between = try Between(to: front.port) { _, piece in
            guard isBad.withLock({ $0 }), let last = piece.last else { return .pass(piece) }
            return switch how {
            case "changed": .pass(piece.dropLast() + [last ^ 1])
            case "short": .close(Array(piece.prefix(20)))
            default: .close(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
            }
        }
        defer { between.stop() }
        let client = try await MCPClient.connect(Secured.target("https://localhost:\(between.port)/mcp"))
        isBad.withLock { $0 = true }
        let error = await clientError { _ = try await client.callTool("echo") }
        #expect(error?.kind == .connectionClosed)
        #expect(peer.heard.filter { $0.rpcMethod == "tools/call" }.count == 1)
        await client.close()
    }

    @Test func trustFilesThatHoldNothing() async throws {
        let folder = TemporaryDirectory()
        try folder.write("empty.pem", "nothing")
        let path = "\(folder.path)/empty.pem"
        for (file, text) in [(path, "contains no certificate"), ("/nowhere/ca.pem", "cannot be read: ")] {
            let error = await outcome("https://localhost:1/mcp", tls: OpenSSLProvider(trustFile: file))
            #expect(error?.kind == .invalidRequest)
            #expect(error?.message.contains("the trust file \(file) \(text)") == true)
        }
    }
}
#endif
