import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The connections of a client: as many as there are calls at the same time, however many calls there are.
@Suite struct HTTPClientPoolTests {
    /// Lets so many requests wait for each other, so that all of them are in flight at the same time.
    private final class Meeting: Sendable {
        private let size: Int
        private let waiting = Mutex(0)
        private let all = DispatchSemaphore(value: 0)

        init(_ size: Int) { self.size = size }

        /// Blocks until all have come; the last one lets them go.
        func come() {
            let isLast = waiting.withLock { waiting in
                waiting += 1
                guard waiting == size else { return false }
                waiting = 0
                return true
            }
            if isLast { for _ in 1 ..< size { all.signal() } } else { all.wait() }
        }
    }

    /// Makes `rounds` times as many calls as `width`, all of a round at the same time.
    private func rounds(
        _ count: Int, of width: Int, _ peer: HTTPPeer, on executor: (any TaskExecutor)?, _ client: MCPClient
    ) async throws {
        try await withTaskExecutorPreference(executor) {
            for _ in 0 ..< count {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0 ..< width {
                        group.addTask { _ = try await client.request("tools/call", ["name": "x"]) }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    private func client(_ peer: HTTPPeer, on loop: EventLoop) async throws -> MCPClient {
        let url = "http://\(peer.endpoint)/mcp"
        return try await MCPClient.connect(
            ClientTarget(url) { (options) throws(ClientError) in
                try HTTPClientTransport(HTTPEndpoint(url: url), options: options, loop: loop)
            })
    }

    /// `localhost` is this machine without a resolver; any other name is looked up.
    @Test func localhostNeedsNoResolver() async throws {
        let peer = try HTTPPeer { .result($0, "{}") }
        defer { peer.stop() }
        let port = peer.endpoint.split(separator: ":").last ?? ""
        for (host, isFound) in [("localhost", true), ("LOCALHOST", true), ("other.localhost", false)] {
            var fetch = HTTPFetch(
                try HTTPEndpoint(url: "http://\(host):\(port)/x"), connectTimeout: .seconds(20),
                timeout: .seconds(20), maxBodyBytes: 1 << 10)
            fetch.addresses.find = { (host, _) throws(SocketAddress.ResolveError) in
                throw SocketAddress.ResolveError(host: host, reason: "nobody was to be asked")
            }
            let response = try? await fetch.send(HeaderFields(), body: nil)
            #expect((response != nil) == isFound, "\(host)")
        }
    }

    @Test(arguments: [1, 9, HTTPClientPool.maxConnections], [false, true])
    func asManyConnectionsAsCallsInFlight(_ width: Int, _ isOnLoop: Bool) async throws {
        let meeting = Meeting(width)
        let peer = try HTTPClientTransportTests.modern { heard in
            meeting.come()
            return .result(heard, #"{"content":[]}"#)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        try await rounds(4, of: width, peer, on: isOnLoop ? client.executor : nil, client)
        #expect(peer.connections == width)
        #expect(peer.heard.count == 1 + 4 * width)
        await client.close()
        await waitUntil { peer.ended == width }
    }

    /// A task that prefers the client's executor is on its thread before and after each call.
    @Test func callsOnTheExecutorOfTheClient() async throws {
        let peer = try HTTPClientTransportTests.modern { .result($0, "{}") }
        defer { peer.stop() }
        let loop = try EventLoop()
        loop.start()
        defer { loop.stop() }
        let client = try await client(peer, on: loop)
        #expect(client.executor === loop)
        try await withTaskExecutorPreference(client.executor) {
            for _ in 0 ..< 10 {
                _ = try await client.request("tools/call", ["name": "x"])
                #expect(loop.isOnLoop)
            }
        }
        #expect(peer.connections == 1)
        await client.close()
    }

    /// More calls than connections wait for one of them.
    @Test func furtherCallsWait() async throws {
        let most = HTTPClientPool.maxConnections
        let meeting = Meeting(most)
        let peer = try HTTPClientTransportTests.modern { heard in
            meeting.come()
            return .result(heard, #"{"content":[]}"#)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        try await rounds(1, of: 3 * most, peer, on: nil, client)
        #expect(peer.connections == most)
        await client.close()
    }

    /// Requests that never wait for a connection, such as notifications, may open more of them than are kept.
    @Test func freeConnectionsAreBounded() async throws {
        let most = HTTPClientPool.maxIdle
        let meeting = Meeting(most + 1)
        let peer = try HTTPPeer { _ in
            meeting.come()
            return .status(202)
        }
        defer { peer.stop() }
        let loop = try EventLoop()
        loop.start()
        defer { loop.stop() }
        let pool = LoopBound(
            try HTTPClientPool(
                try HTTPEndpoint(url: "http://\(peer.endpoint)/"), options: ClientOptions(), loop: loop),
            loop: loop)
        await withTaskGroup(of: ClientError?.self) { group in
            for _ in 0 ... most {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        let request = HTTPClientRequest(
                            method: "notifications/x",
                            bytes: ByteSlice("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"),
                            session: nil, connectTimeout: .seconds(10), mustBeTaken: true,
                            completion: { continuation.resume(returning: $0) })
                        loop.execute { pool.value.send(request) }
                    }
                }
            }
            for await error in group { #expect(error == nil) }
        }
        #expect(peer.connections == most + 1)
        await waitUntil { peer.ended == 1 }
        loop.execute { pool.value.close() }
        await waitUntil { peer.ended == most + 1 }
    }

    /// What was needed for a moment is not kept for ever, and what is needed stays.
    @Test func unneededConnectionsAreClosed() async throws {
        let meeting = Meeting(4)
        let isTogether = Mutex(true)
        let peer = try HTTPClientTransportTests.modern { heard in
            if isTogether.withLock({ $0 }) { meeting.come() }
            return .result(heard, "{}")
        }
        defer { peer.stop() }
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let client = try await client(peer, on: loop)
        try await rounds(1, of: 4, peer, on: nil, client)
        isTogether.withLock { $0 = false }
        for _ in 0 ..< 3 {
            clock.advance(by: .seconds(12))
            _ = try await client.request("tools/call", ["name": "x"])
        }
        await waitUntil { peer.ended == 3 }
        #expect(peer.connections == 4)
        await client.close()
    }

    /// A server that ends a connection after its response without saying so: no call is lost, and none is
    /// made twice.
    @Test(arguments: [false, true]) func serverThatCloses(_ isOnLoop: Bool) async throws {
        let peer = try HTTPClientTransportTests.modern { heard in
            var answer = HTTPPeer.Answer.result(heard, "{}")
            answer.then = .close
            return answer
        }
        defer { peer.stop() }
        let loop = try EventLoop()
        loop.start()
        defer { loop.stop() }
        let client = try await client(peer, on: loop)
        for number in 1 ... 20 {
            // The first connection is kept, since the answer to the probe is not ended by the peer.
            if number > 1 { await waitUntilIdle(loop) }
            try await withTaskExecutorPreference(isOnLoop ? client.executor : nil) {
                _ = try await client.request("tools/call", ["name": "x"])
            }
        }
        #expect(peer.heard.count == 21)
        await client.close()
    }

    /// Waits until no connection is left on the loop.
    private func waitUntilIdle(_ loop: EventLoop) async {
        var count = 1
        while count > 0 {
            count = await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: loop.registrationCount) }
            }
        }
    }

    /// A server that has stopped sending, but still reads: its connection carries nothing more.
    @Test func halfClosedConnection() async throws {
        let peer = try HTTPClientTransportTests.modern { heard in
            var answer = HTTPPeer.Answer.result(heard, "{}")
            answer.then = .halfClose
            return answer
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        for number in 1 ... 5 {
            await waitUntil { peer.ended == number - 1 }
            _ = try await client.request("tools/call", ["name": "x"])
        }
        #expect(peer.heard.filter { $0.rpcMethod == "tools/call" }.count == 5)
        await client.close()
    }

    /// Bytes that no request asked for must not become the response to the next one.
    @Test(arguments: [
        #"HTTP/1.1 200 OK\#r\#nContent-Type: application/json\#r\#nContent-Length: 2\#r\#n\#r\#n{}"#, "x",
    ])
    func bytesBehindAResponse(_ junk: String) async throws {
        let peer = try HTTPClientTransportTests.modern { heard in
            var answer = HTTPPeer.Answer.result(heard, #"{"id":\#(heard.id)}"#)
            answer.pieces[0] += junk
            return answer
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        for number in 1 ... 3 {
            let result = try await client.request("tools/call", ["name": "x"])
            #expect(result["id"]?.int == number + 1)
        }
        #expect(peer.connections == 3)
        await client.close()
    }

    // MARK: Opening

    /// A look-up that takes its time runs on another thread: the loop serves others, and the call can be
    /// abandoned.
    @Test func aSlowLookUpHoldsNobodyUp() async throws {
        let (asked, release) = (Gate(), DispatchSemaphore(value: 0))
        let loop = try EventLoop()
        loop.start()
        var fetch = HTTPFetch(
            try HTTPEndpoint(url: "http://slow.example/x"), connectTimeout: .seconds(60),
            timeout: .seconds(60), maxBodyBytes: 1)
        fetch.loop = loop
        fetch.addresses.find = { (host, port) throws(SocketAddress.ResolveError) in
            asked.open()
            release.wait()
            throw SocketAddress.ResolveError(host: host, reason: "too late")
        }
        let (sent, moved) = (fetch, Gate())
        let request = Task { try await sent.send() }
        await asked.wait()
        loop.execute { moved.open() }
        await moved.wait()
        request.cancel()
        let error = await #expect(throws: ClientError.self) { try await request.value }
        #expect(error?.kind == .cancelled)
        release.signal()
        loop.stop()
        loop.waitUntilStopped()
    }

    /// A call that is cancelled while its connection is being opened leaves no connection behind.
    @Test func cancelledWhileConnecting() async throws {
        let peer = try HTTPPeer { _ in .status(202) }
        defer { peer.stop() }
        let loop = try EventLoop()
        loop.start()
        defer { loop.stop() }
        let port = try #require(peer.endpoint.split(separator: ":").last)
        var fetch = HTTPFetch(
            try HTTPEndpoint(url: "https://localhost:\(port)/x"), connectTimeout: .seconds(60),
            timeout: .seconds(60), maxBodyBytes: 1)
        fetch.loop = loop
        // The peer does not answer its greeting.
        fetch.tls = FakeTLS()
        let sent = fetch
        let request = Task { try await sent.send() }
        await waitUntil { peer.connections == 1 }
        request.cancel()
        let error = await #expect(throws: ClientError.self) { try await request.value }
        #expect(error?.kind == .cancelled)
        await waitUntil { peer.ended == 1 }
    }

    // MARK: Whole responses

    /// What `HTTPFetch` returns is the response, whatever it says, and nothing that is too large.
    @Test func wholeResponses() async throws {
        let peer = try HTTPPeer { heard in
            switch heard.head.split(separator: " ")[1] {
            case "/moved": .status(301, headers: "Location: /other\r\n")
            case "/none": .json("gone", status: 404)
            case "/events": .events("data: x\n\n")
            case "/large": .json(String(repeating: "x", count: 1_025), status: 500)
            case "/cut": .raw("HTTP/1.1 500 X\r\nContent-Length: 9\r\n\r\nx", then: .close)
            default: .json(heard.text, headers: "X-A: b\r\n")
            }
        }
        defer { peer.stop() }
        func get(_ path: String, body: [UInt8]? = nil) async throws -> HTTPFetch.Response {
            let url = "http://\(peer.endpoint)\(path)"
            return try await HTTPFetch(
                try HTTPEndpoint(url: url), connectTimeout: .seconds(60), timeout: .seconds(60),
                maxBodyBytes: 1_024
            ).send(body: body)
        }
        let moved = try await get("/moved")
        #expect(moved.status == 301 && moved.fields["Location"] == "/other")
        let none = try await get("/none")
        #expect(none.status == 404 && none.body == Array("gone".utf8))
        #expect(try await get("/events").body == Array("data: x\n\n".utf8))
        let echo = try await get("/echo", body: Array("hi".utf8))
        #expect(echo.body == Array("hi".utf8) && echo.fields["x-a"] == "b")
        let large = await #expect(throws: ClientError.self) { try await get("/large") }
        #expect(large?.kind == .protocolViolation && large?.message.contains("1 KiB at most") == true)
        let cut = await #expect(throws: ClientError.self) { try await get("/cut") }
        #expect(cut?.kind == .connectionClosed)
        #expect(peer.heard.count == peer.connections && peer.heard.map(\.method).contains("POST"))
    }
}
