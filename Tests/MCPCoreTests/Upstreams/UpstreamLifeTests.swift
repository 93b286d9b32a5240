import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Calls, questions and watched resources of callers while the server behind is replaced, idle or stopped.
@Suite(.timeLimit(.minutes(5))) struct UpstreamLifeTests {
    /// A server with a tool that asks, one that waits for a gate, and a resource.
    private static func makeServer(_ name: String, begun: Gate = Gate(), release: Gate = Gate()) throws
        -> MCPServer
    {
        let server = MCPServer(name, version: "1")
        try server.register(Tool("ask")) { _, context in
            let answer = try await context.elicit("Name?", ElicitationSchema([]))
            return .text("\(name): \(answer.action.rawValue)")
        }
        try server.register(Tool("wait")) { _, _ in
            begun.open()
            _ = await release.wait()
            return .text("\(name): done")
        }
        server.addTool("quick", "Quick") { () in "\(name): quick" }
        try server.register(Resource("far:///one", name: "one")) { _ in [.text("first", uri: "far:///one")] }
        return server
    }

    private static func upstream(_ server: MCPServer, idle: Duration? = nil, concurrency: Int = 64)
        -> Upstream
    {
        var options = UpstreamOptions()
        options.protocol = .exactly(.v2025_11_25)
        options.isPerPrincipal = true
        options.idle = idle
        options.concurrency = concurrency
        return Upstream("far", .inProcess(server), options: options)
    }

    /// Asks, does something while the question is with the caller of 2026-07-28, and returns what the call
    /// came to.
    private static func asking(
        _ group: UpstreamGroup, _ meanwhile: () async throws -> Void
    ) async throws -> CallToolResult {
        let (asked, answered) = (Gate(), Gate())
        var options = ClientOptions()
        options.protocol = .exactly(.v2026_07_28)
        options.onElicit = { _ in
            asked.open()
            _ = await answered.wait()
            return ElicitResult(.accept)
        }
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near), options: options)
        let call = Task { try await client.callTool("ask") }
        #expect(await asked.wait())
        try await meanwhile()
        answered.open()
        let result = await call.result
        await client.close()
        return try result.get()
    }

    @Test func aQuestionOutlivesAReload() async throws {
        let group = UpstreamGroup()
        group.set([Self.upstream(try Self.makeServer("old"))])
        let result = try await Self.asking(group) {
            for name in ["new", "newer"] { group.set([Self.upstream(try Self.makeServer(name))]) }
            #expect(await comesTrue { group.statuses.first?.state == .ready })
        }
        #expect(result.text == "old: accept", "\(result.text)")
        await group.stop()
    }

    @Test func aQuestionOfARemovedServerHasNoAnswer() async throws {
        let group = UpstreamGroup()
        let old = Self.upstream(try Self.makeServer("old"))
        group.set([old])
        await #expect(throws: MCPError.self) {
            try await Self.asking(group) {
                group.set([])
                #expect(await comesTrue { old.status.state == .stopped })
            }
        }
        await group.stop()
    }

    /// The connection is as little idle while its question is with a caller as while a call runs.
    @Test func aQuestionKeepsAnIdleServer() async throws {
        let group = UpstreamGroup()
        group.set([Self.upstream(try Self.makeServer("old"), idle: .milliseconds(1))])
        let result = try await Self.asking(group) {
            for _ in 0 ..< 50 { await pause() }
            #expect(group.statuses.first?.state == .ready)
        }
        #expect(result.text == "old: accept", "\(result.text)")
        #expect(await comesTrue { group.statuses.first?.state == .idle })
        await group.stop()
    }

    @Test(arguments: [false, true]) func callsInFlightOutliveAReload(isRemoved: Bool) async throws {
        let (begun, release) = (Gate(), Gate())
        let old = Self.upstream(
            try Self.makeServer("old", begun: begun, release: release), concurrency: 1)
        let group = UpstreamGroup()
        group.set([old])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let caller = try await MCPClient.connect(.inProcess(near))
        let running = Task { try await caller.callTool("wait") }
        #expect(await begun.wait())
        let waiting = Task { try await caller.callTool("quick") }
        let slots = try old.link(for: "").slots
        #expect(await comesTrue { slots.waiting == 1 })
        group.set(isRemoved ? [] : [Self.upstream(try Self.makeServer("new"))])
        for _ in 0 ..< 20 { await pause() }
        #expect(old.status.state == .ready)
        release.open()
        #expect(try await running.value.text == "old: done")
        #expect(try await waiting.value.text == "old: quick")
        #expect(await comesTrue { old.status.state == .stopped })
        await caller.close()
        await group.stop()
    }

    /// A call that is cut off says who did it.
    @Test func aCallThatTheEndCutsOff() async throws {
        let (begun, release) = (Gate(), Gate())
        let group = UpstreamGroup()
        group.set([Self.upstream(try Self.makeServer("old", begun: begun, release: release))])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        let call = Task { try await client.callTool("wait") }
        #expect(await begun.wait())
        await group.stop(grace: .zero)
        let result = try await call.value
        #expect(
            result.isError && result.text.contains("far: the server in front of it stops"), "\(result.text)")
        release.open()
        await client.close()
    }

    /// A server that a client here watches is not idle, and is connected again when it is lost.
    @Test func aWatchedServerIsNotIdle() async throws {
        var options = UpstreamOptions()
        options.idle = .milliseconds(1)
        let (client, group) = try await UpstreamGroupTests.connected([
            ("far", .inProcess(try Self.makeServer("far")), options)
        ])
        _ = try await client.listResources()
        let subscription = try await client.listen(SubscriptionFilter(resourceURIs: ["far:///one"]))
        #expect(subscription.accepted.resourceURIs == ["far:///one"])
        #expect(await comesTrue { group.statuses.first?.state == .ready })
        for _ in 0 ..< 50 { await pause() }
        #expect(group.statuses.first?.state == .ready)
        await subscription.cancel()
        #expect(await comesTrue { group.statuses.first?.state == .idle })
        await client.close()
        await group.stop()
    }

    /// For a question too many, the oldest one of the caller with the most is given up.
    @Test static func oneCallerTakesNoQuestionsOfOthers() async throws {
        let upstream = Upstream("far", .inProcess(MCPServer("far", version: "1")))
        let link = try upstream.link(for: "")
        let client = try await link.connection.acquire()
        let held = HeldExchanges()
        func keep(_ owner: String) -> String { held.keep(endless(owner, link, client)) ?? "" }
        let first = keep("bob")
        var keys = (0 ..< HeldExchanges.capacityOfOne).map { _ in keep("ada") }
        #expect(keys.allSatisfy { held.find($0) != nil })
        keys.append(keep("ada"))
        #expect(held.find(keys[0]) == nil && held.find(keys[1]) != nil)
        // The rest of the connection's places, by several others.
        let rest = HeldExchanges.capacityAtOne - HeldExchanges.capacityOfOne - 1
        let more = (0 ..< rest).map { keep("eve \($0 / 8)") }
        #expect((keys.dropFirst() + more + [first]).allSatisfy { held.find($0) != nil })
        let others = [keep("bob"), keep("dan")]
        #expect(held.find(keys[1]) == nil && held.find(keys[2]) == nil)
        #expect((keys.dropFirst(3) + more + others + [first]).allSatisfy { held.find($0) != nil })
        try #require(held.take(first)).cancel()
        #expect(held.take(first) == nil)
        held.cancelAll()
        // Nobody could answer it.
        let late = endless("ada", link, client)
        #expect(held.keep(late) == nil)
        late.cancel()
        link.connection.release()
        #expect(await comesTrue { link.connection.isUnused })
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    /// A session is asked for so many of its calls that others have places left.
    @Test static func oneSessionTakesNoPlacesOfOthers() async throws {
        let upstream = Upstream("far", .inProcess(MCPServer("far", version: "1")))
        let link = try upstream.link(for: "")
        let client = try await link.connection.acquire()
        let held = HeldExchanges()
        let asking = (0 ..< HeldExchanges.capacityAtOne).map { number in
            endless("session \(number / HeldExchanges.capacityOfOne)", link, client)
        }
        let more = endless("session 0", link, client)
        for exchange in asking.prefix(HeldExchanges.capacityOfOne) { #expect(held.beginAsking(exchange)) }
        #expect(!held.beginAsking(more))
        for exchange in asking.dropFirst(HeldExchanges.capacityOfOne) { #expect(held.beginAsking(exchange)) }
        // All of the connection: for one who answers with another request, one of those is given up.
        let other = endless("other", link, client)
        #expect(!held.beginAsking(other))
        let keys = ["bob", "dan"].compactMap { held.keep(endless($0, link, client)) }
        #expect(keys.map { held.find($0) != nil } == [false, true])
        for exchange in asking { held.endAsking(exchange) }
        #expect(held.beginAsking(other))
        held.cancelAll()
        for exchange in asking + [more, other] { exchange.cancel() }
        link.connection.release()
        #expect(await comesTrue { link.connection.isUnused })
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    /// A session without authorization cannot keep others from being asked.
    @Test func questionsOfOneSession() async throws {
        let folder = TemporaryDirectory()
        let far = try Self.makeServer("far")
        let running = try far.start([.http(.unix(path: "\(folder.path)/s"))])
        var options = UpstreamOptions()
        options.protocol = .exactly(.v2025_11_25)
        options.isPerPrincipal = true
        let group = UpstreamGroup()
        group.set([
            Upstream("far", .unix(path: "\(folder.path)/s", endpoint: "/mcp"), options: options)
        ])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let asked = Mutex(0)
        let answered = Gate()
        var caller = ClientOptions()
        caller.protocol = .exactly(.v2025_11_25)
        caller.onElicit = { _ in
            asked.withLock { $0 += 1 }
            _ = await answered.wait()
            return ElicitResult(.accept)
        }
        let first = try await MCPClient.connect(.inProcess(near), options: caller)
        caller.onElicit = { _ in ElicitResult(.accept) }
        let second = try await MCPClient.connect(.inProcess(near), options: caller)
        let calls = (0 ..< HeldExchanges.capacityOfOne).map { _ in
            Task { try await first.callTool("ask") }
        }
        #expect(await comesTrue { asked.withLock { $0 } == calls.count })
        let refused = try await first.callTool("ask")
        #expect(refused.isError && refused.text.contains("too many questions wait"), "\(refused.text)")
        #expect(try await second.callTool("ask").text == "far: accept")
        answered.open()
        for call in calls { #expect(try await call.value.text == "far: accept") }
        #expect(try await first.callTool("ask").text == "far: accept")
        for client in [first, second] { await client.close() }
        await group.stop()
        await running.stop()
    }

    /// A question that comes while its server is removed is refused, or cancelled with the others.
    @Test static func noQuestionIsKeptAfterTheRemoval() async throws {
        let upstream = Upstream("far", .inProcess(MCPServer("far", version: "1")))
        let link = try upstream.link(for: "")
        let client = try await link.connection.acquire()
        for _ in 0 ..< 500 {
            let held = HeldExchanges()
            let exchanges = (0 ..< 4).map { _ in endless("ada", link, client) }
            let begun = Gate()
            let keys = await withTaskGroup(of: String?.self, returning: [String].self) { group in
                for exchange in exchanges {
                    group.addTask {
                        _ = await begun.wait()
                        return held.keep(exchange)
                    }
                }
                group.addTask {
                    _ = await begun.wait()
                    held.cancelAll()
                    return nil
                }
                begun.open()
                return await group.reduce(into: []) { keys, key in if let key { keys.append(key) } }
            }
            #expect(keys.allSatisfy { held.find($0) == nil })
            for exchange in exchanges { exchange.cancel() }
        }
        link.connection.release()
        #expect(await comesTrue { link.connection.isUnused })
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    private static func endless(_ owner: String, _ link: Upstream.Link, _ client: MCPClient) -> HeldExchange {
        HeldExchange(of: owner, at: link, client) { _ in
            try await Task.sleep(for: .seconds(600))
            throw CancellationError()
        }
    }

    @Test static func anAnswerThatDoesNotCome() async throws {
        let upstream = Upstream("far", .inProcess(MCPServer("far", version: "1")))
        let link = try upstream.link(for: "")
        let client = try await link.connection.acquire()
        let patient = HeldExchanges()
        let kept = try #require(patient.keep(endless("ada", link, client)))
        let held = HeldExchanges(lifetime: .milliseconds(1))
        let exchange = endless("ada", link, client)
        let key = try #require(held.keep(exchange))
        guard case .end(.failure) = await exchange.next() else {
            Issue.record("it was not cancelled")
            return
        }
        #expect(held.find(key) == nil && patient.find(kept) != nil)
        patient.cancelAll()
        link.connection.release()
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    /// A call that is refused because too many wait was not passed on.
    @Test func callsThatAreCounted() async throws {
        let (begun, release) = (Gate(), Gate())
        var options = UpstreamOptions()
        options.concurrency = 1
        let far = Upstream(
            "far", .inProcess(try Self.makeServer("far", begun: begun, release: release)), options: options)
        let group = UpstreamGroup()
        group.set([far])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        let running = Task { try await client.callTool("wait") }
        #expect(await begun.wait())
        let slots = try far.link(for: "").slots
        let waiting = (0 ..< UpstreamLimits.waiting).map { number in
            Task { try await slots.enter(UpstreamSlots.Caller(key: "\(number)")) }
        }
        #expect(await comesTrue { slots.waiting == UpstreamLimits.waiting })
        let error = await #expect(throws: MCPError.self) { try await client.callTool("quick") }
        #expect(error?.code == MCPError.overloadedCode)
        #expect(far.status.calls == 1)
        for task in waiting { task.cancel() }
        release.open()
        #expect(try await running.value.text == "far: done")
        await client.close()
        await group.stop()
    }
}
