import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The event streams of legacy sessions that a client opens by GET: the session's own one, and the rest of an
/// answer.
@Suite struct HTTPClientStreamTests {
    private typealias Answer = HTTPPeer.Answer
    private typealias Heard = HTTPPeer.Heard

    /// A legacy server whose GET is answered by `get`, with the number of the GET from 1.
    private static func server(
        session: String? = "s", capabilities: String = "{}",
        get: @escaping @Sendable (Heard, Int) -> Answer,
        other: @escaping @Sendable (Heard) -> Answer = { .result($0, "{}") }
    ) throws -> HTTPPeer {
        let count = Mutex(0)
        return try HTTPClientTransportTests.legacy(session: session, capabilities: capabilities) { heard in
            switch heard.method {
            case "GET":
                get(
                    heard,
                    count.withLock { count in
                        count += 1
                        return count
                    })
            case "DELETE": .status(200)
            default: heard.rpcMethod.isEmpty ? .status(202) : other(heard)
            }
        }
    }

    static func listening(_ take: @escaping @Sendable (String) -> Void = { _ in }) -> ClientOptions {
        var options = ClientOptions()
        options.onNotification = { method, _ in take(method) }
        return options
    }

    static func gets(_ peer: HTTPPeer) -> [HTTPPeer.Heard] { peer.heard.filter { $0.method == "GET" } }

    private static func answer(_ heard: Heard, _ result: String = #"{"ok":true}"#) -> String {
        #"data: {"jsonrpc":"2.0","id":\#(heard.id),"result":\#(result)}"# + "\n\n"
    }

    /// A client whose time is moved by hand; connecting takes none.
    static func connect(_ peer: HTTPPeer, _ options: ClientOptions, _ loop: EventLoop) async throws
        -> MCPClient
    {
        let url = "http://\(peer.endpoint)/mcp"
        return try await MCPClient.connect(
            ClientTarget(url) { (options) throws(ClientError) in
                try HTTPClientTransport(HTTPEndpoint(url: url), options: options, loop: loop)
            }, options: options)
    }

    /// Moves the clock on in steps until something has happened.
    static func advance(
        _ clock: ManualClock, by step: Duration, pause: Duration = .milliseconds(3),
        until condition: @Sendable () -> Bool
    ) async {
        let end = ContinuousClock.now + .seconds(60)
        while !condition(), ContinuousClock.now < end {
            clock.advance(by: step)
            try? await Task.sleep(for: pause)
        }
    }

    // MARK: The session's own stream

