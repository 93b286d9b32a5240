import Synchronization
import TestSupport
import Testing

@testable import MCPCore

@Suite("OAuth: HTTP of the flow")
struct HTTPFetcherTests {
    /// Serves one path in each way that a fetcher must bear.
    private struct Handler: HTTPRequestHandler {
        let seen: RequestLog

        func respond(to request: HTTPRequest) async -> HTTPResponse {
            seen.add("\(request.method) \(request.target)")
            func redirect(_ place: String, _ status: Int = 302) -> HTTPResponse {
                var headers = HeaderFields()
                try? headers.append("Location", place)
                return HTTPResponse(status: status, headers: headers)
            }
            switch request.path {
            case "/object": return .text("{\"a\": 1}")
            case "/full": return .text(String(repeating: " ", count: HTTPFetcher.maxBodyBytes))
            case "/large": return .text(String(repeating: " ", count: HTTPFetcher.maxBodyBytes + 1))
            case "/page": return .text("<html></html>")
            case "/deep": return .text(Self.nested(33))
            case "/depth": return .text(Self.nested(32))
            case "/twice": return .text("{\"a\": 1, \"a\": 2}")
            case "/list": return .text("[]")
            case "/1": return redirect("/2")
            case "/2": return redirect("3")
            case "/3": return redirect("/object", 307)
            case "/0": return redirect("/1", 308)
            case "/abroad": return redirect("http://127.0.0.1:1/object")
            default: return HTTPResponse(status: 404)
            }
        }

        private static func nested(_ depth: Int) -> String {
            String(repeating: "{\"a\":", count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
        }
    }

    private final class RequestLog: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func serving(
        _ test: (_ origin: String, _ fetcher: HTTPFetcher, _ log: RequestLog) async throws -> Void
    ) async throws {
        let log = RequestLog()
        let server = try HTTPServer(on: [.tcp(port: 0)])
        try server.start(Handler(seen: log))
        let origin = "http://127.0.0.1:\(server.addresses[0].port ?? 0)"
        do {
            try await test(origin, HTTPFetcher(for: origin), log)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test("bodies up to the limit are read, and only objects are metadata")
    func bodies() async throws {
        try await serving { (origin, fetcher, _) async throws in
            func get(_ path: String) async throws(AuthorizationError) -> OAuthHTTPResponse {
                try await fetcher.send(OAuthHTTPRequest(get: origin + path))
            }
            #expect(try await get("/object").object?["a"] == 1)
            #expect(try await get("/depth").object != nil)
            #expect(try await get("/full").body.count == HTTPFetcher.maxBodyBytes)
            for path in ["/page", "/deep", "/twice", "/list", "/none"] {
                #expect(try await get(path).object == nil, "\(path)")
            }
            let error = await #expect(throws: AuthorizationError.self) { try await get("/large") }
            #expect(error?.kind == .malformed)
            #expect(error?.message.contains("256 KiB") == true)
        }
    }

    @Test("a GET follows three redirects within its origin, a POST none")
    func redirects() async throws {
        try await serving { (origin, fetcher, log) async throws in
            let three = try await fetcher.send(OAuthHTTPRequest(get: origin + "/1"))
            #expect(three.status == 200)
            #expect(log.all == ["GET /1", "GET /2", "GET /3", "GET /object"])
            let four = try await fetcher.send(OAuthHTTPRequest(get: origin + "/0"))
            #expect(four.status == 307)
            let abroad = try await fetcher.send(OAuthHTTPRequest(get: origin + "/abroad"))
            #expect(abroad.status == 302)
            let before = log.all.count
            let post = try await fetcher.send(OAuthHTTPRequest(post: origin + "/3", form: [("a", "b")]))
            #expect(post.status == 307)
            #expect(log.all.count == before + 1)
        }
    }

    #if !canImport(Darwin)
    @Test("https with a certificate that is checked", .enabled(if: TLSFront.isWanted))
    func https() async throws {
        try await serving { (origin, _, _) async throws in
            let port = try #require(UInt16(origin.split(separator: ":").last ?? ""))
            let front = try TLSFront(to: port)
            let url = "https://localhost:\(front.port)"
            let fetcher = HTTPFetcher(for: url, tls: Secured.tls)
            #expect(try await fetcher.send(OAuthHTTPRequest(get: url + "/object")).object?["a"] == 1)
            let full = try await fetcher.send(OAuthHTTPRequest(get: url + "/full"))
            #expect(full.body.count == HTTPFetcher.maxBodyBytes)
            let stranger = HTTPFetcher(for: url)
            let error = await #expect(throws: AuthorizationError.self) {
                try await stranger.send(OAuthHTTPRequest(get: url + "/object"))
            }
            #expect(error?.kind == .unreachable)
            front.stop()
        }
    }
    #endif

    // AUTH-10
    @Test("plain http is only used on this machine")
    func plainHTTP() async throws {
        let fetcher = HTTPFetcher(for: "https://93.184.216.34/mcp")
        let error = await #expect(throws: AuthorizationError.self) {
            try await fetcher.send(OAuthHTTPRequest(get: "http://93.184.216.35/x"))
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.message.contains("not https") == true)
    }

