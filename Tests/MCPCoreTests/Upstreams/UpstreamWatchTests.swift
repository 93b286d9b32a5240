import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What callers watch while the server that has it is replaced, removed, away, or fails.
@Suite(.timeLimit(.minutes(5))) struct UpstreamWatchTests {
    private static let uri = "docs:///one"

    private final class Subscribed: ServerMiddleware {
        let count = Mutex(0)
        var isThere: Bool { count.withLock { $0 > 0 } }

        func willServe(_ request: IncomingRequest) {
            if request.method == "resources/subscribe" { count.withLock { $0 += 1 } }
        }
        func didServe(_ request: IncomingRequest, _ end: RequestEnd) {}
    }

    private static func docs(_ subscribed: Subscribed) throws -> MCPServer {
        var options = ServerOptions()
        options.middleware = [subscribed]
        let server = MCPServer("docs", version: "1", options: options)
        try server.register(Resource(uri, name: "one")) { _ in [.text("one", uri: uri)] }
        return server
    }

    private static func upstream(_ server: MCPServer, _ name: String = "docs") -> Upstream {
        var options = UpstreamOptions()
        options.protocol = .exactly(.v2025_11_25)
        return Upstream(name, .inProcess(server), options: options)
    }

    /// A client, its subscription, and the number of changes that it has heard of.
    private final class Watcher: Sendable {
        let client: MCPClient
        let heard = Mutex(0)
        let subscription: Subscription

        init(_ group: UpstreamGroup, _ version: ProtocolVersion = .newest) async throws {
            let near = MCPServer("near", version: "1")
            group.serve(through: near)
            var options = ClientOptions()
            options.protocol = .exactly(version)
            client = try await MCPClient.connect(.inProcess(near), options: options)
            _ = try await client.listResources()
            subscription = try await client.listen(SubscriptionFilter(resourceURIs: [uri]))
            #expect(subscription.accepted.resourceURIs == [uri])
            Task { [weak self, subscription] in
                for try await _ in subscription { self?.heard.withLock { $0 += 1 } }
            }
        }

        /// Returns whether it hears of one more change.
        func hears(_ change: () async throws -> Void) async rethrows -> Bool {
            let before = heard.withLock { $0 }
            try await change()
            return await comesTrue { self.heard.withLock { $0 } > before }
        }

        /// Returns whether it hears of changes at a server, once it is subscribed there.
        func hearsOf(_ server: MCPServer) async -> Bool {
            let before = heard.withLock { $0 }
            return await comesTrue {
                server.notifyResourceUpdated(uri)
                return self.heard.withLock { $0 } > before
            }
        }

        func end() async {
            await subscription.cancel()
            await client.close()
        }
    }

    @Test(arguments: [ProtocolVersion.newest, .v2025_11_25])
    func anotherServerOfTheSameName(_ version: ProtocolVersion) async throws {
        let group = UpstreamGroup()
        let first = Subscribed()
        group.set([Self.upstream(try Self.docs(first))])
        let watcher = try await Watcher(group, version)
        #expect(await comesTrue { first.isThere })
        // With other settings, removed and back, and under another name.
        for isRemoved in [false, true] {
            if isRemoved { group.set([]) }
            let subscribed = Subscribed()
            let server = try Self.docs(subscribed)
            // What happened meanwhile may have changed it.
            #expect(await watcher.hears { group.set([Self.upstream(server, isRemoved ? "other" : "docs")]) })
            #expect(subscribed.isThere)
            #expect(await watcher.hears { server.notifyResourceUpdated(Self.uri) })
        }
        await watcher.end()
        await group.stop()
    }

    /// The places at a server are those of resources that somebody watches.
    @Test func watchesEndWithTheirCallers() async throws {
        let group = UpstreamGroup()
        let subscribed = Subscribed()
        let server = try Self.docs(subscribed)
        group.set([Self.upstream(try Self.docs(Subscribed()))])
        let watcher = try await Watcher(group)
        group.set([])
        await watcher.end()
        let upstream = Self.upstream(server)
        group.set([upstream])
        let other = try await Watcher(group)
        #expect(await comesTrue { subscribed.isThere })
        await other.end()
        #expect(await comesTrue { (try? upstream.link(for: ""))?.connection.isUnused == true })
        #expect(subscribed.count.withLock { $0 } == 1)
        await group.stop()
    }

    /// Answers as a server before 2026-07-28 with one resource; `isFailing` says whether it does not
    /// take part in a subscription.
    private static func peer(
        _ path: String? = nil, _ subscriptions: Subscribed, after start: DispatchSemaphore? = nil,
        isRefusing: @escaping @Sendable (Int) -> Bool = { _ in false },
        isFailing: @escaping @Sendable (Int) -> Bool
    ) throws -> HTTPPeer {
        try HTTPPeer(unixPath: path) { heard in
            switch heard.rpcMethod {
            case "initialize":
                start?.wait()
                return .result(
                    heard,
                    #"{"protocolVersion":"2025-11-25","serverInfo":{"name":"docs","version":"1"},"#
                        + #""capabilities":{"resources":{"subscribe":true}}}"#)
            case "resources/list":
                return .result(heard, #"{"resources":[{"uri":"\#(uri)","name":"one"}]}"#)
            case "resources/templates/list": return .result(heard, #"{"resourceTemplates":[]}"#)
            case "resources/subscribe":
                let number = subscriptions.count.withLock { count in
                    count += 1
                    return count
                }
                if isRefusing(number) {
                    let error = #"{"code":-32002,"message":"not now"}"#
                    return .json(#"{"jsonrpc":"2.0","id":\#(heard.id),"error":\#(error)}"#)
                }
                return isFailing(number) ? .status(503) : .result(heard, "{}")
            case "notifications/initialized": return .status(202)
            case "resources/unsubscribe": return .result(heard, "{}")
            default: return .status(405)
            }
        }
    }

    private static func options(idle: Duration? = nil) -> UpstreamOptions {
        var options = UpstreamOptions()
        options.protocol = .exactly(.v2025_11_25)
        options.idle = idle
        return options
    }

    /// A subscription without an answer is made again.
    @Test func aServerThatIsAwayWhileItIsAsked() async throws {
        let subscriptions = Subscribed()
        let peer = try Self.peer(nil, subscriptions) { $0 < 2 }
        let group = UpstreamGroup()
        group.set([Upstream("docs", peer.target, options: Self.options())])
        let watcher = try await Watcher(group)
        #expect(await watcher.hears {})
        #expect(subscriptions.count.withLock { $0 } == 2)
        await watcher.end()
        await group.stop()
        peer.stop()
    }

    /// Subscriptions wait for servers that connect for the first time, as lists do.
    @Test func aServerThatIsConnecting() async throws {
        let subscriptions = Subscribed()
        let start = DispatchSemaphore(value: 0)
        let peer = try Self.peer(nil, subscriptions, after: start) { _ in false }
        let group = UpstreamGroup()
        group.set([Upstream("docs", peer.target, options: Self.options())])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        var options = ClientOptions()
        options.protocol = .exactly(.v2025_11_25)
        let client = try await MCPClient.connect(.inProcess(near))
        let other = try await MCPClient.connect(.inProcess(near), options: options)
        let filter = SubscriptionFilter(resourceURIs: [Self.uri])
        async let first = client.listen(filter)
        async let second = other.request("resources/subscribe", ["uri": .string(Self.uri)])
        for _ in 0 ..< 50 { await pause() }
        #expect(!subscriptions.isThere)
        start.signal()
        #expect(try await first.accepted.resourceURIs == [Self.uri])
        _ = try await second
        #expect(subscriptions.count.withLock { $0 } == 1)
        for client in [client, other] { await client.close() }
        await group.stop()
        peer.stop()
    }

    /// What comes too late is watched from then on, and reported as changed.
    @Test func aServerThatConnectsTooLate() async throws {
        let subscriptions = Subscribed()
        let start = DispatchSemaphore(value: 0)
        let peer = try Self.peer(nil, subscriptions, after: start) { _ in false }
        let group = UpstreamGroup()
        group.set([Upstream("docs", peer.target, options: Self.options())])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        let subscription = try await client.listen(SubscriptionFilter(resourceURIs: [Self.uri]))
        #expect(subscription.accepted.resourceURIs.isEmpty)
        start.signal()
        var changes = subscription.makeAsyncIterator()
        #expect(try await changes.next() == .resourceUpdated(Self.uri))
        #expect(subscriptions.isThere)
        await subscription.cancel()
        await client.close()
        await group.stop()
        peer.stop()
    }

    /// What a server refuses is not acknowledged, and it is asked again for the next watcher.
    @Test func aServerThatRefusesOnce() async throws {
        let subscriptions = Subscribed()
        let peer = try Self.peer(nil, subscriptions, isRefusing: { $0 <= 2 }) { _ in false }
        let group = UpstreamGroup()
        group.set([Upstream("docs", peer.target, options: Self.options())])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        let client = try await MCPClient.connect(.inProcess(near))
        _ = try await client.listResources()
        let refused = try await client.listen(SubscriptionFilter(resourceURIs: [Self.uri]))
        #expect(refused.accepted.resourceURIs.isEmpty)
        var options = ClientOptions()
        options.protocol = .exactly(.v2025_11_25)
        let other = try await MCPClient.connect(.inProcess(near), options: options)
        await #expect(throws: MCPError.self) {
            try await other.request("resources/subscribe", ["uri": .string(Self.uri)])
        }
        _ = try await other.request("resources/subscribe", ["uri": .string(Self.uri)])
        let accepted = try await client.listen(SubscriptionFilter(resourceURIs: [Self.uri]))
        #expect(accepted.accepted.resourceURIs == [Self.uri])
        #expect(subscriptions.count.withLock { $0 } == 3)
        for client in [client, other] { await client.close() }
        await group.stop()
        peer.stop()
    }

    /// While somebody watches, it is asked again after a growing pause.
    @Test func aServerThatRefusesForSomeTime() async throws {
        let subscriptions = Subscribed()
        let peer = try Self.peer(nil, subscriptions, isRefusing: { $0 == 2 }) { $0 == 1 }
        let group = UpstreamGroup()
        group.set([Upstream("docs", peer.target, options: Self.options())])
        let watcher = try await Watcher(group)
        #expect(await watcher.hears {})
        #expect(subscriptions.count.withLock { $0 } == 3)
        await watcher.end()
        await group.stop()
        peer.stop()
    }

    /// A server that is started again may not have its resources yet.
    @Test(arguments: [ProtocolVersion.newest, .v2025_11_25])
    func aServerOverHTTPWhoseResourcesComeLater(_ version: ProtocolVersion) async throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/s"
        var options = UpstreamOptions()
        options.protocol = .exactly(version)
        let group = UpstreamGroup()
        let first = try Self.docs(Subscribed())
        var running = try first.start([.http(.unix(path: path))])
        group.set([Upstream("docs", .unix(path: path, endpoint: "/mcp"), options: options)])
        let watcher = try await Watcher(group)
        #expect(await watcher.hearsOf(first))
        await running.stop()
        let server = MCPServer("docs", version: "1")
        try server.register(Resource("docs:///two", name: "two")) { _ in [] }
        running = try server.start([.http(.unix(path: path))])
        #expect(await comesTrue { group.upstreams.first?.definitions?.resources.first?.name == "two" })
        try server.register(Resource(Self.uri, name: "one")) { _ in [.text("one", uri: Self.uri)] }
        #expect(await watcher.hearsOf(server))
        await watcher.end()
        await group.stop()
        await running.stop()
    }

    /// A server over HTTP that is started again knows nothing of its clients.
    @Test(arguments: [ProtocolVersion.newest, .v2025_11_25])
    func aServerOverHTTPThatIsStartedAgain(_ version: ProtocolVersion) async throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/s"
        var options = UpstreamOptions()
        options.protocol = .exactly(version)
        let group = UpstreamGroup()
        let first = try Self.docs(Subscribed())
        var running = try first.start([.http(.unix(path: path))])
        group.set([Upstream("docs", .unix(path: path, endpoint: "/mcp"), options: options)])
        let watcher = try await Watcher(group)
        #expect(await watcher.hearsOf(first))
        for _ in 0 ..< 2 {
            let before = watcher.heard.withLock { $0 }
            await running.stop()
            let server = try Self.docs(Subscribed())
            running = try server.start([.http(.unix(path: path))])
            // It may have changed meanwhile.
            #expect(await comesTrue { watcher.heard.withLock { $0 } > before })
            #expect(await watcher.hearsOf(server))
        }
        await watcher.end()
        await group.stop()
        await running.stop()
    }

    /// Nobody had called the server since it failed, so that it was not tried again.
    @Test func anIdleServerThatIsAway() async throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/s"
        let subscriptions = Subscribed()
        var peer = try Self.peer(path, subscriptions) { _ in false }
        let upstream = Upstream("docs", peer.target, options: Self.options(idle: .milliseconds(1)))
        let group = UpstreamGroup()
        group.set([upstream])
        #expect(await comesTrue { upstream.definitions != nil && upstream.status.state == .idle })
        peer.stop()
        await #expect(throws: MCPError.self) { try await upstream.connect() }
        #expect(upstream.status.state == .failed)
        let watcher = try await Watcher(group)
        #expect(!subscriptions.isThere)
        unsafe unlink(path)
        peer = try Self.peer(path, subscriptions) { _ in false }
        #expect(await comesTrue { subscriptions.isThere })
        await watcher.end()
        await group.stop()
        peer.stop()
    }

    /// What a server refuses does not hold up what others watch: that is asked for first, and on its own.
    @Test func whatIsRefusedComesLast() async throws {
        let client = try await MCPClient.connect(.inProcess(MCPServer("m", version: "1")))
        var state = WatchedState()
        state.begin(client)
        func watch(_ uri: String) { _ = state.watch(uri, for: "", mayHaveChanged: false) }
        for number in 0 ..< 8 { watch("bad:///\(number)") }
        func next() throws -> WatchedState.Question { try #require(state.takeQuestions().first) }
        let all = try next()
        #expect(all.added.count == 8)
        _ = state.fail(all, .invalidParams("no"))
        watch("good:///1")
        watch("good:///2")
        #expect(try next().added == ["good:///1", "good:///2"])
        let half = try next()
        #expect(half.added == (0 ..< 4).map { "bad:///\($0)" })
        _ = state.fail(half, .invalidParams("no"))
        watch("good:///3")
        #expect(try next().added == ["good:///3"])
        #expect(try next().added.count == 2)
        await client.close()
    }
}
