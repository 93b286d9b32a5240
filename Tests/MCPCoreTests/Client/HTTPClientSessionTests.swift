import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// New sessions of a client whose session has ended at the server.
@Suite struct HTTPClientSessionTests {
    private typealias Answer = HTTPPeer.Answer
    private typealias Heard = HTTPPeer.Heard

    /// A legacy server that answers each `initialize` with `open`, which is told its number from 1, and anything
    /// that follows with `other`, which is told how many there were.
    private static func server(
        open: @escaping @Sendable (Heard, Int) -> Answer,
        other: @escaping @Sendable (Heard, Int) -> Answer
    ) throws -> HTTPPeer {
        let count = Mutex(0)
        return try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": return .status(404)
            case "initialize":
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return open(heard, number)
            case "notifications/initialized": return .status(202)
            default: return other(heard, count.withLock { $0 })
            }
        }
    }

    /// The answer that begins a session.
    private static func session(_ id: String, _ heard: Heard, _ capabilities: String = "{}") -> Answer {
        .result(
            heard, Script.initialized(capabilities: capabilities), headers: "mcp-session-id: \(id)\r\n")
    }

    /// A stream that stays.
    private static var openStream: Answer { .events("id: 1\ndata:\n\n", end: false, then: .hang) }
    /// A stream that ends, and whose client is to come back soon.
    private static var endedStream: Answer { .events("id: 1\nretry: 100\ndata:\n\n") }

    /// A new session has a stream of its own, with the new id and from its beginning.
    @Test func newSessionNewStream() async throws {  // LEG-25
        let peer = try Self.server { heard, number in
            Self.session("s\(number)", heard)
        } other: { heard, _ in
            if heard.rpcMethod == "tools/list" {
                return heard.header("mcp-session-id") == "s2" ? .result(heard, "{}") : .status(404)
            }
            return heard.method == "GET" ? Self.openStream : .status(200)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target, options: HTTPClientStreamTests.listening())
        await waitUntil { HTTPClientStreamTests.gets(peer).count == 1 }
        _ = try await client.request("tools/list")
        await waitUntil { HTTPClientStreamTests.gets(peer).count == 2 }
        #expect(HTTPClientStreamTests.gets(peer).map { $0.header("mcp-session-id") } == ["s1", "s2"])
        #expect(HTTPClientStreamTests.gets(peer).last?.header("last-event-id") == nil)
        await client.close()
    }

    /// Somebody who only listens gets a new session from a server that was restarted, which may need a while,
    /// and hears of it.
    @Test(arguments: [404, 400], [200, 503])
    func newSessionForThoseWhoListen(_ status: Int, _ first: Int) async throws {  // LEG-24, LEG-25, SUB-09
        let change =
            #"data: {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}"#
        let peer = try Self.server { heard, number in
            number == 2 && first != 200
                ? .status(first)
                : Self.session(number == 1 ? "old" : "new", heard, #"{"resources":{"subscribe":true}}"#)
        } other: { heard, sessions in
            if heard.rpcMethod == "resources/subscribe" { return .result(heard, "{}") }
            guard heard.method == "GET" else { return .status(200) }
            if heard.header("mcp-session-id") == "new" {
                return .events(change + "\n\n", end: false, then: .hang)
            }
            return sessions == 1 && heard.header("last-event-id") == nil
                ? Self.endedStream : .status(status)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let subscription = try await client.listen(
            SubscriptionFilter(resourceURIs: ["a:b"]), needsStream: true)
        var changes: [ServerChange] = []
        for try await change in subscription {
            changes.append(change)
            if changes.count == 2 { break }
        }
        #expect(changes.contains(.resubscribed) && changes.contains(.resourceUpdated("a:b")))
        await waitUntil { peer.heard.count { $0.rpcMethod == "resources/subscribe" } == 2 }
        let subscribed = peer.heard.filter { $0.rpcMethod == "resources/subscribe" }
        #expect(subscribed.map { $0.header("mcp-session-id") } == ["old", "new"])
        #expect(peer.heard.count { $0.rpcMethod == "initialize" } == (first == 200 ? 2 : 3))
        await client.close()
    }

    /// A proxy answers 404 and 502 while the server behind it is started again, and not for ever.
    @Test(arguments: [1, ClientConnection.maxAbsences, ClientConnection.maxAbsences + 1])
    func addressWithoutServer(_ absences: Int) async throws {  // LEG-25
        let peer = try Self.server { heard, number in
            // What fails otherwise does not count.
            if (2 ... 3).contains(number) { return .status(number == 2 ? 404 : 502) }
            if number > 3, number <= absences + 3 { return .status(404) }
            return Self.session("s\(number)", heard, #"{"tools":{"listChanged":true}}"#)
        } other: { heard, _ in
            guard heard.method == "GET" else { return .status(200) }
            // A client that looks for the older transport has no session.
            guard let session = heard.header("mcp-session-id") else { return .status(404) }
            if session != "s1" { return Self.openStream }
            return heard.header("last-event-id") == nil ? Self.endedStream : .status(404)
        }
        defer { peer.stop() }
        let clock = ManualClock()
        let client = try await MCPClient.connect(peer.target, options: ClientOptions(), clock: clock)
        let subscription = try await client.listen(
            SubscriptionFilter(toolsListChanged: true), needsStream: true)
        let isOver = Mutex(false)
        let reading = Task {
            defer { isOver.withLock { $0 = true } }
            var changes = subscription.makeAsyncIterator()
            return try await changes.next()
        }
        await HTTPClientStreamTests.advance(clock, by: .milliseconds(250)) { isOver.withLock { $0 } }
        if absences <= ClientConnection.maxAbsences {
            #expect(try await reading.value == .resubscribed)
        } else {
            let error = await clientError { _ = try await reading.value }
            #expect(error?.httpStatus == 404)
        }
        #expect(
            peer.heard.count { $0.rpcMethod == "initialize" }
                == absences + (absences <= ClientConnection.maxAbsences ? 4 : 3))
        await client.close()
    }

    /// What happens before the stream of the new session is open may be missed, so that nobody is told to
    /// read again before.
    @Test func newStreamThatTakesItsTime() async throws {  // SUB-14
        let connection = Mutex<Int?>(nil)
        let peer = try Self.server { heard, number in
            Self.session("s\(number)", heard, #"{"resources":{"subscribe":true}}"#)
        } other: { heard, sessions in
            if heard.rpcMethod == "resources/subscribe" { return .result(heard, "{}") }
            guard heard.method == "GET" else { return .status(200) }
            if sessions > 1 {
                connection.withLock { $0 = heard.connection }
                return .raw(then: .hang)
            }
            return heard.header("last-event-id") == nil ? Self.endedStream : .status(404)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let subscription = try await client.listen(
            SubscriptionFilter(resourceURIs: ["a:b"]), needsStream: true)
        let seen = Mutex<[ServerChange]>([])
        let reading = Task {
            for try await change in subscription { seen.withLock { $0.append(change) } }
        }
        await waitUntil {
            connection.withLock { $0 } != nil
                && peer.heard.count { $0.rpcMethod == "resources/subscribe" } == 2
        }
        #expect(seen.withLock { $0 } == [])
        let opened = try #require(connection.withLock { $0 })
        peer.say(Self.openStream.pieces.joined(), on: opened)
        await waitUntil { !seen.withLock { $0.isEmpty } }
        #expect(seen.withLock { $0 } == [.resubscribed])
        await client.close()
        _ = try? await reading.value
    }

    /// Who needs the stream waits for it, but not for ever: a server may be silent until there is a change.
    @Test(arguments: [false, true]) func streamThatIsWaitedFor(_ isSilent: Bool) async throws {
        let connection = Mutex<Int?>(nil)
        let peer = try Self.server { heard, _ in
            Self.session("s", heard, #"{"tools":{"listChanged":true}}"#)
        } other: { heard, _ in
            guard heard.method == "GET" else { return .status(200) }
            connection.withLock { $0 = heard.connection }
            return .raw(then: .hang)
        }
        defer { peer.stop() }
        let clock = ManualClock()
        let client = try await MCPClient.connect(peer.target, options: ClientOptions(), clock: clock)
        let listened = OneShot<Bool>()
        let listening = Task {
            let subscription = try await client.listen(
                SubscriptionFilter(toolsListChanged: true), needsStream: true)
            listened.finish(true)
            return subscription
        }
        await waitUntil { connection.withLock { $0 } != nil }
        #expect(!listened.isFinished)
        if isSilent {
            await HTTPClientStreamTests.advance(clock, by: .seconds(1)) { listened.isFinished }
        } else {
            peer.say(Self.openStream.pieces.joined(), on: try #require(connection.withLock { $0 }))
        }
        let subscription = try await listening.value
        await subscription.cancel()
        await client.close()
    }

    /// A server that counts its sessions from 1 gives the new one the id of the lost one.
    @Test(arguments: [404, 400]) func newSessionWithTheSameID(_ status: Int) async throws {  // LEG-24, LEG-25
        let change = #"data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"# + "\n\n"
        let peer = try Self.server { heard, _ in
            Self.session("1", heard, #"{"tools":{"listChanged":true}}"#)
        } other: { heard, sessions in
            guard heard.method == "GET" else { return .status(200) }
            if sessions > 1 { return .events(change, end: false, then: .hang) }
            return heard.header("last-event-id") == nil ? Self.endedStream : .status(status)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let subscription = try await client.listen(
            SubscriptionFilter(toolsListChanged: true), needsStream: true)
        var changes = subscription.makeAsyncIterator()
        var seen: [ServerChange?] = []
        for _ in 0 ..< 2 { seen.append(try await changes.next()) }
        #expect(seen.contains(.resubscribed) && seen.contains(.toolsListChanged), "\(seen)")
        #expect(peer.heard.count { $0.rpcMethod == "initialize" } == 2)
        await client.close()
    }

    /// A server that opens sessions, and knows none of them when their streams are opened.
    @Test(arguments: [404, 400]) func newSessionsWithoutStream(_ status: Int) async throws {  // LEG-25
        let peer = try Self.server { heard, _ in
            Self.session("1", heard, #"{"tools":{"listChanged":true}}"#)
        } other: { heard, sessions in
            guard heard.method == "GET" else { return .status(200) }
            return sessions == 1 && heard.header("last-event-id") == nil
                ? Self.endedStream : .status(status)
        }
        defer { peer.stop() }
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let told = Mutex<[String]>([])
        var options = ClientOptions()
        options.onOutage = { error in told.withLock { $0.append("\(error)") } }
        let client = try await HTTPClientStreamTests.connect(peer, options, loop)
        let subscription = try await client.listen(
            SubscriptionFilter(toolsListChanged: true), needsStream: true)
        let end = OneShot<ClientError?>()
        let reading = Task { _ = end.finish(await clientError { for try await _ in subscription {} }) }
        await HTTPClientStreamTests.advance(clock, by: .milliseconds(250), pause: .milliseconds(20)) {
            end.isFinished
        }
        await reading.value
        let error = await end.value(ifCancelled: nil)
        #expect(error?.httpStatus == status)
        #expect(error?.message.hasSuffix("does not send it again") == true, "\(String(describing: error))")
        #expect(error?.hint != nil)
        #expect(told.withLock { $0.count } == 1)
        #expect(peer.heard.count { $0.rpcMethod == "initialize" } == 2 + ClientConnection.maxAbsences)
        await client.close()
    }

    /// A new session that is refused ends what needs its stream.
    @Test func newSessionIsRefused() async throws {
        let peer = try Self.server { heard, number in
            number == 1 ? Self.session("s", heard, #"{"tools":{"listChanged":true}}"#) : .status(401)
        } other: { heard, _ in
            guard heard.method == "GET" else { return .status(200) }
            return heard.header("last-event-id") == nil ? Self.endedStream : .status(404)
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let subscription = try await client.listen(
            SubscriptionFilter(toolsListChanged: true), needsStream: true)
        let error = await clientError { for try await _ in subscription {} }
        #expect(error?.kind == .authentication)
        #expect(peer.heard.count { $0.rpcMethod == "initialize" } == 2)
        await client.close()
    }
}
