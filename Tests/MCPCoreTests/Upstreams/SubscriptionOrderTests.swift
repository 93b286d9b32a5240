import MCPCore
import TestSupport
import Testing

/// Subscriptions and their ends in quick succession, at a server before 2026-07-28 that takes its time.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionOrderTests {
    private static let uri = "docs:///one"
    private static let subscribe = "resources/subscribe"
    private static let unsubscribe = "resources/unsubscribe"

    /// A server that answers about subscriptions when the test wants it to.
    private struct SlowServer {
        let transport = Script.legacy(capabilities: #"{"resources":{"subscribe":true}}"#) { sent in
            switch sent.method {
            case "resources/list": [Script.result(#"{"resources":[{"uri":"\#(uri)","name":"one"}]}"#)]
            case "resources/templates/list": [Script.result(#"{"resourceTemplates":[]}"#)]
            case subscribe, unsubscribe: []
            default: [Script.result("{}")]
            }
        }

        private var requests: [ScriptedTransport.Sent] {
            transport.sent.filter { $0.method == subscribe || $0.method == unsubscribe }
        }
        var asked: [String] { requests.map(\.method) }

        /// Answers a request about a subscription, once it has come.
        func answer(_ number: Int, isRefusal: Bool = false) async {
            await waitUntil { asked.count > number }
            guard let id = requests.count > number ? requests[number].id : nil else { return }
            let answer = isRefusal ? #""error":{"code":-32002,"message":"no"}"# : #""result":{}"#
            transport.push(#"{"jsonrpc":"2.0","id":\#(id),\#(answer)}"#)
        }

        func change() {
            transport.push(
                #"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"\#(uri)"}}"#)
        }
    }

    private static func connected(
        _ server: SlowServer, _ version: ProtocolVersion = .newest
    ) async throws -> (MCPClient, UpstreamGroup) {
        var (options, upstreamOptions) = (ClientOptions(), UpstreamOptions())
        options.protocol = .exactly(version)
        upstreamOptions.protocol = .exactly(.v2025_11_25)
        let (client, group) = try await UpstreamGroupTests.connected(
            [("docs", server.transport.target, upstreamOptions)], own: MCPServer("near", version: "1"),
            options)
        #expect(try await client.listResources().count == 1)
        return (client, group)
    }

    // RES-12: a session that has unsubscribed is told of nothing, whatever is answered afterwards.
    @Test func unsubscribedBeforeTheAnswer() async throws {
        let server = SlowServer()
        let (client, group) = try await Self.connected(server, .v2025_11_25)
        let uri: JSONObject = ["uri": .string(Self.uri)]
        async let first = client.request(Self.subscribe, uri)
        await waitUntil { server.asked.count == 1 }
        _ = try await client.request(Self.unsubscribe, uri)
        await server.answer(0)
        _ = try await first
        // Nobody watches it.
        await server.answer(1)
        #expect(server.asked == [Self.subscribe, Self.unsubscribe])
        // The last request counts.
        async let second = client.request(Self.subscribe, uri)
        await waitUntil { server.asked.count == 3 }
        _ = try await client.request(Self.unsubscribe, uri)
        async let third = client.request(Self.subscribe, uri)
        await waitUntil { client.probe.requests == 2 }
        await server.answer(2)
        _ = try await (second, third)
        #expect(server.asked.count == 3)
        await client.close()
        await server.answer(3)
        #expect(server.asked.last == Self.unsubscribe)
        await group.stop()
    }

    /// Who comes after somebody who has left gets the answer of the server, too.
    @Test(arguments: [false, true]) func anotherWatcherBeforeTheAnswer(isRefusal: Bool) async throws {
        let server = SlowServer()
        let (client, group) = try await Self.connected(server)
        let filter = SubscriptionFilter(resourceURIs: [Self.uri])
        let first = Task { try await client.listen(filter) }
        await waitUntil { server.asked.count == 1 }
        first.cancel()
        _ = await first.result
        let second = Task { try await client.listen(filter) }
        for _ in 0 ..< 100 { await pause() }
        #expect(server.asked == [Self.subscribe])
        await server.answer(0, isRefusal: isRefusal)
        let subscription = try await second.value
        #expect(subscription.accepted.resourceURIs == (isRefusal ? [] : [Self.uri]))
        guard !isRefusal else {
            await client.close()
            return await group.stop()
        }
        server.change()
        var changes = subscription.makeAsyncIterator()
        #expect(try await changes.next() == .resourceUpdated(Self.uri))
        await client.close()
        await server.answer(1)
        #expect(server.asked == [Self.subscribe, Self.unsubscribe])
        await group.stop()
    }

    /// A server that serves requests at the same time is asked again when it has forgotten the last watcher.
    @Test func anotherWatcherAfterTheEnd() async throws {
        let server = SlowServer()
        let (client, group) = try await Self.connected(server)
        let filter = SubscriptionFilter(resourceURIs: [Self.uri])
        async let listen = client.listen(filter)
        await server.answer(0)
        await (try await listen).cancel()
        await waitUntil { server.asked.count == 2 }
        let second = Task { try await client.listen(filter) }
        for _ in 0 ..< 100 { await pause() }
        #expect(server.asked == [Self.subscribe, Self.unsubscribe])
        await server.answer(1)
        await server.answer(2)
        #expect(server.asked.last == Self.subscribe)
        let subscription = try await second.value
        #expect(subscription.accepted.resourceURIs == [Self.uri])
        server.change()
        var changes = subscription.makeAsyncIterator()
        #expect(try await changes.next() == .resourceUpdated(Self.uri))
        await client.close()
        await server.answer(3)
        await group.stop()
    }

    /// A subscription that waits for a server gets the answer of the one that takes its place.
    @Test(arguments: [false, true]) func anotherServerBeforeTheAnswer(isRefusal: Bool) async throws {
        let (old, new) = (SlowServer(), SlowServer())
        let (client, group) = try await Self.connected(old)
        let listen = Task { try await client.listen(SubscriptionFilter(resourceURIs: [Self.uri])) }
        await waitUntil { old.asked.count == 1 }
        var options = UpstreamOptions()
        options.protocol = .exactly(.v2025_11_25)
        group.set([Upstream("docs", new.transport.target, options: options)])
        await new.answer(0, isRefusal: isRefusal)
        let subscription = try await listen.value
        #expect(subscription.accepted.resourceURIs == (isRefusal ? [] : [Self.uri]))
        await client.close()
        await group.stop()
    }
}
