import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Subscriptions of 2026-07-28 from the client's side (basic/patterns/subscriptions).
@Suite(.timeLimit(.minutes(5))) struct SubscriptionTests {
    private static func tagged(_ method: String, id: String = "ID", _ members: String = "") -> String {
        #"{"jsonrpc":"2.0","method":"\#(method)","params":{"#
            + #""_meta":{"io.modelcontextprotocol/subscriptionId":\#(id)}\#(members)}}"#
    }

    private static func acknowledged(_ filter: String = #"{"toolsListChanged":true}"#, id: String = "ID")
        -> ScriptedTransport.Step
    {
        .message(
            tagged("notifications/subscriptions/acknowledged", id: id, #","notifications":\#(filter)"#))
    }

    private static func updated(_ uri: String, id: String = "ID") -> String {
        tagged("notifications/resources/updated", id: id, #","uri":"\#(uri)""#)
    }

    /// Each `subscriptions/listen` is answered by the next of `steps`, and then by the last.
    private static func peer(isHTTP: Bool = false, _ steps: [ScriptedTransport.Step]...) -> ScriptedTransport
    {
        peer(isHTTP: isHTTP, all: steps)
    }

    private static func peer(isHTTP: Bool, all steps: [[ScriptedTransport.Step]]) -> ScriptedTransport {
        let count = Counter()
        return Script.modern(isHTTP: isHTTP) { sent in
            guard sent.method == "subscriptions/listen" else { return [] }
            return steps[min(count.increment(), steps.count) - 1]
        }
    }

    private static func listens(_ transport: ScriptedTransport) -> [ScriptedTransport.Sent] {
        transport.sent.filter { $0.method == "subscriptions/listen" }
    }

    private static func taken(_ subscription: Subscription, _ count: Int) async throws -> [ServerChange] {
        var changes: [ServerChange] = []
        var iterator = subscription.makeAsyncIterator()
        while changes.count < count, let change = try await iterator.next() { changes.append(change) }
        return changes
    }

    private static let everything = SubscriptionFilter(
        toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true,
        resourceURIs: ["mem://a"], taskIDs: ["k"])

    // MARK: Opening

    // SUB-01, SUB-03, SUB-06: the wish as it stands in the request, and what the server makes of it.
    @Test func opening() async throws {
        let transport = Self.peer([
            Self.acknowledged(#"{"toolsListChanged":true,"resourceSubscriptions":["mem://a"]}"#)
        ])
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(Self.everything)
        #expect(
            Self.listens(transport).first?.json["params"]?["notifications"]?.value == [
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": ["mem://a"], "taskIds": ["k"],
            ])
        #expect(
            subscription.accepted
                == SubscriptionFilter(toolsListChanged: true, resourceURIs: ["mem://a"]))
        await client.close()
    }

    @Test func refused() async throws {
        let transport = Self.peer([Script.error(-32601)])
        let client = try await MCPClient.connect(transport.target)
        await #expect(throws: MCPError.self) { try await client.listen(.lists) }
        await client.close()
        #expect(await clientError { _ = try await client.listen(.lists) }?.kind == .connectionClosed)
    }

    // SUB-15: acknowledged with nothing, and ended at once.
    @Test func nothingToTell() async throws {
        let transport = Self.peer([Self.acknowledged("{}"), Script.result(#"{"resultType":"complete"}"#)])
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(.lists)
        #expect(subscription.accepted.isEmpty)
        #expect(try await Self.taken(subscription, 1) == [])
        await client.close()
    }

    @Test func neverAcknowledged() async throws {
        let transport = Self.peer([.message(Self.tagged("notifications/tools/list_changed"))])
        var options = ClientOptions()
        options.timeout = .milliseconds(40)
        let client = try await MCPClient.connect(transport.target, options: options)
        #expect(await clientError { _ = try await client.listen(.lists) }?.kind == .timeout)
        #expect(transport.abandoned.count == 1)
        #expect(client.probe.requests == 0)
        await client.close()
    }

    @Test func cancelledBeforeItIsAcknowledged() async throws {
        let transport = Self.peer([])
        let client = try await MCPClient.connect(transport.target)
        let opening = Task { try await client.listen(.lists) }
        await waitUntil { !Self.listens(transport).isEmpty }
        opening.cancel()
        #expect(await clientError { _ = try await opening.value }?.kind == .cancelled)
        await waitUntil { client.probe.requests == 0 }
        #expect(transport.abandoned.count == 1)
        await client.close()
    }

    // SUB-16: silence does not end it, as it ends calls.
    @Test func silenceIsFine() async throws {
        let transport = Self.peer([Self.acknowledged()])
        var options = ClientOptions()
        options.timeout = .milliseconds(20)
        let client = try await MCPClient.connect(transport.target, options: options)
        let subscription = try await client.listen(.lists)
        // A call of the same age is over.
        let late = await clientError { _ = try await client.request("tools/list") }
        #expect(late?.kind == .timeout)
        #expect(!subscription.hasEnded)
        #expect(client.probe.requests == 1)
        await client.close()
    }

    // MARK: Changes

    // SUB-05, SUB-07, STDIO-09, AMB-10: by the id of the subscription, with its type; several at the same
    // time.
    @Test func severalAtOnce() async throws {
        let transport = Self.peer([Self.acknowledged()])
        let client = try await MCPClient.connect(transport.target)
        var wanted = SubscriptionFilter.lists
        wanted.resourceURIs = ["mem://1"]
        let one = try await client.listen(wanted)
        let other = try await client.listen(SubscriptionFilter(resourceURIs: ["mem://2"]))
        let ids = Self.listens(transport).compactMap(\.id)
        try #require(ids.count == 2)
        transport.push(Self.updated("mem://string", id: #""\#(ids[0])""#))
        transport.push(Self.updated("mem://nobody", id: "999"))
        transport.push(Self.updated("mem://1", id: "\(ids[0])"))
        transport.push(Self.updated("mem://2", id: "\(ids[1])"))
        for method in [
            "notifications/tools/list_changed", "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
        ] { transport.push(Self.tagged(method, id: "\(ids[0])")) }
        #expect(
            try await Self.taken(one, 4) == [
                .resourceUpdated("mem://1"), .toolsListChanged, .promptsListChanged, .resourcesListChanged,
            ])
        #expect(try await Self.taken(other, 1) == [.resourceUpdated("mem://2")])
        await client.close()
    }

    /// A server that reports more than it was asked for is not believed to have been asked.
    @Test func whatWasNotAskedFor() async throws {
        let transport = Self.peer([
            Self.acknowledged(#"{"resourceSubscriptions":["mem://a"]}"#),
            .message(Self.tagged("notifications/tools/list_changed")),
            .message(Self.tagged("notifications/resources/list_changed")), .message(Self.updated("mem://b")),
            .message(Self.updated("mem://a")),
        ])
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(SubscriptionFilter(resourceURIs: ["mem://a"]))
        #expect(try await Self.taken(subscription, 1) == [.resourceUpdated("mem://a")])
        await client.close()
    }

    // TASK-19
    @Test func tasks() async throws {
        let transport = Self.peer([
            Self.acknowledged(),
            .message(
                Self.tagged(
                    "notifications/tasks",
                    #","taskId":"k","status":"working","ttlMs":null,"createdAt":"c","lastUpdatedAt":"l""#)),
            .message(Self.tagged("notifications/tasks", #","taskId":7"#)),
            .message(Self.tagged("notifications/tools/list_changed")),
        ])
        let client = try await MCPClient.connect(transport.target)
        let filter = SubscriptionFilter(toolsListChanged: true, taskIDs: ["k"])
        let changes = try await Self.taken(try await client.listen(filter), 2)
        guard case .task(let task)? = changes.first else { Issue.record("no task"); return }
        #expect(task.taskID == "k" && task.status == .working)
        #expect(changes.last == .toolsListChanged)
        await client.close()
    }

    // HTTPC-10: what does not belong on the stream does no harm.
    @Test func strangeMessages() async throws {
        let logged = Counter()
        var options = ClientOptions()
        options.onLog = { _ in logged.increment() }
        let transport = Self.peer(
            isHTTP: true,
            [
                Self.acknowledged(), .message(Script.progress("ID")),
                .message(
                    #"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#),
                .message(#"{"jsonrpc":"2.0","id":"s","method":"ping"}"#),
                .message(Self.tagged("notifications/resources/updated")),
                .message(Self.tagged("notifications/tools/list_changed")),
            ])
        let client = try await MCPClient.connect(transport.target, options: options)
        #expect(try await Self.taken(try await client.listen(.lists), 1) == [.toolsListChanged])
        #expect(logged.value == 1)
        await client.close()
    }

    // A change that nobody has taken yet is kept once; too many are told as lost.
    @Test func whatWaits() async throws {
        let subscription = Subscription(accepted: .lists)
        for _ in 0 ..< 100 { subscription.publish(.resourceUpdated("mem://a")) }
        subscription.publish(.toolsListChanged)
        #expect(try await Self.taken(subscription, 2) == [.resourceUpdated("mem://a"), .toolsListChanged])
        subscription.publish(.resourceUpdated("mem://a"))
        #expect(try await Self.taken(subscription, 1) == [.resourceUpdated("mem://a")])
        for number in 0 ... Subscription.maxWaiting {
            subscription.publish(.resourceUpdated("mem://\(number)"))
        }
        subscription.publish(.promptsListChanged)
        #expect(try await Self.taken(subscription, 2) == [.resubscribed, .promptsListChanged])
        subscription.end(.success(()))
        subscription.publish(.toolsListChanged)
        #expect(try await Self.taken(subscription, 1) == [])
    }

    @Test func severalReaders() async throws {
        let subscription = Subscription(accepted: .lists)
        let readers = (0 ..< 3).map { _ in Task { try await Self.taken(subscription, 1) } }
        for change in [ServerChange.toolsListChanged, .promptsListChanged, .resourcesListChanged] {
            subscription.publish(change)
        }
        var taken: Set<ServerChange> = []
        for reader in readers { taken.formUnion(try await reader.value) }
        #expect(taken.count == 3)
    }

    @Test func aCancelledWait() async throws {
        let subscription = Subscription(accepted: .lists)
        let waiting = Task { try await Self.taken(subscription, 1) }
        let other = Task { try await Self.taken(subscription, 1) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        // The subscription itself goes on.
        subscription.publish(.toolsListChanged)
        #expect(try await other.value == [.toolsListChanged])
    }

    // MARK: The end

    // SUB-10: a proxy whose server is started again, and a server that is stopping, are tried again.
    @Test func aServerThatReturns() async throws {
        func status(_ status: Int) -> ScriptedTransport.Step {
            .failure(ClientError(.httpStatus, "HTTP \(status)", httpStatus: status))
        }
        let transport = Self.peer(
            isHTTP: true, [Self.acknowledged(), status(502)], [status(404)],
            [Script.error(MCPError.interruptedCode, status: 500)],
            [Self.acknowledged(), .message(Self.tagged("notifications/tools/list_changed"))])
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(.lists)
        let changes = try await Self.taken(subscription, 2)
        #expect(Set(changes) == [.resubscribed, .toolsListChanged])
        await client.close()
    }

    // SUB-09, SUB-10, AMB-1: the result, or a cancellation by the server, is an end in good order.
    @Test(arguments: [true, false]) func theServerEndsIt(_ byResult: Bool) async throws {
        let transport = Self.peer([
            Self.acknowledged(), .message(Self.tagged("notifications/tools/list_changed")),
            byResult
                ? Script.result(#"{"resultType":"complete"}"#)
                : .message(
                    #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#),
        ])
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(.lists)
        #expect(try await Self.taken(subscription, 2) == [.toolsListChanged])
        #expect(Self.listens(transport).count == 1)
        #expect(transport.abandoned == [])
        await client.close()
    }

    // SUB-10, SUB-14, HTTPC-07: an end without that is made good, with a new id; what was kept is old.
    @Test func aBrokenStreamIsTakenUpAgain() async throws {
        let lost = ScriptedTransport.Step.failure(ClientError(.connectionClosed, "reset"))
        let transport = Self.peer(
            isHTTP: true, [Self.acknowledged(), lost], [lost],
            [Self.acknowledged("{}"), .message(Self.tagged("notifications/tools/list_changed"))])
        let client = try await MCPClient.connect(transport.target)
        let key = try #require(ResultCache.Key("tools/list", [:]))
        let cache = client.connection.cache
        cache.keep(RawJSON(["ttlMs": 60_000]), cache.ticket(for: key))
        let subscription = try await client.listen(.lists)
        #expect(try await Self.taken(subscription, 2).contains(.resubscribed))
        #expect(subscription.accepted.isEmpty)
        #expect(cache.count == 0)
        let ids = Self.listens(transport).compactMap(\.id)
        #expect(ids.count == 3)
        #expect(Set(ids).count == 3)
        await client.close()
    }

    /// A server that acknowledges and ends each subscription is asked less and less often; one that reports a
    /// change each time is not.
    @Test(arguments: [false, true]) func aStreamThatEndsAtOnce(_ isOfUse: Bool) async throws {
        var steps = [Self.acknowledged()]
        if isOfUse { steps.append(.message(Self.tagged("notifications/tools/list_changed"))) }
        steps.append(.failure(ClientError(.connectionClosed, "the stream ended")))
        let count = isOfUse ? 30 : 7
        let clock = ManualClock()
        let times = Mutex<[MonotonicInstant]>([])
        let answer = steps
        let transport = Script.modern(isHTTP: true) { sent in
            guard sent.method == "subscriptions/listen" else { return [] }
            times.withLock { $0.append(clock.now) }
            return answer
        }
        let client = try await MCPClient.connect(transport.target, options: ClientOptions(), clock: clock)
        let subscription = try await client.listen(.lists)
        await HTTPClientStreamTests.advance(clock, by: .milliseconds(125), pause: .milliseconds(20)) {
            times.withLock { $0.count } >= count
        }
        await subscription.cancel()
        let seen = times.withLock { $0 }
        try #require(seen.count >= count)
        // Half of the pause is random: 250 ms, and then twice as long each time, which would be six minutes.
        if isOfUse {
            #expect(seen[count - 1] - seen[0] < .seconds(200))
        } else {
            #expect(seen[6] - seen[5] >= .seconds(4))
        }
        await client.close()
    }

    /// A proxy answers 404 and 502 while the server behind it is started again, and not for ever.
    @Test(arguments: [1, ClientConnection.maxAbsences, ClientConnection.maxAbsences + 1])
    func addressWithoutServer(_ absences: Int) async throws {  // SUB-10
        func status(_ status: Int) -> [ScriptedTransport.Step] {
            [.failure(ClientError(.httpStatus, "HTTP \(status)", httpStatus: status))]
        }
        // What fails otherwise does not count.
        let transport = Self.peer(
            isHTTP: true,
            all: [[Self.acknowledged(), .failure(ClientError(.connectionClosed, "reset"))]]
                + [status(404), status(502)] + Array(repeating: status(404), count: absences)
                + [[Self.acknowledged()]])
        let clock = ManualClock()
        let client = try await MCPClient.connect(transport.target, options: ClientOptions(), clock: clock)
        let subscription = try await client.listen(.lists)
        let isOver = Mutex(false)
        let reading = Task {
            defer { isOver.withLock { $0 = true } }
            return try await Self.taken(subscription, 1)
        }
        let end = ContinuousClock.now + .seconds(60)
        while !isOver.withLock({ $0 }), ContinuousClock.now < end {
            clock.advance(by: .milliseconds(250))
            await pause()
        }
        if absences <= ClientConnection.maxAbsences {
            #expect(try await reading.value == [.resubscribed])
        } else {
            let error = await clientError { _ = try await reading.value }
            #expect(error?.kind == .httpStatus && error?.httpStatus == 404)
            #expect(error?.message == "HTTP 404, 6 times since the connection was lost")
            #expect(error?.hint == "is the server still at this address?")
        }
        #expect(
            Self.listens(transport).count == absences + (absences <= ClientConnection.maxAbsences ? 4 : 3))
        await client.close()
    }

    @Test func refusedTheSecondTime() async throws {
        let transport = Self.peer(
            isHTTP: true, [Self.acknowledged(), .failure(ClientError(.connectionClosed, "reset"))],
            [Script.error(-32601)])
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(.lists)
        #expect(
            await clientError { _ = try await Self.taken(subscription, 1) }?.kind == .protocolViolation)
        await client.close()
    }

    // SUB-11, HTTPC-08: on a shared channel by a notification, over HTTP by the end of the stream.
    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func unsubscribing(_ isHTTP: Bool, _ byLettingGo: Bool) async throws {
        let transport = Self.peer(isHTTP: isHTTP, [Self.acknowledged()])
        let client = try await MCPClient.connect(transport.target)
        var subscription: Subscription? = try await client.listen(.lists)
        let id = try #require(Self.listens(transport).first?.id)
        if let ended = subscription, !byLettingGo {
            await ended.cancel()
            #expect(try await Self.taken(ended, 1) == [])
        }
        subscription = nil
        await waitUntil { transport.abandoned == [id] }
        #expect(transport.abandoned == [id])
        let notices = transport.sent.filter { $0.method == "notifications/cancelled" }
        #expect(notices.map { $0.json["params"]?["requestId"]?.int64 } == (isHTTP ? [] : [id]))
        await client.close()
    }

    @Test func theEndOfTheClient() async throws {
        let transport = Self.peer([Self.acknowledged()])
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(.lists)
        let waiting = Task { try await Self.taken(subscription, 1) }
        await client.close()
        #expect(await clientError { _ = try await waiting.value }?.kind == .connectionClosed)
    }
}