    /// What a name resolves to decides, also if it changes.
    @Test(
        "addresses of a public server's metadata that are not connected to",
        arguments: [
            "127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "169.254.169.254",
            "fe80::1", "fd00::1", "fd00:ec2::254", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "224.0.0.1", "ff02::1",
            "0.0.0.0", "::", "255.255.255.255", "::127.0.0.1",
        ])
    func forbidden(_ address: String) async throws {
        let fetcher = HTTPFetcher(
            for: "https://mcp.example.com/mcp", allowedHosts: [], tls: FakeTLS(), loop: nil
        ) { (host, port) throws(SocketAddress.ResolveError) in
            // The server itself is public.
            let text = host == "mcp.example.com" ? "93.184.216.34" : address
            guard let found = SocketAddress(numeric: text, port: port) else {
                throw SocketAddress.ResolveError(host: host, reason: "?")
            }
            return [found]
        }
        let error = await #expect(throws: AuthorizationError.self) {
            try await fetcher.send(OAuthHTTPRequest(get: "https://id.example.com/x"))
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.message.contains("is not reached for authorization") == true)
    }

    // AUTH-48
    @Test("each scope reaches those that are at least as public")
    func rule() throws {
        func allows(_ server: AddressScope, _ address: String, host: String = "id.example.com") throws -> Bool
        {
            let rule = AddressRule(server: server, allowedHosts: ["dev.example.com"])
            let found = try #require(SocketAddress(numeric: address, port: 443))
            return rule.refusal(of: found, host: host, isSecure: true) == nil
        }
        let all = ["127.0.0.1", "10.0.0.1", "93.184.216.34", "2606:4700::1", "169.254.0.1"]
        #expect(try all.map { try allows(.loopback, $0) } == [true, true, true, true, false])
        #expect(try all.map { try allows(.local, $0) } == [false, true, true, true, false])
        #expect(try all.map { try allows(.global, $0) } == [false, false, true, true, false])
        #expect(try all.map { try allows(.global, $0, host: "dev.example.com") }.allSatisfy { $0 })
    }

    @Test("a server that does not answer is left after 15 seconds")
    func silence() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        let handler = TestHandler()
        let server = try HTTPServer(on: [.tcp(port: 0)])
        try server.start(handler)
        let origin = "http://127.0.0.1:\(server.addresses[0].port ?? 0)"
        let fetcher = HTTPFetcher(for: origin, allowedHosts: [], tls: FakeTLS(), loop: loop) {
            (host, port) throws(SocketAddress.ResolveError) in
            try SocketAddress.resolve(host: host, port: port)
        }
        async let outcome = Self.failure {
            try await fetcher.send(OAuthHTTPRequest(get: origin + "/door/wait"))
        }
        await handler.asked.wait()
        clock.advance(by: HTTPFetcher.timeout)
        let error = await outcome
        #expect(error?.kind == .unreachable)
        #expect(error?.message.contains("15") == true)
        handler.release.open()
        await server.stop()
        loop.stop()
        loop.waitUntilStopped()
    }

    // It may never end.
    @Test("a stream of events is a response without a body")
    func events() async throws {
        let peer = try HTTPPeer { _ in .events("data: x\n\n", end: false) }
        defer { peer.stop() }
        let origin = "http://\(peer.endpoint)"
        let response = try await HTTPFetcher(for: origin).send(OAuthHTTPRequest(get: origin + "/sse"))
        #expect(response.status == 200 && response.body.isEmpty)
    }

    private static func failure(
        _ work: @Sendable () async throws -> OAuthHTTPResponse
    ) async -> AuthorizationError? {
        do {
            _ = try await work()
            return nil
        } catch {
            return error as? AuthorizationError
        }
    }
}
