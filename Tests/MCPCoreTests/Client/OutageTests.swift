import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Outages of the event stream of a legacy session, seen by those who begin to wait for changes meanwhile.
@Suite(.timeLimit(.minutes(5))) struct OutageTests {
    private static func server(
        _ get: @escaping @Sendable () -> HTTPPeer.Answer
    ) throws -> HTTPPeer {
        try HTTPClientTransportTests.legacy(session: "s", capabilities: #"{"tools":{"listChanged":true}}"#) {
            $0.method == "GET" ? get() : .status(200)
        }
    }

    /// An outage that began when nobody waited for changes: each who does is told, until it ends.
    @Test func anOutageThatBeganBefore() async throws {
        let isBack = Atomic(false)
        let peer = try Self.server {
            isBack.load(ordering: .relaxed) ? .events("", end: false, then: .hang) : .status(503)
        }
        defer { peer.stop() }
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let told = Counter()
        var options = ClientOptions()
        options.onLog = { _ in }
        options.onOutage = { _ in told.increment() }
        let client = try await HTTPClientStreamTests.connect(peer, options, loop)
        await HTTPClientStreamTests.advance(clock, by: .milliseconds(250)) {
            peer.heard.count { $0.method == "GET" } >= 5
        }
        #expect(told.value == 0)
        let filter = SubscriptionFilter(toolsListChanged: true)
        let first = try await client.listen(filter, needsStream: true)
        #expect(told.value == 1)
        let second = try await client.listen(filter)
        #expect(told.value == 2 && client.outage != nil)
        isBack.store(true, ordering: .relaxed)
        await HTTPClientStreamTests.advance(clock, by: .milliseconds(250)) { client.outage == nil }
        for subscription in [first, second] {
            var changes = subscription.makeAsyncIterator()
            #expect(try await changes.next() == .resubscribed)
        }
        let third = try await client.listen(filter, needsStream: true)
        #expect(told.value == 2 && client.outage == nil)
        withExtendedLifetime(third) {}
        await client.close()
    }

    /// Whoever needs the stream waits until it is open, or for three attempts in vain, and is told once.
    @Test func anOutageFromTheBeginning() async throws {
        let peer = try Self.server { .status(502) }
        defer { peer.stop() }
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        loop.start()
        defer { loop.stop() }
        let told = Counter()
        var options = ClientOptions()
        options.onOutage = { _ in told.increment() }
        let client = try await HTTPClientStreamTests.connect(peer, options, loop)
        let isBegun = Atomic(false)
        let listening = Task {
            let subscription = try await client.listen(
                SubscriptionFilter(toolsListChanged: true), needsStream: true)
            #expect(client.outage != nil && told.value == 1)
            isBegun.store(true, ordering: .relaxed)
            return subscription
        }
        await HTTPClientStreamTests.advance(clock, by: .milliseconds(250)) {
            isBegun.load(ordering: .relaxed)
        }
        let subscription = try await listening.value
        let attempts = peer.heard.count { $0.method == "GET" }
        await HTTPClientStreamTests.advance(clock, by: .seconds(1)) {
            peer.heard.count { $0.method == "GET" } > attempts + 2
        }
        #expect(told.value == 1)
        withExtendedLifetime(subscription) {}
        await client.close()
    }
}
