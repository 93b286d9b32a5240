import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Requests that wait for another server when this one stops.
@Suite(.timeLimit(.minutes(5))) struct UpstreamStopTests {
    private static func answer(_ socket: WireSocket) async throws -> WireResponse? {
        try await onThread { () throws -> WireResponse? in
            var reader = WireReader(socket)
            return reader.response()
        }
    }

    /// A call that waits for its turn has had no effect.
    @Test func whatWaitsForItsTurn() async throws {
        let (runs, end) = (Counter(), OneTimeEvent())
        let far = MCPServer("far", version: "1")
        far.addTool("work", "Works") { () in
            _ = runs.increment()
            await end.wait()
            return "done"
        }
        var options = UpstreamOptions()
        options.concurrency = 1
        let group = UpstreamGroup()
        group.set([Upstream("far", .inProcess(far), options: options)])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        #expect(await comesTrue { near.hasTool(named: "work") })
        var http = HTTPServerOptions()
        http.drainTimeout = .seconds(600)
        let running = try near.start([.http(.tcp(port: 0), options: http)])
        let request = HTTPServerTests.post(
            HTTPServerTests.body("tools/call", #""name":"work","arguments":{}"#), method: "tools/call",
            more: "Mcp-Name: work\r\n")
        let sockets = try (0 ..< 2).map { _ in try WireSocket(port: try running.port()) }
        sockets[0].send(request)
        #expect(await comesTrue { runs.value == 1 })
        sockets[1].send(request)
        #expect(await comesTrue { near.dispatcher.inFlight.count == 2 })
        running.requestStop()
        let refused = try await Self.answer(sockets[1])
        #expect(refused?.status == 503)
        #expect(refused?.body.contains("The server is stopping; the request had not begun") == true)
        end.happen()
        #expect(try await Self.answer(sockets[0])?.body.contains("done") == true)
        await running.waitUntilEnded()
        #expect(runs.value == 1)
        await group.stop(grace: .zero)
    }

    /// They have not begun, and do not hold up the drain.
    @Test func whatWaitsForAConnection() async throws {
        let far = MCPServer("far", version: "1")
        far.addTool("known", "Known") { () in "done" }
        let peer = try HTTPPeer { _ in .raw(then: .hang) }
        let group = UpstreamGroup()
        group.set([Upstream("far", .inProcess(far))])
        let near = MCPServer("near", version: "1")
        group.serve(through: near)
        #expect(await comesTrue { near.hasTool(named: "known") })
        group.set([Upstream("far", peer.target)])
        var options = HTTPServerOptions()
        options.drainTimeout = .seconds(600)
        let running = try near.start([.http(.tcp(port: 0), options: options)])
        let port = try running.port()
        // A tool that is known waits for its own server, and the others for what may arrive.
        let requests = ["known", "unknown"].map { tool in
            HTTPServerTests.post(
                HTTPServerTests.body("tools/call", #""name":"\#(tool)","arguments":{}"#),
                method: "tools/call", more: "Mcp-Name: \(tool)\r\n")
        }
        let list = HTTPServerTests.post(HTTPServerTests.body("tools/list"), method: "tools/list")
        let sockets = try (requests + [list]).map { request in
            let socket = try WireSocket(port: port)
            socket.send(request)
            return socket
        }
        #expect(await comesTrue { near.dispatcher.inFlight.entries().count == 3 })
        running.requestStop()
        for socket in sockets {
            let answer = try await Self.answer(socket)
            #expect(answer?.status == 503)
            #expect(answer?.body.contains("The server is stopping; the request had not begun") == true)
        }
        await running.waitUntilEnded()
        // Another start serves again.
        #expect(near.dispatcher.stops.withLock { $0 } == 0)
        await group.stop(grace: .zero)
        peer.stop()
    }
}
