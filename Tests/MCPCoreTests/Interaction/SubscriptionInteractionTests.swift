import MCPCore
import Synchronization
import TestSupport
import Testing

/// `subscriptions/listen` of 2026-07-28 (basic/patterns/subscriptions).
@Suite(.serialized, .timeLimit(.minutes(5))) struct SubscriptionInteractionTests {
    static let acknowledged = "notifications/subscriptions/acknowledged"
    private static let tools = "notifications/tools/list_changed"
    private static let prompts = "notifications/prompts/list_changed"
    private static let resources = "notifications/resources/list_changed"
    private static let updated = "notifications/resources/updated"

    private static func settings(_ legs: Leg...) -> [Setting] {
        Setting.modern.filter { legs.contains($0.leg) }
    }

    // SUB-01, SUB-02, SUB-03, SUB-04, SUB-05, META-13, HTTP-29: what is asked for is acknowledged first, and
    // nothing else is told.
    @Test(arguments: Setting.modern, [JSONValue](["s-1", 7, "", 0]))
    func whatIsAskedFor(_ setting: Setting, _ id: JSONValue) async throws {
        let server = try TestServer().server
        try await withClient(setting, server) { client in
            let listening = Task {
                await client.listen(["toolsListChanged": true, "promptsListChanged": false], id: id)
            }
            #expect(await client.told(Self.acknowledged, by: id) != nil)
            server.notifyPromptsChanged()
            server.notifyResourcesChanged()
            server.notifyResourceUpdated("mem://a")
            server.notifyToolsChanged()
            #expect(await client.told(Self.tools, by: id) != nil)
            let heard = client.told(by: id)
            #expect(heard.compactMap { $0["method"]?.string } == [Self.acknowledged, Self.tools])
            #expect(heard[0]["params"]?["notifications"]?.value == ["toolsListChanged": true])
            #expect(client.heard.allSatisfy { $0["method"] == nil || $0.subscription == id })
            try await client.cancel(id)
            _ = await listening.value
        }
    }

    // SUB-02, SUB-03, RES-14: what the server does not have is left out; members that nobody knows are
    // ignored.
    @Test(arguments: Setting.modern) func whatIsHonoured(_ setting: Setting) async throws {
        let server = MCPServer("s", version: "1")
        server.addTool("t", "T") { "" }
        try await withClient(setting, server) { client in
            let filter: JSONObject = [
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": ["a:b"], "x.example/other": ["deep": [1, true]], "other": nil,
            ]
            let listening = Task { await client.listen(filter, id: 1) }
            let first = await client.told(Self.acknowledged, by: 1)
            #expect(first?["params"]?["notifications"]?.value == ["toolsListChanged": true])
            try await client.cancel(1)
            _ = await listening.value
            // SUB-15: nothing of it can be honoured.
            let reply = await client.listen(["promptsListChanged": true], id: 2)
            #expect(reply.result?["resultType"]?.string == "complete")
            #expect(client.told(by: 2).map { $0["params"]?["notifications"]?.value } == [[:]])
            let none = await client.listen([:], id: 3)
            #expect(none.result?.subscriptionTag == 3)
        }
    }

    // SUB-03, SUB-15: addresses of which nothing can be told are left out.
    @Test(arguments: Setting.modern) func addressesThatNothingCovers(_ setting: Setting) async throws {
        try await withClient(setting, try Watchable.server()) { client in
            let listening = Task {
                await client.listen(
                    ["resourceSubscriptions": .array((Watchable.yes + Watchable.no).map { .string($0) })],
                    id: 1)
            }
            let first = await client.told(Self.acknowledged, by: 1)
            #expect(
                first?["params"]?["notifications"]?.value
                    == ["resourceSubscriptions": .array(Watchable.yes.map { .string($0) })])
            try await client.cancel(1)
            _ = await listening.value
            let reply = await client.listen(
                ["resourceSubscriptions": .array(Watchable.no.map { .string($0) })], id: 2)
            #expect(reply.result?["resultType"]?.string == "complete")
            #expect(client.told(by: 2).map { $0["params"]?["notifications"]?.value } == [[:]])
        }
    }

    // SUB-15, JRPC-22: nothing here can change.
    @Test(arguments: Setting.modern) func aServerWithoutAnything(_ setting: Setting) async throws {
        try await withClient(setting, MCPServer("empty", version: "1")) { client in
            let reply = await client.listen(["toolsListChanged": true], id: 1)
            #expect(reply.errorCode == -32601)
            #expect(reply.status == setting.status(404))
        }
    }

    @Test(arguments: Setting.modern) func filtersThatAreNone(_ setting: Setting) async throws {
        let server = try TestServer().server
        try await withClient(setting, server) { client in
            let many = JSONValue.array((0 ... 1_024).map { "a:\($0)" })
            let filters: [JSONValue] = [
                true, "tools", [], nil, ["toolsListChanged": "yes"], ["resourceSubscriptions": "a:b"],
                ["resourceSubscriptions": [1]], ["resourceSubscriptions": many],
            ]
            for filter in filters {
                let reply = await client.request("subscriptions/listen", ["notifications": filter])
                #expect(reply.errorCode == -32602, "\(filter.serialized().prefix(60))")
            }
            #expect(await client.request("subscriptions/listen", ["other": 1]).errorCode == -32602)
            #expect(server.probe.requests == 0)
        }
    }

    // TOOL-21, PROM-08, RES-14, DUAL-24, SUB-08: changes are told once each, however often they happen.
    @Test(arguments: Setting.modern) func changesAreCollected(_ setting: Setting) async throws {
        let clock = ManualClock()
        let server = try TestServer(clock: clock).server
        try await withClient(setting, server) { client in
            let filter: JSONObject = [
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": ["mem://a", "mem://item/end"],
            ]
            let listening = Task { await client.listen(filter, id: "s") }
            #expect(await client.told(Self.acknowledged, by: "s") != nil)
            for number in 0 ..< 100 {
                server.addTool("t\(number)", "T") { "" }
                try server.register(Prompt("p\(number)")) { _, _ in GetPromptResult([]) }
                try server.register(Resource("mem://r\(number)", name: "r")) { _ in [] }
                server.notifyResourceUpdated("mem://a")
                server.notifyResourceUpdated("mem://b\(number)")
            }
            server.notifyResourceUpdated("mem://item/end")
            clock.advance(by: ServerProbe.moment)
            #expect(await comesTrue { client.updates(by: "s").contains("mem://item/end") })
            for method in [Self.tools, Self.prompts, Self.resources] {
                #expect(client.told(by: "s").count { $0["method"]?.string == method } == 1, "\(method)")
            }
            #expect(client.updates(by: "s") == ["mem://a", "mem://item/end"])
            let names = await client.request("tools/list").result?["tools"]?.elements ?? []
            #expect(names.count == 100)
            try await client.cancel("s")
            _ = await listening.value
        }
    }

    // TOOL-21, PROM-08: taking something away is a change, taking away what is not there is none.
    @Test(arguments: Setting.modern) func takingAway(_ setting: Setting) async throws {
        let server = try TestServer().server
        try await withClient(setting, server) { client in
            let lists: JSONObject = [
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
            ]
            let listening = Task { await client.listen(lists, id: "s") }
            #expect(await client.told(Self.acknowledged, by: "s") != nil)
            #expect(!server.unregisterTool("none"))
            #expect(!server.unregisterPrompt("none"))
            #expect(!server.unregisterResource("none:"))
            server.probe.deliverChanges()
            #expect(server.unregisterPrompt("greet"))
            #expect(await client.told(Self.prompts, by: "s") != nil)
            #expect(client.told(by: "s").count == 2)
            #expect(await client.request("prompts/get", ["name": "greet"]).errorCode == -32601)
            #expect(server.unregisterResource("mem://a"))
            #expect(await client.told(Self.resources, by: "s") != nil)
            #expect(await client.request("resources/read", ["uri": "mem://a"]).errorCode == -32602)
            #expect(server.unregisterTool("add"))
            #expect(await client.told(Self.tools, by: "s") != nil)
            #expect(await client.call("add", ["a": 1]).errorCode == -32602)
            // Everything at once, in place of what was there.
            let other = MCPServer("other", version: "1")
            other.addTool("add", "Adds", Argument("a")) { (a: Int) in "\(a)" }
            server.adopt(other)
            #expect(await comesTrue { client.told(by: "s").count == 6 })
            #expect(await client.call("add", ["a": 1]).text == "1")
            #expect(await client.call("wait").errorCode == -32602)
            try await client.cancel("s")
            _ = await listening.value
        }
    }

    // SUB-07, SUB-08: several at once, each with its own filter and its own tag; and a client's ids are its
    // own.
    @Test(arguments: Setting.modern) func several(_ setting: Setting) async throws {
        let server = try TestServer().server
        try await withServer(setting, server) { served in
            let (one, two) = (try await served.client(), try await served.client())
            let filters: [(RawClient, JSONValue, JSONObject)] = [
                (one, 1, ["toolsListChanged": true]), (one, "1", ["toolsListChanged": true]),
                (one, 2, ["resourceSubscriptions": ["mem://a"]]),
                (two, 1, ["resourceSubscriptions": ["mem://a"]]),
            ]
            let listening = filters.map { client, id, filter in
                Task { await client.listen(filter, id: id) }
            }
            for (client, id, _) in filters { #expect(await client.told(Self.acknowledged, by: id) != nil) }
            server.notifyToolsChanged()
            server.notifyResourceUpdated("mem://a")
            #expect(await one.told(Self.tools, by: 1) != nil)
            #expect(await one.told(Self.tools, by: "1") != nil)
            #expect(await one.told(Self.updated, by: 2) != nil)
            #expect(await two.told(Self.updated, by: 1) != nil)
            // Only this one ends.
            try await one.cancel(1)
            #expect(await comesTrue { server.probe.requests == 3 })
            server.notifyToolsChanged()
            server.notifyResourceUpdated("mem://a")
            #expect(await comesTrue { one.told(by: "1").count == 3 && two.told(by: 1).count == 3 })
            #expect(one.told(by: 1).count == 2)
            for (client, id, _) in filters.dropFirst() { try await client.cancel(id) }
            for task in listening { _ = await task.value }
        }
    }

    // SUB-11, CANC-03, HTTP-24: after the end by the client nothing more is sent, and nothing is left.
    @Test(arguments: Setting.modern) func theClientEndsIt(_ setting: Setting) async throws {
        let server = try TestServer().server
        try await withClient(setting, server) { client in
            for round in 1 ... 3 {
                let id = JSONValue.string("round \(round)")
                let listening = Task { await client.listen(["toolsListChanged": true], id: id) }
                #expect(await client.told(Self.acknowledged, by: id) != nil)
                #expect(server.probe.hasSubscribers)
                try await client.cancel(id)
                #expect(await listening.value.answer == nil)
                #expect(
                    await comesTrue {
                        server.probe.requests == 0
                            && !server.probe.hasSubscribers
                    })
                server.notifyToolsChanged()
                #expect(await client.request("server/discover").result != nil)
                #expect(client.told(by: id).count == 1)
                #expect(client.answers(to: id).isEmpty)
            }
        }
    }

    // SUB-09, CANC-07: the server's end of it is a result; what changed before is told before.
    @Test(arguments: settings(.stdio, .http)) func theServerEndsIt(_ setting: Setting) async throws {
        let server = try TestServer().server
        try await withServer(setting, server) { served in
            let client = try await served.client()
            let listening = [JSONValue]([1, "two"]).map { id in
                Task { await client.listen(["toolsListChanged": true], id: id) }
            }
            #expect(await client.told(Self.acknowledged, by: 1) != nil)
            #expect(await client.told(Self.acknowledged, by: "two") != nil)
            server.notifyToolsChanged()
            async let stopped: Void = served.stopServer()
            for (task, id) in zip(listening, [JSONValue]([1, "two"])) {
                let reply = await task.value
                #expect(reply.result?["resultType"]?.string == "complete")
                #expect(reply.result?.subscriptionTag == id)
                #expect(client.told(by: id).last?["method"]?.string == Self.tools)
            }
            #expect(!client.heard.contains { $0["method"]?.string == "notifications/cancelled" })
            await stopped
        }
    }

    // SUB-09: the end of the input comes right behind the request, before anything of it has run.
    @Test func theInputEndsAtOnce() async throws {
        let server = try TestServer().server
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0 ..< 20 {
            let link = try StdioLink(server, MessageRecorder([.server]))
            let body = HTTPServerTests.body(
                "subscriptions/listen", #""notifications":{"toolsListChanged":true}"#)
            link.write(body)
            link.endInput()
            await link.waitUntilEnded()
            #expect(await comesTrue { link.heard.count == 2 })
            #expect(link.heard.first?["method"]?.string == Self.acknowledged)
            #expect(link.heard.last?["result"]?["resultType"]?.string == "complete")
            await link.close()
        }
        // Each would otherwise take the 10 s of a drain.
        #expect(clock.now - start < .seconds(10))
    }

    // SUB-16: no deadline; but it counts as a request in flight.
    @Test(arguments: settings(.stdio, .inMemory)) func limits(_ setting: Setting) async throws {
        var options = ServerOptions()
        options.limits.maxRequestsInFlight = 5
        options.limits.requestDeadline = .milliseconds(1)
        let server = try TestServer(options).server
        try await withServer(setting, server) { served in
            let (client, other) = (try await served.client(), try await served.client())
            let listening = (1 ... 5).map { number in
                Task { await client.listen(["toolsListChanged": true], id: JSONValue(number)) }
            }
            for number in 1 ... 5 {
                #expect(await client.told(Self.acknowledged, by: JSONValue(number)) != nil)
            }
            let more = await client.listen(["toolsListChanged": true], id: 6)
            #expect(more.errorCode == MCPError.overloadedCode)
            let twice = await client.listen(["toolsListChanged": true], id: 1)
            #expect(twice.errorCode == -32600)
            #expect(await other.call("wait").errorCode == MCPError.deadlineExceededCode)
            server.probe.expireDeadlines()
            server.notifyToolsChanged()
            for number in 2 ... 5 { #expect(await client.told(Self.tools, by: JSONValue(number)) != nil) }
            for number in 1 ... 5 { try await client.cancel(JSONValue(number)) }
            for task in listening { _ = await task.value }
        }
    }

    // SUB-12, LOG-04: what belongs to a request stays with it.
    @Test(arguments: Setting.modern) func nothingOfRequests(_ setting: Setting) async throws {
        let server = try TestServer().server
        try server.register(Tool("talk")) { _, context in
            await context.log(.error, "a word")
            return .text("said")
        }
        try await withClient(setting, server) { client in
            let listening = Task {
                await client.request(
                    "subscriptions/listen",
                    [
                        "notifications": ["toolsListChanged": true],
                        "_meta": ["io.modelcontextprotocol/logLevel": "debug"],
                    ], id: "l", progressToken: "p")
            }
            #expect(await client.told(Self.acknowledged, by: "l") != nil)
            #expect(await client.call("steps", id: "c", progressToken: "c").text == "done")
            let level: JSONValue = ["io.modelcontextprotocol/logLevel": "debug"]
            let talk: JSONObject = ["name": "talk", "arguments": [:], "_meta": level]
            #expect(await client.request("tools/call", talk, id: "t").text == "said")
            let words = client.heard.filter { $0["method"]?.string == "notifications/message" }
            #expect(words.count == 1)
            #expect(words.allSatisfy { $0.subscription == nil })
            server.notifyToolsChanged()
            #expect(await client.told(Self.tools, by: "l") != nil)
            #expect(
                client.told(by: "l").compactMap { $0["method"]?.string } == [Self.acknowledged, Self.tools])
            let progress = client.heard.filter { $0["method"]?.string == "notifications/progress" }
            #expect(progress.count == 3)
            #expect(progress.allSatisfy { $0.subscription == nil })
            try await client.cancel("l")
            _ = await listening.value
        }
    }

    // SUB-04: a change at the moment of the acknowledgment is behind it or not told; nothing comes before it.
    @Test func changesWhileItBegins() async throws {
        let server = try TestServer().server
        let isDone = Gate()
        let publisher = Task.detached {
            while !isDone.isOpen {
                server.notifyToolsChanged()
                await Task.yield()
            }
        }
        try await withClient(.inMemory(), server) { client in
            for number in 1 ... 50 {
                let id = JSONValue(number)
                let listening = Task { await client.listen(["toolsListChanged": true], id: id) }
                #expect(await client.told(Self.tools, by: id) != nil)
                #expect(client.told(by: id).first?["method"]?.string == Self.acknowledged)
                try await client.cancel(id)
                _ = await listening.value
            }
        }
        isDone.open()
        await publisher.value
    }

    // RES-13: the older way does not exist in 2026-07-28.
    @Test(arguments: Setting.modern) func noOlderWay(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            for method in ["resources/subscribe", "resources/unsubscribe"] {
                let reply = await client.request(method, ["uri": "mem://a"])
                #expect(reply.errorCode == -32601)
                #expect(reply.status == setting.status(404))
            }
        }
    }
}

extension RawJSON {
    /// Which subscription a notification belongs to.
    var subscription: JSONValue? {
        self["params"]?["_meta"]?["io.modelcontextprotocol/subscriptionId"]?.value
    }

    /// The same of a result.
    var subscriptionTag: JSONValue? { self["_meta"]?["io.modelcontextprotocol/subscriptionId"]?.value }
}

extension RawClient {
    func listen(_ filter: JSONObject, id: JSONValue) async -> RawReply {
        await request("subscriptions/listen", ["notifications": .object(filter)], id: id)
    }

    /// Everything that a subscription was told.
    func told(by id: JSONValue) -> [RawJSON] { heard.filter { $0.subscription == id } }

    /// The first notification of this kind that a subscription was told.
    func told(_ method: String, by id: JSONValue) async -> RawJSON? {
        await heard(method) { $0.subscription == id }
    }

    /// The resources that a subscription was told of.
    func updates(by id: JSONValue) -> [String] {
        told(by: id).filter { $0["method"]?.string == "notifications/resources/updated" }
            .compactMap { $0["params"]?["uri"]?.string }
    }
}
