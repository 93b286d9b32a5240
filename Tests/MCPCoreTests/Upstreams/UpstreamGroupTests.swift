import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Servers in this process behind a server in this process, over every pair of revisions.
@Suite(.timeLimit(.minutes(5))) struct UpstreamGroupTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        let caller: ProtocolVersion
        let server: ProtocolVersion
        var testDescription: String { "\(caller) over \(server)" }
    }

    static let versions: [ProtocolVersion] = [.v2026_07_28, .v2025_11_25, .v2025_03_26]
    static let pairs = versions.flatMap { caller in versions.map { Pair(caller: caller, server: $0) } }

    /// A server with one of everything.
    static func makeServer(_ name: String = "far") -> MCPServer {
        let server = MCPServer(name, version: "1")
        server.addTool("add", "Adds", Argument("a"), Argument("b")) { (a: Double, b: Double) in a + b }
        server.addTool("fail", "Fails") { () throws -> String in throw ToolError("it failed") }
        try? server.register(Tool("count")) { _, context in
            for step in 1 ... 3 { await context.progress(Double(step), total: 3, message: "step \(step)") }
            await context.log(.info, "counted")
            return .text("counted")
        }
        try? server.register(Tool("meta")) { _, context in
            .text(context.meta?["traceparent"]?.string ?? "none")
        }
        try? server.register(Prompt("greet", arguments: [PromptArgument("name", required: true)])) {
            arguments, _ in GetPromptResult([.user("Hello \(arguments["name"] ?? "")")])
        }
        server.addCompletion(.prompt("greet"), "name", ["Ada", "Alan"])
        try? server.register(Resource("far:///one", name: "one")) { _ in [.text("first", uri: "far:///one")] }
        try? server.register(ResourceTemplate("far:///{id}", name: "by id")) { uri, variables, _ in
            [.text(variables["id"] ?? "", uri: uri)]
        }
        return server
    }

    /// A client of a server with the given ones behind it.
    static func connected(
        _ servers: [(String, ClientTarget, UpstreamOptions)],
        own: MCPServer = MCPServer("near", version: "1"),
        _ options: ClientOptions = ClientOptions()
    ) async throws -> (MCPClient, UpstreamGroup) {
        let group = UpstreamGroup()
        group.set(servers.map { Upstream($0.0, $0.1, options: $0.2) })
        group.serve(through: own)
        return (try await MCPClient.connect(.inProcess(own), options: options), group)
    }

    private func client(_ pair: Pair) async throws -> (MCPClient, UpstreamGroup) {
        var options = ClientOptions()
        options.protocol = .exactly(pair.caller)
        return try await Self.connected(
            [("far", .inProcess(Self.makeServer()), Self.options(pair.server))], options)
    }

    private static func options(_ version: ProtocolVersion) -> UpstreamOptions {
        var options = UpstreamOptions()
        options.protocol = .exactly(version)
        return options
    }

    private static func connected(
        _ servers: [(String, ClientTarget, UpstreamOptions)], _ options: ClientOptions
    ) async throws -> (MCPClient, UpstreamGroup) {
        try await connected(servers, own: MCPServer("near", version: "1"), options)
    }

    @Test(arguments: pairs) func everythingIsOffered(_ pair: Pair) async throws {
        let (client, group) = try await client(pair)
        #expect(try await client.listTools().map(\.name) == ["add", "fail", "count", "meta"])
        #expect(try await client.listPrompts().map(\.name) == ["greet"])
        #expect(try await client.listResources().map(\.uri) == ["far:///one"])
        #expect(try await client.listResourceTemplates().map(\.uriTemplate) == ["far:///{id}"])
        let sum: Double = try await client.call("add", ["a": 1, "b": 2])
        #expect(sum == 3)
        let failed = try await client.callTool("fail")
        #expect(failed.isError && failed.text == "it failed")
        let prompt = try await client.getPrompt("greet", ["name": "Ada"])
        #expect(prompt.messages.first?.content.text == "Hello Ada")
        #expect(try await client.readResource("far:///one").first?.text == "first")
        #expect(try await client.readResource("far:///two").first?.text == "two")
        await #expect(throws: MCPError.self) { try await client.readResource("other:///x") }
        if pair.caller != .v2025_03_26 || pair.server != .v2025_03_26 {
            let values = try await client.complete(.prompt("greet"), argument: "name", value: "al")
            #expect(values.values == ["Alan"])
        }
        await client.close()
        await group.stop()
    }

    private final class Outcomes: ServerMiddleware {
        let all = Mutex<[RequestOutcome]>([])

        func didServe(_ request: IncomingRequest, _ end: RequestEnd) {
            all.withLock { $0.append(end.outcome) }
        }
    }

    // A tool that reports a failure at the other server has failed here, whether its bytes are passed on or not
    @Test(arguments: pairs) func failuresAreSeen(_ pair: Pair) async throws {
        let outcomes = Outcomes()
        var options = ServerOptions()
        options.middleware = [outcomes]
        var clientOptions = ClientOptions()
        clientOptions.protocol = .exactly(pair.caller)
        let (client, group) = try await Self.connected(
            [("far", .inProcess(Self.makeServer()), Self.options(pair.server))],
            own: MCPServer("near", version: "1", options: options), clientOptions)
        #expect(try await client.callTool("fail").isError)
        // The caller may have the response first.
        #expect(await comesTrue { outcomes.all.withLock { $0.last } == .toolError })
        await client.close()
        await group.stop()
    }

    /// A server that is started again with other tools, as at an update, offers those. One that was not there at
    /// first appears, also when it is stopped while nobody calls.
    @Test(arguments: [nil, Duration.seconds(60)]) func aServerThatStartsAgain(_ idle: Duration?) async throws
    {
        let port = try freePort()
        var options = UpstreamOptions()
        options.idle = idle
        let (client, group) = try await Self.connected([
            ("far", .http("http://127.0.0.1:\(port)/mcp"), options)
        ])
        func lists(_ names: [String]) async -> Bool {
            // An attempt that meets the server between its two lives is repeated after a pause that grows.
            for _ in 0 ..< 30_000 {
                if (try? await client.listTools().map(\.name)) == names { return true }
                await pause()
            }
            return false
        }
        for name in ["first", "second"] {
            let server = MCPServer("far", version: "1")
            server.addTool(name, "One") { "done" }
            let running = try server.start([.http(.tcp(port: port))])
            #expect(await lists([name]), "\(name) \(group.statuses)")
            await running.stop()
        }
        await client.close()
        await group.stop()
    }

    /// Callers that come at the moment at which the entries of the other server arrive miss none of them.
    @Test func callersAtTheMomentOfArrival() async throws {
        for _ in 0 ..< 100 {
            let own = MCPServer("near", version: "1")
            let client = try await MCPClient.connect(.inProcess(own))
            let group = UpstreamGroup()
            group.serve(through: own)
            group.set([Upstream("far", .inProcess(Self.makeServer()), options: UpstreamOptions())])
            try await withThrowingTaskGroup { callers in
                for _ in 0 ..< 8 {
                    callers.addTask {
                        for _ in 0 ..< 4 {
                            let sum: Double = try await client.call("add", ["a": 1, "b": 2])
                            #expect(sum == 3)
                            let names = try await client.request("prompts/list")["prompts"]?.elements?.count
                            #expect(names == 1)
                            let read = try await client.readResource("far:///one").first?.text
                            #expect(read == "first")
                        }
                    }
                }
                try await callers.waitForAll()
            }
            await client.close()
            await group.stop()
        }
    }

    @Test(arguments: pairs) func progressAndTraceReachTheOtherSide(_ pair: Pair) async throws {
        let (client, group) = try await client(pair)
        let heard = Mutex<[Double]>([])
        let result = try await client.callTool(
            "count",
            options: CallOptions(onProgress: { report in heard.withLock { $0.append(report.progress) } }))
        #expect(result.text == "counted")
        #expect(heard.withLock { $0 } == [1, 2, 3])
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let meta = try await client.callTool(
            "meta", options: CallOptions(meta: ["traceparent": .string(trace)]))
        #expect(meta.text == trace)
        await client.close()
        await group.stop()
    }

    @Test func whatIsAddedLaterIsOfferedAndReported() async throws {
        let far = Self.makeServer()
        let (client, group) = try await Self.connected([("far", .inProcess(far), UpstreamOptions())])
        _ = try await client.listTools()
        let subscription = try await client.listen(.lists)
        far.addTool("late", "Late") { () in "here" }
        for try await change in subscription where change == .toolsListChanged { break }
        client.dropCache()
        #expect(try await client.listTools().map(\.name).contains("late"))
        #expect(try await client.callTool("late").text == "here")
        await client.close()
        await group.stop()
    }

    @Test(arguments: [ProtocolVersion.v2026_07_28, .v2025_11_25])
    func aResourceThatIsWatchedIsWatchedAtItsServer(_ version: ProtocolVersion) async throws {
        let far = Self.makeServer()
        var options = ClientOptions()
        options.protocol = .exactly(version)
        let (client, group) = try await Self.connected(
            [("far", .inProcess(far), UpstreamOptions())], options)
        _ = try await client.listResources()
        let subscription = try await client.listen(SubscriptionFilter(resourceURIs: ["far:///one"]))
        #expect(subscription.accepted.resourceURIs == ["far:///one"])
        let teller = Task {
            while !Task.isCancelled {
                far.notifyResourceUpdated("far:///one")
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        for try await change in subscription where change == .resourceUpdated("far:///one") { break }
        teller.cancel()
        await client.close()
        await group.stop()
    }

    @Test func namesThatTwoServersHave() async throws {
        let own = MCPServer("near", version: "1")
        own.addTool("fail", "Own") { () in "own" }
        var prefixed = UpstreamOptions()
        prefixed.prefix = "c_"
        prefixed.tools = ["a*", "meta", "!meta"]
        prefixed.rename = ["add": "plus"]
        let (client, group) = try await Self.connected(
            [
                ("a", .inProcess(Self.makeServer("a")), UpstreamOptions()),
                ("b", .inProcess(Self.makeServer("b")), UpstreamOptions()),
                ("c", .inProcess(Self.makeServer("c")), prefixed),
            ], own: own)
        #expect(
            try await client.listTools().map(\.name) == [
                "fail", "a_add", "a_fail", "a_count", "a_meta", "b_add", "b_fail", "b_count", "b_meta",
                "c_plus",
            ])
        #expect(try await client.callTool("fail").text == "own")
        let sum: Double = try await client.call("c_plus", ["a": 1, "b": 1])
        #expect(sum == 2)
        #expect(try await client.listResources().count == 1)
        await client.close()
        await group.stop()
    }

    @Test func aServerThatIsAwayHidesNoOther() async throws {
        let (client, group) = try await Self.connected([
            ("gone", .command("/nonexistent/program"), UpstreamOptions()),
            ("far", .inProcess(Self.makeServer()), UpstreamOptions()),
        ])
        #expect(try await client.listTools().count == 4)
        #expect(try await client.readResource("far:///one").first?.text == "first")
        let status = try #require(group.statuses.first)
        #expect(status.lastError?.hasPrefix("/nonexistent/program") == true)
        await client.close()
        await group.stop()
    }

    @Test func aServerThatIsRemovedTakesItsToolsAlong() async throws {
        let own = MCPServer("near", version: "1")
        let (one, two) = (
            Upstream("one", .inProcess(Self.makeServer())),
            Upstream("two", .inProcess(MCPServer("x", version: "1")))
        )
        let group = UpstreamGroup()
        group.serve(through: own)
        group.set([one, two])
        let client = try await MCPClient.connect(.inProcess(own))
        #expect(try await client.listTools().count == 4)
        group.set([two])
        client.dropCache()
        #expect(try await client.listTools().isEmpty)
        await client.close()
        await group.stop()
    }

    @Test func aCallerWhoLeavesCancelsTheCall() async throws {
        let far = MCPServer("far", version: "1")
        let (began, ended) = (OneShot<Void>(), OneShot<Void>())
        try far.register(Tool("wait")) { _, _ in
            began.finish(())
            try? await Task.sleep(for: .seconds(60))
            ended.finish(())
            return .text("")
        }
        let (client, group) = try await Self.connected([("far", .inProcess(far), UpstreamOptions())])
        let call = Task { try await client.callTool("wait") }
        await began.value(ifCancelled: ())
        call.cancel()
        await ended.value(ifCancelled: ())
        await client.close()
        await group.stop()
    }

    @Test func callsBeyondTheConcurrencyWait() async throws {
        let far = MCPServer("far", version: "1")
        let running = Mutex((now: 0, most: 0))
        try far.register(Tool("work")) { _, _ in
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            try await Task.sleep(for: .milliseconds(5))
            running.withLock { $0.now -= 1 }
            return .text("done")
        }
        var options = UpstreamOptions()
        options.concurrency = 3
        let (client, group) = try await Self.connected([("far", .inProcess(far), options)])
        try await withThrowingTaskGroup { tasks in
            for _ in 0 ..< 30 {
                tasks.addTask {
                    let result = try await client.callTool("work")
                    #expect(result.text == "done")
                }
            }
            try await tasks.waitForAll()
        }
        #expect(running.withLock { $0.most } <= 3)
        await client.close()
        await group.stop()
    }

    /// `_meta` of a result is passed on, except the name of the server that it came from.
    @Test func metaOfResults() async throws {
        let far = MCPServer("far", version: "1")
        try far.register(Tool("marked")) { _, _ in
            var result = CallToolResult.text("done")
            result.meta = ["com.example/mark": ["a": 1]]
            return result
        }
        try far.register(Tool("plain")) { _, _ in .text("done") }
        let (client, group) = try await Self.connected([("far", .inProcess(far), UpstreamOptions())])
        let marked = try await client.callTool("marked").meta
        #expect(marked?["com.example/mark"] == ["a": 1])
        #expect(marked?["io.modelcontextprotocol/serverInfo"]?["name"] == "near")
        let plain = try await client.callTool("plain").meta
        #expect(plain?.count == 1 && plain?["io.modelcontextprotocol/serverInfo"]?["name"] == "near")
        await client.close()
        await group.stop()
    }
}