    @Test func ownStream() async throws {  // LEG-12, LEG-15, LEG-22
        let heardMethods = Mutex<[String]>([])
        let peer = try Self.server(get: { _, _ in
            .events(
                #"data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"# + "\n\n"
                    + #"data: {"jsonrpc":"2.0","id":"p","method":"ping"}"# + "\n\n", end: false, then: .hang)
        })
        defer { peer.stop() }
        let client = try await MCPClient.connect(
            peer.target, options: Self.listening { method in heardMethods.withLock { $0.append(method) } })
        await waitUntil { peer.heard.contains { $0.body?["id"]?.string == "p" } }
        #expect(heardMethods.withLock { $0 } == ["notifications/tools/list_changed"])
        let get = try #require(Self.gets(peer).first)
        #expect(get.header("accept") == "text/event-stream")
        #expect(get.header("mcp-session-id") == "s")
        #expect(get.header("mcp-protocol-version") == "2025-11-25")
        #expect(get.header("content-type") == nil)
        #expect(get.header("last-event-id") == nil)
        _ = try await client.request("tools/list")
        let start = ContinuousClock.now
        await client.close()
        #expect(ContinuousClock.now - start < .seconds(5))
        await waitUntil { peer.ended > 0 }
        #expect(Self.gets(peer).count == 1)
    }

    @Test func ownStreamOnlyWhereSomebodyListens() async throws {
        let silent = try Self.server(get: { _, _ in .status(405) })
        defer { silent.stop() }
        let first = try await MCPClient.connect(silent.target)
        _ = try await first.request("tools/list")
        await first.close()
        #expect(Self.gets(silent).isEmpty)
        let stateless = try Self.server(session: nil, get: { _, _ in .status(405) })
        defer { stateless.stop() }
        let second = try await MCPClient.connect(stateless.target, options: Self.listening())
        _ = try await second.request("tools/list")
        await second.close()
        #expect(Self.gets(stateless).isEmpty)
    }

    @Test(arguments: [400, 403, 404, 405, 406, 501]) func serverWithoutOwnStream(_ status: Int) async throws {
        let peer = try Self.server(get: { _, _ in .status(status) })  // LEG-13
        defer { peer.stop() }
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let client = try await Self.connect(peer, Self.listening(), loop)
        await waitUntil { !Self.gets(peer).isEmpty }
        for _ in 0 ..< 20 {
            clock.advance(by: .seconds(31))
            _ = try await client.request("tools/list")
        }
        #expect(Self.gets(peer).count == 1)
        await client.close()
    }

    // LEG-13, SUB-06: whoever waits for nothing but changes learns that none can come.
    @Test(arguments: [(405, "s"), (404, "s"), (501, "s"), (405, nil)])
    func changesWithoutOwnStream(_ status: Int, _ session: String?) async throws {
        let change = #"data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"# + "\n\n"
        let peer = try Self.server(
            session: session, capabilities: #"{"tools":{"listChanged":true}}"#,
            get: { _, _ in .status(status) }, other: { .events(change + Self.answer($0)) })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let filter = SubscriptionFilter(toolsListChanged: true)
        let patient = try await client.listen(filter)
        for _ in 0 ..< 2 {
            let subscription = try await client.listen(filter, needsStream: true)
            let error = await clientError { for try await _ in subscription {} }
            #expect(error?.kind == .httpStatus)
            #expect(error?.httpStatus == (session == nil ? nil : status))
        }
        // Others still hear what comes with an answer.
        _ = try await client.request("tools/call", ["name": "x"])
        var changes = patient.makeAsyncIterator()
        #expect(try await changes.next() == .toolsListChanged)
        #expect(Self.gets(peer).count == (session == nil ? 0 : 1))
        await client.close()
    }

    // LEG-12: wrong credentials stay what they are.
    @Test func ownStreamForbidden() async throws {
        let peer = try Self.server(
            capabilities: #"{"tools":{"listChanged":true}}"#, get: { _, _ in .status(401) })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let subscription = try await client.listen(
            SubscriptionFilter(toolsListChanged: true), needsStream: true)
        let error = await clientError { for try await _ in subscription {} }
        #expect(error?.kind == .authentication)
        await client.close()
    }

    @Test func ownStreamIsOpenedAgain() async throws {  // LEG-08, LEG-19
        let peer = try Self.server(get: { _, number in
            number == 1
                ? .events("id: a-7\nretry: 200\ndata:\n\n")
                : .events("", end: false, then: .hang)
        })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target, options: Self.listening())
        await waitUntil { Self.gets(peer).count == 2 }
        let gets = Self.gets(peer)
        try #require(gets.count == 2)
        #expect(gets[1].header("last-event-id") == "a-7")
        #expect(gets[1].at - gets[0].at >= .milliseconds(199))
        await client.close()
    }

