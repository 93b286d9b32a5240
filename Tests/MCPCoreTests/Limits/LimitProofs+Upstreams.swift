import Synchronization
import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    private typealias U = UpstreamLimits

    static let upstreams: [LimitProof] = [
        LimitProof(
            "tools, prompts, templates of one server behind another", "\(LimitText.grouped(U.tools)) each",
            tools),
        LimitProof("resources of one such server", LimitText.grouped(U.resources), resources),
        LimitProof("pages of one of its lists", "\(U.pages)", pages),
        LimitProof("one of its lists", LimitText.bytes(U.listBytes), list),
        LimitProof("one of its definitions", LimitText.bytes(U.definitionBytes), definitions),
        LimitProof("a title or a description in it", LimitText.bytes(U.textBytes), texts),
        LimitProof("a name that callers see", "\(U.nameBytes) characters") {
            UpstreamNamesTests().namesFitEveryHost()
        },
        LimitProof(
            "resources of such a server that are watched at the same time",
            "\(U.watched), \(U.watchedByOne) for one principal"
        ) { try await UpstreamResourceTests.placesAreBounded() },
        LimitProof(
            "resources that no such server has, watched until one has them",
            "\(U.watched), \(U.watchedByOne) for one principal", laterPlaces),
        LimitProof(
            "the answer of a server to a subscription to its resources",
            LimitText.seconds(WatchedResources.patience), subscriptionAnswer),
        LimitProof(
            "the wait of a subscription for such answers", LimitText.seconds(ResourceWatch.longestAnswer),
            subscriptionWait),
        LimitProof("calls that wait for their turn at a server", "\(U.waiting)", waiting),
        LimitProof("calls of one caller that wait at a server that callers share", "\(U.waitingOfOne)") {
            try await UpstreamSlotsTests.oneCallerDoesNotFillTheLine()
        },
        LimitProof(
            "calls of one principal at such a server at the same time",
            "\(UpstreamSlots(UpstreamOptions().concurrency, areShared: true).share(of: somebody))"
        ) { try await UpstreamSlotsTests.onePrincipalDoesNotTakeAllPlaces() },
        LimitProof(
            "connections of a server of which each principal has its own", "\(U.connections)", connections),
        LimitProof(
            "calls of a server that wait for the answer of a caller of 2026-07-28",
            "\(HeldExchanges.capacity), \(HeldExchanges.capacityAtOne) at one connection, "
                + "\(HeldExchanges.capacityOfOne) of one caller"
        ) { try await UpstreamLifeTests.oneCallerTakesNoQuestionsOfOthers() },
        LimitProof(
            "calls of a session before 2026-07-28 without authorization that wait for its answers at a server "
                + "with `perPrincipal`",
            "\(HeldExchanges.capacityOfOne), \(HeldExchanges.capacityAtOne) of all at one connection",
            UpstreamLifeTests.oneSessionTakesNoPlacesOfOthers),
        LimitProof(
            "such a wait for one answer", LimitText.seconds(HeldExchanges.lifetime)
        ) { try await UpstreamLifeTests.anAnswerThatDoesNotCome() },
        LimitProof("questions of one such call", "\(HeldExchange.maxQuestions)", questions),
        LimitProof(
            "a call of a tool of a server that reports progress", LimitText.seconds(U.longestCall),
            longCall),
        LimitProof(
            "the wait of a list for servers that connect for the first time", LimitText.seconds(U.firstList),
            firstList),
        LimitProof("failure of a server as callers see it", LimitText.grouped(U.failureBytes) + " bytes") {
            let long = ClientError(.connectionClosed, String(repeating: "x", count: 2 * U.failureBytes))
            let text = UpstreamFailure("far", long, hiding: UpstreamSecrets()).description
            #expect(text.utf8.count == "far: ".utf8.count + U.failureBytes)
        },
        LimitProof(
            "output of a server that is not messages, in a row",
            LimitText.bytes(ClientConnection.maxUnreadableBytes), garbage),
        LimitProof("a message of a server", LimitText.bytes(UpstreamOptions().maxMessageBytes), message),
    ]

    @Sendable private static func message() async throws {
        let limit = UpstreamOptions().maxMessageBytes
        let server = MCPServer("far", version: "1")
        server.addTool("t", "", schema: #"{"type":"object"}"#) { arguments, _, out in
            out.text(String(repeating: "x", count: arguments["bytes"]?.int ?? 0))
        }
        var options = ClientOptions()
        options.maxMessageBytes = limit
        try await server.withPort { [options] port in
            let client = try await MCPClient.connect(.http("http://127.0.0.1:\(port)/mcp"), options: options)
            let fits = try await client.callTool("t", ["bytes": .number(JSONNumber(limit - 1_024))])
            #expect(!fits.isError)
            let error = await clientError {
                _ = try await client.callTool("t", ["bytes": .number(JSONNumber(limit))])
            }
            #expect(error?.kind == .protocolViolation)
            await client.close()
        }
    }

    private static let somebody = UpstreamSlots.Caller(key: "a", isPrincipal: true)

    private static func definitions(of server: MCPServer) async throws -> UpstreamDefinitions {
        let client = try await MCPClient.connect(.inProcess(server))
        let read = await UpstreamDefinitions.read(from: client, old: nil)
        await client.close()
        return read
    }

    @Sendable private static func tools() async throws {
        #expect(U.prompts == U.tools && U.templates == U.tools)
        let server = MCPServer("far", version: "1")
        let entries = try (0 ... U.tools).map { number in
            try ToolEntry(Tool("t\(number)"), timeout: nil, handler: .asynchronous { _, _ in .text("") })
        }
        try server.update { $0.tools = Array(entries.dropLast()) }
        let fits = try await definitions(of: server)
        #expect(fits.tools.count == U.tools && fits.notes.isEmpty)
        try server.update { $0.tools = entries }
        let more = try await definitions(of: server)
        #expect(more.tools.count == U.tools && more.notes.count == 1)
    }

    @Sendable private static func resources() async throws {
        var options = ServerOptions()
        options.limits.pageSize = 1_000
        let server = MCPServer("far", version: "1", options: options)
        let entries = (0 ... U.resources).map { number in
            ResourceEntry(resource: Resource("far:///\(number)", name: "r")) { _ in [] }
        }
        try server.update { $0.resources = Array(entries.dropLast()) }
        let fits = try await definitions(of: server)
        #expect(fits.resources.count == U.resources && fits.notes.isEmpty)
        try server.update { $0.resources = entries }
        let more = try await definitions(of: server)
        #expect(more.resources.count == U.resources && more.notes.count == 1)
    }

    @Sendable private static func pages() async throws {
        var options = ServerOptions()
        options.limits.pageSize = 1
        let server = MCPServer("far", version: "1", options: options)
        let entries = try (0 ... U.pages).map { number in
            try ToolEntry(Tool("t\(number)"), timeout: nil, handler: .asynchronous { _, _ in .text("") })
        }
        try server.update { $0.tools = Array(entries.dropLast()) }
        #expect(try await definitions(of: server).notes.isEmpty)
        try server.update { $0.tools = entries }
        let more = try await definitions(of: server)
        #expect(more.tools.count == U.pages && more.notes.count == 1)
    }

    @Sendable private static func definitions() async throws {
        let server = MCPServer("far", version: "1")
        let text = String(repeating: "x", count: U.definitionBytes)
        try server.register(Tool("large", description: text)) { _, _ in .text("") }
        try server.register(Tool("small")) { _, _ in .text("") }
        let read = try await definitions(of: server)
        #expect(read.tools.map(\.name) == ["small"] && read.notes.count == 1)
    }

    @Sendable private static func texts() async throws {
        let server = MCPServer("far", version: "1")
        let text = String(repeating: "x", count: U.textBytes)
        try server.register(Tool("fits", title: text, description: text)) { _, _ in .text("") }
        try server.register(Tool("longer", title: text + "x", description: text + "x")) { _, _ in .text("") }
        for tool in try await definitions(of: server).tools {
            #expect(tool.title == text && tool.description == text, "\(tool.name)")
        }
    }

    /// Three pages that fit, and one entry more.
    @Sendable private static func list() async throws {
        let server = MCPServer("far", version: "1")
        let page = ServerLimits().pageSize
        let text = String(repeating: "x", count: U.listBytes / (3 * page) - 120)
        let entries = try (0 ... 3 * page).map { number in
            try ToolEntry(
                Tool("t\(number)", description: text), timeout: nil,
                handler: .asynchronous { _, _ in .text("") })
        }
        try server.update { $0.tools = entries }
        let more = try await definitions(of: server)
        #expect(more.tools.count == 3 * page && more.notes.count == 1, "\(more.notes)")
        try server.update { $0.tools = Array(entries.dropLast(2)) }
        let fits = try await definitions(of: server)
        #expect(fits.tools.count == 3 * page - 1 && fits.notes.isEmpty, "\(fits.notes)")
    }

    @Sendable private static func connections() async throws {
        var options = UpstreamOptions()
        options.isPerPrincipal = true
        let upstream = Upstream("far", .inProcess(MCPServer("far", version: "1")), options: options)
        let links = try (0 ..< U.connections).map { try upstream.link(for: "principal \($0)") }
        for link in links { link.connection.lease() }
        let error = #expect(throws: MCPError.self) { try upstream.link(for: "another") }
        #expect(error?.code == MCPError.overloadedCode)
        links[0].connection.endLease()
        _ = try upstream.link(for: "another")
        for link in links.dropFirst() { link.connection.endLease() }
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    @Sendable private static func questions() async throws {
        let upstream = Upstream("far", .inProcess(MCPServer("far", version: "1")))
        let link = try upstream.link(for: "")
        let client = try await link.connection.acquire()
        let exchange = HeldExchange(of: "", at: link, client) { exchange in
            for _ in 0 ..< HeldExchange.maxQuestions {
                _ = try await exchange.ask(.elicit("?", ElicitationSchema([])))
            }
            await #expect(throws: MCPError.self) {
                try await exchange.ask(.elicit("?", ElicitationSchema([])))
            }
            return RawJSON([:])
        }
        var count = 0
        while case .question(let question) = await exchange.next() {
            count += 1
            question.answer.finish(.success(.null))
        }
        #expect(count == HeldExchange.maxQuestions)
        link.connection.release()
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    /// In the server's time, which passes while the call runs.
    @Sendable private static func longCall() async throws {
        let (begun, release) = (Gate(), Gate())
        let far = MCPServer("far", version: "1")
        try far.register(Tool("wait")) { _, _ in
            begun.open()
            _ = await release.wait()
            return .text("done")
        }
        let clock = ManualClock()
        let near = MCPServer("near", version: "1", at: clock)
        let group = UpstreamGroup()
        group.set([Upstream("far", .inProcess(far))])
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        let call = Task { try await client.callTool("wait") }
        #expect(await begun.wait())
        clock.advance(by: U.longestCall - .seconds(1))
        near.dispatcher.deadlines.expire()
        #expect(near.dispatcher.inFlight.count == 1)
        clock.advance(by: .seconds(1))
        near.dispatcher.deadlines.expire()
        let error = await #expect(throws: MCPError.self) { try await call.value }
        #expect(error?.code == MCPError.deadlineExceededCode)
        release.open()
        await client.close()
        await group.stop()
    }

    @Sendable private static func laterPlaces() async throws {
        let watches = UpstreamWatches()
        func watch(_ number: Int, _ principal: String) -> ResourceWatch? {
            watches.beginLater("far:///\(number)", for: principal)
        }
        var held = (0 ..< U.watchedByOne).map { watch($0, "ada") }
        #expect(held.allSatisfy { $0 != nil })
        #expect(watch(1_000, "ada") == nil)
        held += (U.watchedByOne ..< U.watched).map { watch($0, "") }
        #expect(held.allSatisfy { $0 != nil })
        #expect(watch(1_000, "bob") == nil)
        held.removeFirst()
        #expect(watch(1_000, "ada") != nil)
    }

    /// A server that does not say anything refuses.
    @Sendable private static func subscriptionAnswer() async throws {
        let silent = Script.legacy(capabilities: #"{"resources":{"subscribe":true}}"#) { sent in
            switch sent.method {
            case "resources/list": [Script.result(#"{"resources":[{"uri":"far:///one","name":"one"}]}"#)]
            case "resources/templates/list": [Script.result(#"{"resourceTemplates":[]}"#)]
            case "resources/subscribe": []
            default: [Script.result("{}")]
            }
        }
        var options = UpstreamOptions()
        options.protocol = .exactly(.v2025_11_25)
        let upstream = Upstream("far", silent.target, options: options)
        try await upstream.connect()
        #expect(await comesTrue { upstream.definitions != nil })
        let clock = ContinuousClock()
        let start = clock.now
        let watch = try #require(upstream.watch("far:///one", for: ""))
        #expect(await watch.isRefused())
        #expect(clock.now - start >= WatchedResources.patience - .milliseconds(500))
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    /// A server of which nobody knows what it reports.
    private struct Mute: ForwardedResources {
        let gate: Gate
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) { ([], nil) }
        func read(_ uri: String, _ context: RequestContext) -> [ResourceContents]? { nil }
        func isKnown(_ uri: String) -> Bool { true }
        func watch(_ uri: String, for principal: String) -> ResourceWatch? {
            ResourceWatch(isRefused: { [gate] in await gate.wait() }, end: {})
        }
    }

    @Sendable private static func subscriptionWait() async throws {
        let server = MCPServer("near", version: "1")
        let gate = Gate()
        server.register(Mute(gate: gate))
        let client = try await MCPClient.connect(.inProcess(server))
        let clock = ContinuousClock()
        let start = clock.now
        let subscription = try await client.listen(SubscriptionFilter(resourceURIs: ["far:///one"]))
        #expect(subscription.accepted.resourceURIs == ["far:///one"])
        #expect(clock.now - start >= ResourceWatch.longestAnswer - .milliseconds(500))
        gate.open()
        await client.close()
    }

    @Sendable private static func waiting() async throws {
        let slots = UpstreamSlots(1)
        try await slots.enter()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0 ... U.waiting {
                group.addTask {
                    do {
                        try await slots.enter()
                        slots.leave()
                        return true
                    } catch {
                        return false
                    }
                }
            }
            #expect(await group.next() == false)
            slots.leave()
            var served = 0
            for await isServed in group where isServed { served += 1 }
            #expect(served == U.waiting)
        }
    }

    /// A program that never answers delays the first list, and no later one.
    @Sendable private static func firstList() async throws {
        let group = UpstreamGroup()
        group.set([Upstream("mute", .command("sleep", "1000"))])
        let own = MCPServer("near", version: "1")
        own.addTool("own", "Own") { () in "own" }
        group.serve(through: own)
        let client = try await MCPClient.connect(.inProcess(own))
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try await client.listTools().count == 1)
        #expect(clock.now - start >= U.firstList - .milliseconds(500))
        await client.close()
        await group.stop(grace: .zero)
    }

    @Sendable private static func garbage() async throws {
        let target = ClientTarget.command("sh", "-c", "yes garbage")
        let error = await #expect(throws: ClientError.self) { try await MCPClient.connect(target) }
        #expect(error?.message.contains("more than 1 MiB") == true, "\(error as Any)")
    }
}
