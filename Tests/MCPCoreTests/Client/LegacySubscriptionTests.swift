import MCPCore
import Synchronization
import TestSupport
import Testing

/// Changes in the handshake revisions: the notifications of the session, and `resources/subscribe`.
@Suite(.timeLimit(.minutes(5))) struct LegacySubscriptionTests {
    private static func peer(
        _ capabilities: String =
            #"{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true,"listChanged":true}}"#,
        _ other: @escaping @Sendable (ScriptedTransport.Sent) -> [ScriptedTransport.Step] = { _ in
            [Script.result("{}")]
        }
    ) -> ScriptedTransport {
        ScriptedTransport { sent in
            switch sent.method {
            case "server/discover": [Script.error(-32601)]
            case "initialize":
                [
                    Script.result(
                        #"{"protocolVersion":"2025-11-25","capabilities":\#(capabilities),"#
                            + #""serverInfo":{"name":"old","version":"2"}}"#)
                ]
            case "notifications/initialized": []
            default: other(sent)
            }
        }
    }

    private static func calls(_ transport: ScriptedTransport) -> [String] {
        transport.sent.filter { $0.method.hasPrefix("resources/") }.map {
            "\($0.method) \($0.json["params"]?["uri"]?.string ?? "")"
        }
    }

    private static func push(_ transport: ScriptedTransport, _ method: String, _ params: String = "{}") {
        transport.push(#"{"jsonrpc":"2.0","method":"notifications/\#(method)","params":\#(params)}"#)
    }

    private static func watching(_ uris: String...) -> SubscriptionFilter {
        SubscriptionFilter(resourceURIs: uris)
    }

    // RES-11, RES-12, RES-13, TOOL-21, DUAL-24: only what the server declares can be told, and only who
    // asked hears it.
    @Test func whatIsTold() async throws {
        let transport = Self.peer()
        let client = try await MCPClient.connect(transport.target)
        let all = try await client.listen(
            SubscriptionFilter(
                toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true,
                resourceURIs: ["mem://a"], taskIDs: ["k"]))
        #expect(
            all.accepted
                == SubscriptionFilter(
                    toolsListChanged: true, resourcesListChanged: true, resourceURIs: ["mem://a"]))
        let tools = try await client.listen(SubscriptionFilter(toolsListChanged: true))
        Self.push(transport, "prompts/list_changed")
        Self.push(transport, "resources/updated", #"{"uri":"mem://b"}"#)
        Self.push(transport, "resources/updated", #"{"uri":"mem://a/part"}"#)
        Self.push(transport, "resources/list_changed")
        Self.push(transport, "tools/list_changed")
        var iterator = all.makeAsyncIterator()
        #expect(try await iterator.next() == .resourceUpdated("mem://a/part"))
        #expect(try await iterator.next() == .resourcesListChanged)
        #expect(try await iterator.next() == .toolsListChanged)
        var other = tools.makeAsyncIterator()
        #expect(try await other.next() == .toolsListChanged)
        await client.close()
    }

    @Test func aServerWithoutAny() async throws {
        let transport = Self.peer(#"{"tools":{}}"#)
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(
            SubscriptionFilter(toolsListChanged: true, resourceURIs: ["mem://a"]))
        #expect(subscription.accepted.isEmpty)
        #expect(Self.calls(transport) == [])
        await client.close()
    }

    /// Servers of the Python SDK 1.x accept what they do not declare.
    @Test(arguments: [#"{"resources":{}}"#, #"{"resources":{"subscribe":false}}"#])
    func undeclaredSubscriptions(capabilities: String) async throws {
        let transport = Self.peer(capabilities)
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(Self.watching("mem://a"))
        #expect(subscription.accepted == Self.watching("mem://a"))
        Self.push(transport, "resources/updated", #"{"uri":"mem://a"}"#)
        var iterator = subscription.makeAsyncIterator()
        #expect(try await iterator.next() == .resourceUpdated("mem://a"))
        await client.close()
    }

    /// What was not declared and is refused is no error, as before it was tried.
    @Test(arguments: [true, false]) func undeclaredAndRefused(isSilent: Bool) async throws {
        let transport = Self.peer(#"{"tools":{"listChanged":true},"resources":{"subscribe":false}}"#) { _ in
            isSilent ? [] : [Script.error(-32601)]
        }
        var options = ClientOptions()
        if isSilent { options.timeout = .seconds(1) }
        let client = try await MCPClient.connect(transport.target, options: options)
        let filter = SubscriptionFilter(toolsListChanged: true, resourceURIs: ["mem://a", "mem://b"])
        let subscription = try await client.listen(filter)
        #expect(subscription.accepted == SubscriptionFilter(toolsListChanged: true))
        #expect(client.probe.watchedURIs == [])
        // One that says nothing to the first request is not waited for again.
        #expect(Self.calls(transport).count == (isSilent ? 1 : 2))
        let nothing = try await client.listen(Self.watching("mem://a"))
        #expect(nothing.accepted.isEmpty)
        withExtendedLifetime((subscription, nothing)) {}
        await client.close()
    }

    // RES-12: one subscription of the session for all who want an address.
    @Test func sharedAddresses() async throws {
        let transport = Self.peer()
        let client = try await MCPClient.connect(transport.target)
        let one = try await client.listen(Self.watching("mem://a", "mem://b"))
        let other = try await client.listen(Self.watching("mem://a"))
        #expect(Self.calls(transport) == ["resources/subscribe mem://a", "resources/subscribe mem://b"])
        await one.cancel()
        #expect(Self.calls(transport).dropFirst(2) == ["resources/unsubscribe mem://b"])
        Self.push(transport, "resources/updated", #"{"uri":"mem://a"}"#)
        var iterator = other.makeAsyncIterator()
        #expect(try await iterator.next() == .resourceUpdated("mem://a"))
        await other.cancel()
        await other.cancel()
        #expect(Self.calls(transport).dropFirst(3) == ["resources/unsubscribe mem://a"])
        await client.close()
    }

    @Test func lettingGo() async throws {
        let transport = Self.peer()
        let client = try await MCPClient.connect(transport.target)
        var subscription: Subscription? = try await client.listen(Self.watching("mem://a"))
        #expect(subscription?.hasEnded == false)
        subscription = nil
        await waitUntil { Self.calls(transport).count == 2 }
        #expect(Self.calls(transport).last == "resources/unsubscribe mem://a")
        #expect(!client.probe.hasListeners)
        await client.close()
    }

    // RES-12: what is refused is left out; what was refused once can be asked again.
    @Test func refusedAddresses() async throws {
        let refusals = Counter()
        let transport = Self.peer { sent in
            sent.json["params"]?["uri"]?.string == "mem://no" && refusals.increment() <= 2
                ? [Script.error(-32002)] : [Script.result("{}")]
        }
        let client = try await MCPClient.connect(transport.target)
        let some = try await client.listen(Self.watching("mem://a", "mem://no", "mem://b"))
        #expect(some.accepted == Self.watching("mem://a", "mem://b"))
        #expect(client.probe.watchedURIs == ["mem://a", "mem://b"])
        await some.cancel()
        await #expect(throws: MCPError.self) { try await client.listen(Self.watching("mem://no")) }
        #expect(!client.probe.hasListeners)
        #expect(client.probe.watchedURIs == [])
        let again = try await client.listen(Self.watching("mem://no"))
        #expect(Self.calls(transport).last == "resources/subscribe mem://no")
        #expect(refusals.value == 3)
        withExtendedLifetime(again) {}
        await client.close()
    }

    // MARK: A server that takes its time

    /// Answers a request about a resource, once it has come.
    private static func answer(_ transport: ScriptedTransport, _ number: Int, isRefusal: Bool = false) async {
        func requests() -> [ScriptedTransport.Sent] {
            transport.sent.filter { $0.method.hasPrefix("resources/") }
        }
        await waitUntil { requests().count > number }
        guard requests().count > number, let id = requests()[number].id else { return }
        let answer = isRefusal ? #""error":{"code":-32002,"message":"no"}"# : #""result":{}"#
        transport.push(#"{"jsonrpc":"2.0","id":\#(id),\#(answer)}"#)
    }

    /// Lets a task run until it waits.
    private static func others() async { for _ in 0 ..< 50 { await pause() } }

    // RES-12: who comes while the server is asked gets its answer.
    @Test(arguments: [false, true]) func oneAnswerForAll(isRefusal: Bool) async throws {
        let transport = Self.peer { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        let listens = (0 ..< 3).map { _ in Task { try await client.listen(Self.watching("mem://a")) } }
        await waitUntil { client.probe.requests == 1 }
        await Self.others()
        await Self.answer(transport, 0, isRefusal: isRefusal)
        for listen in listens {
            switch await listen.result {
            case .success(let subscription):
                #expect(!isRefusal && subscription.accepted == Self.watching("mem://a"))
            case .failure(let error): #expect(isRefusal && (error as? MCPError)?.code == -32002)
            }
        }
        #expect(Self.calls(transport) == ["resources/subscribe mem://a"])
        #expect(client.probe.watchedURIs == (isRefusal ? [] : ["mem://a"]))
        await client.close()
    }

    /// Who waits is not cancelled with the one who asks.
    @Test func theOneWhoAsksIsCancelled() async throws {
        let transport = Self.peer { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        let first = Task { try await client.listen(Self.watching("mem://a")) }
        await waitUntil { Self.calls(transport).count == 1 }
        let second = Task { try await client.listen(Self.watching("mem://a")) }
        await Self.others()
        first.cancel()
        #expect(await clientError { _ = try await first.value }?.kind == .cancelled)
        // The server may have subscribed the session.
        await Self.answer(transport, 1)
        await Self.answer(transport, 2)
        #expect(try await second.value.accepted == Self.watching("mem://a"))
        #expect(
            Self.calls(transport).map { $0.split(separator: " ")[0] }
                == ["resources/subscribe", "resources/unsubscribe", "resources/subscribe"])
        await client.close()
    }

    // RES-12, RES-13: a server that serves requests at the same time gets them one after another.
    @Test func subscribedAgainAfterTheEnd() async throws {
        let transport = Self.peer { _ in [] }
        let client = try await MCPClient.connect(transport.target)
        async let listen = client.listen(Self.watching("mem://a"))
        await Self.answer(transport, 0)
        let first = try await listen
        let end = Task { await first.cancel() }
        await waitUntil { Self.calls(transport).count == 2 }
        #expect(client.probe.watchedURIs == [])
        let second = Task { try await client.listen(Self.watching("mem://a")) }
        await Self.others()
        #expect(Self.calls(transport).count == 2)
        await Self.answer(transport, 1)
        await end.value
        await Self.answer(transport, 2)
        #expect(try await second.value.accepted == Self.watching("mem://a"))
        #expect(Self.calls(transport).last == "resources/subscribe mem://a")
        await client.close()
    }

    @Test func theEnd() async throws {
        let transport = Self.peer()
        let client = try await MCPClient.connect(transport.target)
        let subscription = try await client.listen(SubscriptionFilter(toolsListChanged: true))
        await client.close()
        var iterator = subscription.makeAsyncIterator()
        #expect(await clientError { _ = try await iterator.next() }?.kind == .connectionClosed)
        // Afterwards nobody waits for what cannot come.
        let late = await clientError {
            _ = try await client.listen(SubscriptionFilter(toolsListChanged: true))
        }
        #expect(late?.kind == .connectionClosed)
    }
}
