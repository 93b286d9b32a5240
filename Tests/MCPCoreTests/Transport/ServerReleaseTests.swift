import Dispatch
import TestSupport
import Testing

@testable import MCPCore

/// Programs that let go of a server while it still has something to tell.
@Suite(.timeLimit(.minutes(5))) struct ServerReleaseTests {
    private static func server(_ clock: ManualClock) -> MCPServer {
        let server = MCPServer("s", at: clock)
        server.addTool("t", "T") { "" }
        return server
    }

    // The listener has stopped, a session had opened a stream, and a change is still to be told.
    @Test func afterTheStopWithASessionStreamOpen() async throws {
        let clock = ManualClock()
        weak var gone: Dispatcher?
        do {
            let server = Self.server(clock)
            gone = server.dispatcher
            try await server.withPort { port in
                let session = try await WireSession(port: port, version: "2025-11-25")
                let stream = try session.get()
                #expect(await comesTrue { server.probe.hasSubscribers })
                _ = stream
            }
            server.unregisterTool("t")
        }
        #expect(await comesTrue { gone == nil })
        clock.advance(by: .seconds(1))
        await Self.turn()
    }

    // The server goes while one of its clients is being told.
    @Test func whileAClientIsBeingTold() async throws {
        let clock = ManualClock()
        let (told, release) = (Gate(), DispatchSemaphore(value: 0))
        let bus: ChangeBus
        do {
            let server = Self.server(clock)
            bus = server.dispatcher.subscriptions.bus
            var connections: [MCPConnection] = []
            for _ in 0 ..< 3 {
                let connection = server.makeConnection { _ in
                    told.open()
                    release.wait()
                }
                let initialize =
                    #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#
                    + #""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#
                #expect(await connection.handle(Array(initialize.utf8)) != nil)
                connections.append(connection)
            }
            server.unregisterTool("t")
            clock.advance(by: .seconds(1))
            await told.wait()
            connections = []
        }
        for _ in 0 ..< 3 { release.signal() }
        bus.deliverNow()
        #expect(!bus.hasSubscribers)
    }

    /// What was handed out has run.
    private static func turn() async {
        for _ in 0 ..< 10 { await Task.yield() }
    }
}
