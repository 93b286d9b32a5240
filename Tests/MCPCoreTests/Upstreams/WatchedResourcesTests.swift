import MCPCore
import Synchronization
import TestSupport
import Testing

/// The subscriptions at a server behind a server.
@Suite(.timeLimit(.minutes(5))) struct WatchedResourcesTests {
    /// The subscriptions at a server that have begun, and that have ended.
    private final class Listens: ServerMiddleware {
        private let counts = Mutex((begun: 0, ended: 0))
        var begun: Int { counts.withLock { $0.begun } }
        var open: Int { counts.withLock { $0.begun - $0.ended } }

        func willServe(_ request: IncomingRequest) {
            if request.method == "subscriptions/listen" { counts.withLock { $0.begun += 1 } }
        }
        func didServe(_ request: IncomingRequest, _ end: RequestEnd) {
            if request.method == "subscriptions/listen" { counts.withLock { $0.ended += 1 } }
        }
    }

    private static func docs(_ listens: Listens) throws -> MCPServer {
        var options = ServerOptions()
        options.middleware = [listens]
        let server = MCPServer("docs", version: "1", options: options)
        try server.register(ResourceTemplate("docs:///{path}", name: "by path")) { uri, _, _ in
            [.text("text", uri: uri)]
        }
        server.addTool("t", "Quick") { () in "done" }
        return server
    }

    /// The changes that a subscription has reported.
    private final class Heard: Sendable {
        let uris = Mutex<Set<String>>([])

        init(_ subscription: Subscription) {
            Task { [weak self] in
                for try await change in subscription {
                    guard case .resourceUpdated(let uri) = change else { continue }
                    self?.uris.withLock { _ = $0.insert(uri) }
                }
            }
        }

        func has(_ uris: some Sequence<String>) -> Bool { self.uris.withLock { $0.isSuperset(of: uris) } }
        func forget() { uris.withLock { $0 = [] } }
    }

    // A connection over HTTP has 64 places.
    @Test func manyResourcesOverHTTP() async throws {
        let directory = TemporaryDirectory()
        let path = "\(directory.path)/s"
        let listens = Listens()
        let docs = try Self.docs(listens)
        let running = try docs.start([.http(.unix(path: path))])
        var options = UpstreamOptions()
        options.protocol = .exactly(.newest)
        let (client, group) = try await UpstreamGroupTests.connected([
            ("docs", .unix(path: path, endpoint: "/mcp"), options)
        ])
        _ = try await client.listTools()
        let all = (0 ..< 100).map { "docs:///\($0)" }
        let first = try await client.listen(SubscriptionFilter(resourceURIs: all))
        #expect(first.accepted.resourceURIs.count == 100)
        let heard = Heard(first)
        func isHeard(_ uris: [String], by heard: Heard) async -> Bool {
            await comesTrue {
                for uri in uris { docs.notifyResourceUpdated(uri) }
                return heard.has(uris)
            }
        }
        #expect(await isHeard(all, by: heard))
        #expect(try await client.callTool("t").text == "done")
        // That of the lists, and one for all resources.
        #expect(await comesTrue { listens.open == 2 })
        #expect(listens.begun < 10)
        // Others join and leave: one subscription takes the place of the other, and nothing is lost.
        for number in 0 ..< 3 {
            let begun = listens.begun
            let more = try await client.listen(SubscriptionFilter(resourceURIs: ["docs:///more\(number)"]))
            for _ in 0 ..< 10 {
                heard.forget()
                docs.notifyResourceUpdated(all[number])
                #expect(await comesTrue { heard.has([all[number]]) })
            }
            #expect(await isHeard(["docs:///more\(number)"], by: Heard(more)))
            #expect(listens.begun == begun + 1)
            await more.cancel()
            #expect(await comesTrue { listens.begun == begun + 2 && listens.open == 2 })
        }
        await first.cancel()
        #expect(await comesTrue { listens.open == 1 })
        await client.close()
        await group.stop()
        await running.stop()
    }
}
