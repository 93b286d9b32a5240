import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Resources of servers behind a server: which of them is asked, and for whom it reports changes.
@Suite(.timeLimit(.minutes(5))) struct UpstreamResourceTests {
    /// Lists one resource, and has an answer for every address.
    private struct Everything: ResourceProvider {
        func resources(after cursor: String?, limit: Int) -> (page: [Resource], next: String?) {
            ([Resource("greedy:x", name: "x")], nil)
        }
        func read(_ uri: String, _ context: RequestContext) -> [ResourceContents]? {
            [.text("greedy", uri: uri)]
        }
        func reportsChanges(of uri: String) -> Bool { false }
    }

    /// The requests that a server has received, with what they name.
    private final class Requests: ServerMiddleware {
        private let seen = Mutex<[String]>([])
        var all: [String] { seen.withLock { $0 } }
        func willServe(_ request: IncomingRequest) {
            let name = request.name
            seen.withLock { $0.append([request.method, name].compactMap { $0 }.joined(separator: " ")) }
        }
        func didServe(_ request: IncomingRequest, _ end: RequestEnd) {}
    }

    private static func docs(_ requests: Requests? = nil) throws -> MCPServer {
        var options = ServerOptions()
        if let requests { options.middleware = [requests] }
        let server = MCPServer("docs", version: "1", options: options)
        try server.register(Resource("docs:policy", name: "policy")) { _ in
            [.text("policy", uri: "docs:policy")]
        }
        try server.register(ResourceTemplate("docs://{+path}", name: "by path")) { uri, variables, _ in
            [.text(variables["path"] ?? "", uri: uri)]
        }
        server.addCompletion(.resource("docs://{+path}"), "path", ["public/a", "secret/b"])
        return server
    }

    private static func options(_ version: ProtocolVersion = .newest) -> UpstreamOptions {
        var options = UpstreamOptions()
        options.protocol = .exactly(version)
        return options
    }

    private static func text(_ client: MCPClient, _ uri: String) async throws -> String? {
        try await client.request("resources/read", ["uri": .string(uri)])["contents"]?[0]?["text"]?.string
    }

    @Test(arguments: [false, true]) func theServerThatListsAURIHasIt(_ isFirst: Bool) async throws {
        let greedy = MCPServer("greedy", version: "1")
        greedy.register(Everything())
        let servers: [(String, ClientTarget, UpstreamOptions)] = [
            ("greedy", .inProcess(greedy), Self.options()),
            ("docs", .inProcess(try Self.docs()), Self.options()),
        ]
        let (client, group) = try await UpstreamGroupTests.connected(isFirst ? servers.reversed() : servers)
        #expect(try await client.listResources().count == 2)
        #expect(try await Self.text(client, "docs:policy") == "policy")
        #expect(try await Self.text(client, "docs://a/b") == "a/b")
        #expect(try await Self.text(client, "greedy:x") == "greedy")
        // What nobody lists may be at any of them.
        #expect(try await Self.text(client, "other:x") == "greedy")
        await client.close()
        await group.stop()
    }

    /// The subscription at the other server ends with the last one here.
    @Test(arguments: [ProtocolVersion.newest, .v2025_11_25])
    func aResourceIsWatchedAsLongAsAClientDoes(_ version: ProtocolVersion) async throws {
        let requests = Requests()
        let docs = try Self.docs(requests)
        let (client, group) = try await UpstreamGroupTests.connected([
            ("docs", .inProcess(docs), Self.options(.v2025_11_25))
        ])
        _ = try await client.listResources()
        var options = ClientOptions()
        options.protocol = .exactly(version)
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let others = [client, try await MCPClient.connect(.inProcess(near), options: options)]
        var subscriptions: [Subscription] = []
        for other in others {
            subscriptions.append(try await other.listen(SubscriptionFilter(resourceURIs: ["docs:policy"])))
            #expect(subscriptions.last?.accepted.resourceURIs == ["docs:policy"])
        }
        #expect(await comesTrue { requests.all.contains("resources/subscribe docs:policy") })
        await subscriptions[0].cancel()
        _ = try await Self.text(client, "docs:policy")
        #expect(!requests.all.contains("resources/unsubscribe docs:policy"))
        await subscriptions[1].cancel()
        #expect(await comesTrue { requests.all.contains("resources/unsubscribe docs:policy") })
        #expect(requests.all.count { $0.hasPrefix("resources/subscribe") } == 1)
        for other in others { await other.close() }
        await group.stop()
    }

    @Test static func placesAreBounded() async throws {
        let upstream = Upstream("docs", .inProcess(try docs()), options: options())
        try await upstream.connect()
        #expect(await comesTrue { upstream.definitions != nil })
        func watch(_ number: Int, _ principal: String = "") -> ResourceWatch? {
            upstream.watch("docs://\(number)", for: principal)
        }
        var watches = (0 ..< UpstreamLimits.watchedByOne).map { watch($0, "one") }
        #expect(watches.allSatisfy { $0 != nil })
        #expect(watch(1_000, "one") == nil)
        #expect(watch(0, "other") != nil)
        watches += (UpstreamLimits.watchedByOne ..< UpstreamLimits.watched).map { watch($0) }
        #expect(watches.allSatisfy { $0 != nil })
        #expect(watch(1_000) == nil)
        watches.removeFirst()
        // One place is free again, for the one that had it, too.
        #expect(watch(1_000, "one") != nil)
        watches = []
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    /// A resource counts for somebody who watches it.
    @Test func placesAreThoseOfWatchers() async throws {
        let upstream = Upstream("docs", .inProcess(try Self.docs()))
        try await upstream.connect()
        #expect(await comesTrue { upstream.definitions != nil })
        let all = UpstreamWatches()
        all.update { [upstream] }
        func watch(_ principal: String, _ numbers: Range<Int>) -> [ResourceWatch] {
            numbers.compactMap { all.begin("docs://\($0)", for: principal, at: upstream) }
        }
        let most = UpstreamLimits.watchedByOne
        var first = watch("ada", 0 ..< most)
        let along = watch("bob", 0 ..< most)
        #expect(first.count == most && along.count == most)
        #expect(watch("ada", most ..< most + 1).isEmpty)
        first = []
        let others = watch("ada", most ..< 2 * most)
        #expect(others.count == most)
        #expect(watch("bob", 2 * most ..< 2 * most + 1).isEmpty)
        #expect(watch("eve", 2 * most ..< 2 * most + 1).count == 1)
        withExtendedLifetime((first, along, others)) {}
        await upstream.stop(grace: .zero, because: "the test ends")
    }

    // The rules about a caller hold before another server is asked.
    @Test func callersWithoutRights() async throws {
        let requests = Requests()
        let near = MCPServer("near", version: "1")
        let group = UpstreamGroup()
        group.set([Upstream("docs", .inProcess(try Self.docs(requests)), options: Self.options(.v2025_11_25))]
        )
        group.serve(through: near)
        let verifier = TestVerifier([
            "all": .success(Principal(kind: .token, subject: "all", allowedNames: ["*"])),
            "public": .success(Principal(kind: .token, subject: "public", allowedNames: ["docs://public/*"])),
            "none": .success(Principal(kind: .token, subject: "none", allowedNames: ["x"])),
        ])
        let authorization = try ServerAuthorization(
            resource: Protected.resource, authorizationServers: ["https://id.example.com"],
            verifier: verifier, rules: AccessRules([]))
        try await Protected.serve(near, authorization) { port in
            _ = try await Protected.answer(port, Protected.post("resources/list", token: "all"))
            func listen(
                _ uri: String, _ token: String, _ meanwhile: () async -> Void = {}
            ) async throws -> Int? {
                let filter = #""notifications":{"resourceSubscriptions":["\#(uri)"]}"#
                let stream = try WireStream(
                    port: port, Protected.post("subscriptions/listen", filter, token: token))
                let heard = await stream.heard("notifications/subscriptions/acknowledged")
                await meanwhile()
                stream.close()
                return heard?.json?["params"]?["notifications"]?["resourceSubscriptions"]?.elements?.count
            }
            #expect(try await listen("docs://secret/1", "none") ?? 0 == 0)
            #expect(try await listen("docs://secret/2", "public") ?? 0 == 0)
            let session = try await WireSession(
                port: port, version: "2025-11-25", more: ["Authorization: Bearer none"])
            let refused = try await session.request("resources/subscribe", #"{"uri":"docs://secret/3"}"#)
            #expect(refused?.json?["error"] != nil)
            let allowed = try await listen("docs://public/1", "public") {
                #expect(await comesTrue { requests.all.contains("resources/subscribe docs://public/1") })
            }
            #expect(allowed == 1)
            #expect(!requests.all.contains { $0.contains("secret") })
            // Nor do completions tell of more.
            for (token, values) in [("all", ["public/a", "secret/b"]), ("public", ["public/a"])] {
                let answer = try await Protected.answer(
                    port,
                    Protected.post(
                        "completion/complete",
                        #""ref":{"type":"ref/resource","uri":"docs://{+path}"},"#
                            + #""argument":{"name":"path","value":""}"#, token: token))
                let found = answer.json?["result"]?["completion"]?["values"]?.elements?.compactMap(\.string)
                #expect(found == values, "\(token): \(answer)")
            }
        }
        await group.stop()
    }

    /// Where callers have connections of their own, theirs tell that the server is away.
    @Test func aServerThatIsAwayForItsCallers() async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .result(heard, Script.discovered)
            case "tools/list":
                .result(
                    heard,
                    #"{"resultType":"complete","ttlMs":0,"cacheScope":"private","#
                        + #""tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#)
            case "tools/call": .result(heard, Script.done)
            default: .status(405)
            }
        }
        var options = Self.options()
        options.isPerPrincipal = true
        options.restarts = false
        let upstream = Upstream("far", peer.target, options: options)
        let group = UpstreamGroup()
        group.set([upstream])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let authorization = try Protected.authorization(TestVerifier(TestVerifier.people))
        try await Protected.serve(near, authorization) { port in
            #expect(await comesTrue { upstream.definitions?.tools.count == 1 })
            let answer = try await Protected.answer(port, Protected.call("t"))
            #expect(answer.json?["result"]?["isError"] == nil)
            #expect(upstream.status.state == .ready)
            peer.stop()
            // The first call may still find its connection, which then ends; the next one finds nobody.
            for _ in 1 ... 2 {
                let failed = try await Protected.answer(port, Protected.call("t"))
                #expect(failed.json?["result"]?["isError"]?.bool == true)
            }
            #expect(await comesTrue { upstream.status.state == .failed })
            #expect(upstream.status.lastError != nil)
        }
        await group.stop()
    }

    // Some servers write an empty list as null.
    @Test func nullIsNothing() async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .result(heard, Script.discovered)
            case "tools/list":
                .result(
                    heard,
                    #"{"resultType":"complete","ttlMs":0,"cacheScope":"private","#
                        + #""tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#)
            case "tools/call":
                .result(
                    heard,
                    #"{"resultType":"complete","content":null,"isError":null,"structuredContent":{"a":1}}"#)
            default: .status(405)
            }
        }
        defer { peer.stop() }
        let (client, group) = try await UpstreamGroupTests.connected([("far", peer.target, Self.options())])
        _ = try await client.listTools()
        let result = try await client.callTool("t")
        #expect(result.content.isEmpty && !result.isError && result.structuredContent?["a"] == 1)
        await client.close()
        await group.stop()
    }

    // What no client could read is an error, and no empty success.
    @Test(arguments: [
        #""content":"text""#, #""content":{"type":"text","text":"x"}"#, #""content":[{"type":"text"}]"#,
        #""content":[{"text":"x"}]"#, #""content":["x"]"#, #""content":[],"isError":"true""#,
    ])
    func aMalformedResult(_ members: String) async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": .result(heard, Script.discovered)
            case "tools/list":
                .result(
                    heard,
                    #"{"resultType":"complete","ttlMs":0,"cacheScope":"private","#
                        + #""tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#)
            case "tools/call": .result(heard, #"{"resultType":"complete",\#(members)}"#)
            default: .status(405)
            }
        }
        defer { peer.stop() }
        let (client, group) = try await UpstreamGroupTests.connected([("far", peer.target, Self.options())])
        _ = try await client.listTools()
        await #expect {
            _ = try await client.request("tools/call", ["name": "t", "arguments": [:]])
        } throws: { error in
            (error as? MCPError)?.code == MCPError.internalErrorCode && "\(error)".contains("malformed")
        }
        await client.close()
        await group.stop()
    }
}
