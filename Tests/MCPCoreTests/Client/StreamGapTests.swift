import MCPCore
import Synchronization
import TestSupport
import Testing

/// Changes that may have been missed while an event stream was down: its reader is told, in every revision,
/// unless an event id allowed to resume the stream exactly.
@Suite(.timeLimit(.minutes(5))) struct StreamGapTests {
    private typealias Answer = HTTPPeer.Answer
    private typealias Heard = HTTPPeer.Heard

    private static let change =
        #"data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"# + "\n\n"

    /// A server of an earlier revision, whose GETs are answered by `get`, with their number from 1.
    private static func server(
        get: @escaping @Sendable (Int) -> Answer,
        post: @escaping @Sendable (Heard) -> Answer = { .result($0, "{}") }
    ) throws -> HTTPPeer {
        let gets = Counter()
        return try HTTPPeer { heard in
            switch (heard.method, heard.rpcMethod) {
            case ("GET", _): get(gets.increment())
            case (_, "server/discover"): .status(400)
            case (_, "initialize"):
                .result(
                    heard, Script.initialized(capabilities: #"{"tools":{"listChanged":true}}"#),
                    headers: "Mcp-Session-Id: s\r\n")
            case (_, "notifications/initialized"): .status(202)
            case ("DELETE", _): .status(200)
            default: post(heard)
            }
        }
    }

    /// A server of 2026-07-28, whose subscriptions are answered by `listen`, with their number from 1.
    private static func modernServer(_ listen: @escaping @Sendable (Heard, Int) -> Answer) throws -> HTTPPeer
    {
        let listens = Counter()
        return try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .result(heard, Script.discovered)
            case "subscriptions/listen": listen(heard, listens.increment())
            default: .status(400)
            }
        }
    }

    /// The acknowledgment, and a change after it.
    private static func acknowledged(_ heard: Heard) -> String {
        func event(_ method: String, _ members: String) -> String {
            #"data: {"jsonrpc":"2.0","method":"notifications/\#(method)","params":{"_meta":{"#
                + #""io.modelcontextprotocol/subscriptionId":\#(heard.id)}\#(members)}}"# + "\n\n"
        }
        return event("subscriptions/acknowledged", #","notifications":{"toolsListChanged":true}"#)
            + event("tools/list_changed", "")
    }

    private static func open(_ events: String) -> Answer { .events(events, end: false, then: .hang) }

    /// Subscribes, and returns the first changes.
    private static func changes(_ count: Int, of peer: HTTPPeer) async throws -> [ServerChange] {
        let client = try await MCPClient.connect(peer.target)
        let subscription = try await client.listen(SubscriptionFilter(toolsListChanged: true))
        var changes: [ServerChange] = []
        for try await change in subscription {
            changes.append(change)
            if changes.count == count { break }
        }
        await client.close()
        return changes
    }

    // MARK: The stream of the session

    struct Sample: Sendable, CustomTestStringConvertible {
        /// What the first stream brings before it ends; nil if the server is too busy to open it.
        let first: String?
        let isExact: Bool
        var testDescription: String { first?.debugDescription ?? "busy" }
    }

    @Test(arguments: [
        Sample(first: "retry: 100\n\n", isExact: false),
        Sample(first: "retry: 100\nid: a\ndata:\n\nid:\ndata:\n\n", isExact: false),
        Sample(first: "retry: 100\nid: a\u{7F}\ndata:\n\n", isExact: false),
        Sample(first: nil, isExact: false),
        Sample(first: "retry: 100\nid: a\ndata:\n\n", isExact: true),
    ])
    func sessionStream(_ sample: Sample) async throws {  // SUB-14, LEG-19
        let peer = try Self.server(get: { number in
            if number == 1 { return sample.first.map { .events($0) } ?? .status(503) }
            // An attempt in vain changes nothing.
            return number == 2 ? .status(503) : Self.open(Self.change)
        })
        defer { peer.stop() }
        let expected: [ServerChange] =
            sample.isExact ? [.toolsListChanged] : [.resubscribed, .toolsListChanged]
        #expect(try await Self.changes(expected.count, of: peer) == expected)
        let ids = peer.heard.filter { $0.method == "GET" }.map { $0.header("last-event-id") }
        #expect(ids == (sample.isExact ? [nil, "a", "a"] : [nil, nil, nil]))
    }

    /// The same in 2026-07-28.
    @Test func subscription() async throws {  // SUB-14
        let peer = try Self.modernServer { heard, number in
            number == 1
                ? .events(Self.acknowledged(heard))
                : number == 2 ? .status(503) : Self.open(Self.acknowledged(heard))
        }
        defer { peer.stop() }
        // The last two arrive in either order.
        let changes = try await Self.changes(3, of: peer)
        #expect(changes.first == .toolsListChanged && changes.contains(.resubscribed), "\(changes)")
    }

    /// Whoever does without the stream from now on learns that it has missed something.
    @Test func theServerHasNoStreamAnyMore() async throws {
        let peer = try Self.server(get: { $0 == 1 ? .events("id: a\nretry: 100\ndata:\n\n") : .status(405) })
        defer { peer.stop() }
        #expect(try await Self.changes(1, of: peer) == [.resubscribed])
    }

    /// It had one before, so it is not one that offers none.
    @Test(arguments: [302, 405, 409, 501]) func theReasonOfAStreamThatIsLost(_ status: Int) async throws {
        let peer = try Self.server(get: {
            $0 == 1 ? .events("id: a\nretry: 100\ndata:\n\n") : .status(status)
        })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let subscription = try await client.listen(
            SubscriptionFilter(toolsListChanged: true), needsStream: true)
        let error = await clientError { for try await _ in subscription {} }
        #expect(error?.kind == .httpStatus && error?.httpStatus == status, "\(String(describing: error))")
        #expect(error?.message.hasSuffix("does not send it again") == true, "\(String(describing: error))")
        #expect(error?.hint?.contains("start again") == true)
        await client.close()
    }

    // MARK: The stream of a response

    /// A change may come beside a response. What was lost with it fails, and what was resumed is complete.
    @Test(arguments: [false, true]) func response(_ isExact: Bool) async throws {
        let call = Mutex<Heard?>(nil)
        let peer = try Self.server(
            get: { number in
                guard number > 1, let heard = call.withLock({ $0 }) else { return Self.open("") }
                return .events(
                    Self.change + #"data: {"jsonrpc":"2.0","id":\#(heard.id),"result":{}}"# + "\n\n")
            },
            post: { heard in
                call.withLock { $0 = heard }
                return .events(isExact ? "id: a\nretry: 100\ndata:\n\n" : ": nothing\n\n")
            })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let subscription = try await client.listen(SubscriptionFilter(toolsListChanged: true))
        await waitUntil { peer.heard.contains { $0.method == "GET" } }
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == (isExact ? nil : .connectionClosed))
        var changes = subscription.makeAsyncIterator()
        #expect(try await changes.next() == (isExact ? .toolsListChanged : .resubscribed))
        await client.close()
    }

    /// Without an id, a GET would open the stream of the session.
    @Test func aResponseThatLosesItsID() async throws {
        let peer = try Self.server(
            get: { _ in .events("id:\ndata:\n\n") }, post: { _ in .events("id: a\nretry: 100\ndata:\n\n") })
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        let error = await clientError { _ = try await client.request("tools/call", ["name": "x"]) }
        #expect(error?.kind == .connectionClosed)
        #expect(error?.message.hasSuffix("cannot be resumed") == true, "\(String(describing: error))")
        #expect(peer.heard.filter { $0.method == "GET" }.map { $0.header("last-event-id") } == ["a"])
        await client.close()
    }

    // MARK: Outages

    /// The stream is also open for log messages, whose absence is no news.
    @Test func noOutageWhereNobodyWaitsForChanges() async throws {
        let peer = try Self.server(get: { number in
            number == 1 ? .events("retry: 100\n\n") : number < 6 ? .status(503) : Self.open("")
        })
        defer { peer.stop() }
        let told = Counter()
        var options = ClientOptions()
        options.onLog = { _ in }
        options.onOutage = { _ in told.increment() }
        let client = try await MCPClient.connect(peer.target, options: options)
        await waitUntil { peer.heard.count { $0.method == "GET" } == 6 }
        #expect(told.value == 0)
        await client.close()
    }

    /// After three attempts in vain, once; and at the end with the reason.
    @Test(arguments: [false, true]) func outage(_ isModern: Bool) async throws {
        let peer =
            isModern
            ? try Self.modernServer { heard, number in
                number == 1 ? .events(Self.acknowledged(heard)) : .status(number < 5 ? 503 : 405)
            }
            : try Self.server(get: { number in
                number == 1 ? .events("retry: 100\n\n") : .status(number < 5 ? 503 : 405)
            })
        defer { peer.stop() }
        let told = Mutex<[String]>([])
        var options = ClientOptions()
        options.onOutage = { error in told.withLock { $0.append("\(error)") } }
        let client = try await MCPClient.connect(peer.target, options: options)
        let subscription = try await client.listen(
            SubscriptionFilter(toolsListChanged: true), needsStream: true)
        let error = await clientError { for try await _ in subscription {} }
        #expect(error?.kind == .httpStatus && error?.httpStatus == 405, "\(String(describing: error))")
        let lines = told.withLock { $0 }
        #expect(lines.count == 1 && lines.first?.contains("HTTP 503") == true, "\(lines)")
        await client.close()
    }
}