    /// A second by default, twice as long while nothing comes, and 30 seconds at most.
    @Test func waitsGrow() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let times = Mutex<[MonotonicInstant]>([])
        let peer = try Self.server(get: { _, number in
            times.withLock { $0.append(clock.now) }
            return number % 2 == 0 ? .status(503) : .events("")
        })
        defer { peer.stop() }
        let client = try await Self.connect(peer, Self.listening(), loop)
        // What passes between two steps is the time that a busy machine has to answer.
        await Self.advance(clock, by: .milliseconds(500), pause: .milliseconds(20)) {
            times.withLock { $0.count } >= 8
        }
        let seen = times.withLock { $0 }
        try #require(seen.count >= 8)
        for (index, least) in [1, 2, 4, 8, 16, 30, 30].enumerated() {
            let wait = seen[index + 1] - seen[index]
            #expect(wait >= .seconds(least), "wait \(index)")
            #expect(wait < .seconds(least + 12), "wait \(index)")
        }
        await client.close()
    }

    @Test func ownStreamEndsWithItsSession() async throws {
        let peer = try Self.server(get: { _, _ in .events("retry: 100\n\n") })
        defer { peer.stop() }
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let client = try await Self.connect(peer, Self.listening(), loop)
        await Self.advance(clock, by: .milliseconds(100)) { Self.gets(peer).count >= 2 }
        await client.close()
        let count = Self.gets(peer).count
        try await Self.letAnHourPass(clock, peer, loop)
        #expect(Self.gets(peer).count == count)
    }

    /// What was to happen in this time has reached the peer before another client did.
    private static func letAnHourPass(
        _ clock: ManualClock, _ peer: HTTPPeer, _ loop: EventLoop
    ) async throws {
        for _ in 0 ..< 60 { clock.advance(by: .seconds(60)) }
        let other = try await connect(peer, ClientOptions(), loop)
        await other.close()
    }

    // MARK: The rest of an answer

    enum Break: Sendable, CaseIterable { case end, close, closeInAnEvent }

    /// The scenario sse-retry of the conformance suite: the stream gives an id and `retry`, and ends.
    @Test(arguments: Break.allCases, ["s", nil])
    func answerIsTakenUpAgain(_ kind: Break, _ session: String?) async throws {  // LEG-08, LEG-19
        let call = Mutex<Heard?>(nil)
        let peer = try Self.server(
            session: session,
            get: { _, _ in .events(call.withLock { $0 }.map { Self.answer($0) } ?? "") },
            other: { heard in
                call.withLock { $0 = heard }
                let events = "id: e-1\nretry: 500\ndata:\n\n"
                return switch kind {
                case .end: .events(events)
                case .close: .events(events, end: false, then: .close)
                case .closeInAnEvent: .events(events + "data: {\"jsonr", end: false, then: .close)
                }
            })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let start = ContinuousClock.now
        let result = try await client.request("tools/call", ["name": "test_reconnection"])
        #expect(result["ok"]?.bool == true)
        let gets = Self.gets(peer)
        #expect(gets.count == 1)
        #expect(gets.first?.header("last-event-id") == "e-1")
        #expect(gets.first?.header("accept") == "text/event-stream")
        #expect(gets.first?.header("mcp-session-id") == session)
        let sent = try #require(peer.heard.last { $0.rpcMethod == "tools/call" })
        let wait = try #require(gets.first).at - sent.at
        // The suite asks for 450 to 700 ms; a busy machine may only be late.
        #expect(wait >= .milliseconds(450))
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(peer.heard.count { $0.rpcMethod == "tools/call" } == 1)
        await client.close()
    }

    @Test func initializeIsTakenUpAgain() async throws {
        let opening = Mutex<Heard?>(nil)
        let peer = try HTTPPeer { heard in
            switch (heard.method, heard.rpcMethod) {
            case ("GET", _):
                .events(opening.withLock { $0 }.map { Self.answer($0, Script.initialized()) } ?? "")
            case (_, "server/discover"): .status(400)
            case (_, "initialize"):
                {
                    opening.withLock { $0 = heard }
                    var answer = Answer.events("id: 1\nretry: 100\ndata:\n\n")
                    answer.pieces[0] = answer.pieces[0].replacing(
                        "Transfer", with: "Mcp-Session-Id: new\r\nTransfer")
                    return answer
                }()
            default: .status(202)
            }
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        #expect(client.serverInfo?.name == "old")
        #expect(Self.gets(peer).map { $0.header("mcp-session-id") } == ["new"])
        await client.close()
    }

    /// A server may let its client poll: each stream brings an id, none an answer, until the last (LEG-07).
    @Test func polling() async throws {
        let call = Mutex<Heard?>(nil)
        let progress = Mutex<[Double]>([])
        let peer = try Self.server(
            get: { _, number in
                guard let heard = call.withLock({ $0 }) else { return .status(500) }
                let report = "id: \(number)\ndata: \(Script.progress(heard.id, "\(number)"))\n\n"
                return .events(
                    number == 8 ? Self.answer(heard) : number % 2 == 0 ? "id: \(number)\n\n" : report)
            },
            other: { heard in
                call.withLock { $0 = heard }
                return .events("id: 0\nretry: 1\ndata:\n\n")
            })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        _ = try await client.request(
            "tools/call", ["name": "x"],
            options: CallOptions { report in progress.withLock { $0.append(report.progress) } })
        #expect(Self.gets(peer).map { $0.header("last-event-id") } == (0 ..< 8).map { "\($0)" })
        #expect(progress.withLock { $0 } == [1, 3, 5, 7])
        await client.close()
    }

    /// Five attempts that bring nothing, with growing waits; the request is not sent again.
    @Test func fiveAttempts() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let times = Mutex<[MonotonicInstant]>([])
        let peer = try Self.server(
            get: { _, number in
                times.withLock { $0.append(clock.now) }
                return number % 2 == 0 ? .status(503) : .events(": nothing\n\n")
            },
            other: { _ in
                times.withLock { $0.append(clock.now) }
                return .events("id: 1\ndata:\n\n")
            })
        defer { peer.stop() }
        let client = try await Self.connect(peer, ClientOptions(), loop)
        let failure = Mutex<ClientError?>(nil)
        let task = Task {
            let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
            failure.withLock { $0 = error }
        }
        await Self.advance(clock, by: .milliseconds(100)) { failure.withLock { $0 } != nil }
        await task.value
        let error = try #require(failure.withLock { $0 })
        #expect(error.kind == .connectionClosed)
        #expect("\(error)".contains("5 attempts"), "\(error)")
        let seen = times.withLock { $0 }
        try #require(seen.count == 6)
        for (index, least) in [1, 2, 4, 8, 16].enumerated() {
            #expect(seen[index + 1] - seen[index] >= .seconds(least), "wait \(index)")
        }
        #expect(peer.heard.count { $0.rpcMethod == "tools/call" } == 1)
        await client.close()
    }

    @Test(arguments: [400, 401, 403, 404, 405]) func serverThatForgetsTheStream(_ status: Int) async throws {
        let peer = try Self.server(
            get: { _, _ in .status(status) }, other: { _ in .events("id: 1\nretry: 100\ndata:\n\n") })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == .connectionClosed)
        #expect(error?.message.contains("HTTP \(status)") == true, "\(String(describing: error))")
        #expect(error?.mayHaveBeenExecuted == true)
        // It may have been carried out, so it is not repeated, not even in a new session.
        #expect(Self.gets(peer).count == 1)
        #expect(peer.heard.count { $0.rpcMethod == "tools/call" } == 1)
        #expect(peer.heard.count { $0.rpcMethod == "initialize" } == 1)
        await client.close()
    }

    @Test func withoutAnIDThereIsNothingToTakeUp() async throws {
        let peer = try Self.server(
            get: { _, _ in .status(500) },
            other: { _ in .events("retry: 1\ndata:\n\nid: 1\ndata:\n\nid:\ndata:\n\n") })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == .connectionClosed)
        #expect(Self.gets(peer).isEmpty)
        await client.close()
    }

    @Test func modernRequestsAreLost() async throws {  // HTTPC-07
        let peer = try HTTPClientTransportTests.modern { _ in .events("id: 1\nretry: 1\ndata:\n\n") }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target, options: Self.listening())
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == .connectionClosed)
        #expect(error?.details == ["tools/call may have been executed; it was not sent again"])
        #expect(peer.heard.count == 2)
        #expect(Self.gets(peer).isEmpty)
        await client.close()
    }

    /// What comes on the stream is no sign of life for the call, unless it is progress (CANC-09).
    @Test func givenUpWhilePolling() async throws {
        let peer = try Self.server(
            get: { _, number in .events("id: \(number)\ndata:\n\n") },
            other: { heard in
                heard.rpcMethod == "tools/call" ? .events("id: 0\nretry: 1\ndata:\n\n") : .status(202)
            })
        defer { peer.stop() }
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let client = try await Self.connect(peer, ClientOptions(), loop)
        let call = Task {
            await clientError {
                _ = try await client.request(
                    "tools/call", ["name": "x"], options: CallOptions(timeout: .milliseconds(1_500)))
            }
        }
        await Self.advance(clock, by: .milliseconds(100)) { !Self.gets(peer).isEmpty }
        #expect(await call.value?.kind == .timeout)
        await waitUntil { peer.heard.contains { $0.rpcMethod == "notifications/cancelled" } }
        let count = Self.gets(peer).count
        try await Self.letAnHourPass(clock, peer, loop)
        // One may have been on its way.
        #expect(count > 0 && Self.gets(peer).count <= count + 1)
        await client.close()
    }

    /// Progress on a stream that was taken up again is a sign of life, as on any other (CANC-09).
    @Test func progressWhilePolling() async throws {
        let call = Mutex<Heard?>(nil)
        let peer = try Self.server(
            get: { _, number in
                guard let heard = call.withLock({ $0 }) else { return .status(500) }
                let report = "id: \(number)\ndata: \(Script.progress(heard.id, "\(number)"))\n\n"
                return .events(number == 4 ? Self.answer(heard) : report)
            },
            other: { heard in
                call.withLock { $0 = heard }
                return .events("id: 0\nretry: 700\ndata:\n\n")
            })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let start = ContinuousClock.now
        _ = try await client.request(
            "tools/call", ["name": "x"], options: CallOptions(timeout: .seconds(2)) { _ in })
        #expect(ContinuousClock.now - start > .seconds(2))
        await client.close()
    }

    @Test func closedWhileWaiting() async throws {
        let peer = try Self.server(
            get: { _, _ in .status(500) }, other: { _ in .events("id: 0\nretry: 60000\ndata:\n\n") })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let call = Task { await clientError { _ = try await client.request("tools/call", ["name": "x"]) } }
        await waitUntil { peer.heard.contains { $0.rpcMethod == "tools/call" } }
        await client.close()
        #expect(await call.value?.kind == .connectionClosed)
    }

    // MARK: Waits

    @Test func backoff() {
        var backoff = Backoff(maximum: .seconds(30), maxAttempts: 8)
        let waits = (0 ..< 9).map { _ in backoff.next(.seconds(1)) }
        #expect(waits == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) } + [nil])
        backoff.reset()
        let long = [backoff.next(.seconds(40)), backoff.next(.seconds(40))]
        #expect(long == [.seconds(40), .seconds(40)])
        var endless = Backoff(maximum: .seconds(30))
        let last = (0 ..< 10_000).map { _ in endless.next(.milliseconds(1)) }.last
        #expect(last == .seconds(30))
    }

    @Test func position() {
        var position = HTTPStreamPosition()
        position.reach("a", retryMilliseconds: .max)
        #expect(position.lastEventID == "a")
        #expect(position.retry == .seconds(86_400))
        position.reach(String(repeating: "x", count: 5_000), retryMilliseconds: 0)
        #expect(position.lastEventID.isEmpty)
        #expect(position.retry == .zero)
        // Such an id cannot be sent back, so there is none; a tab and what is not ASCII can.
        for id in ["a\u{7F}", "\u{1}", "a\u{1B}[m"] {
            position.reach("a", retryMilliseconds: nil)
            position.reach(id, retryMilliseconds: nil)
            #expect(position.lastEventID.isEmpty, "\(id.debugDescription)")
        }
        position.reach("é\ta", retryMilliseconds: nil)
        #expect(position.lastEventID == "é\ta")
    }
}
