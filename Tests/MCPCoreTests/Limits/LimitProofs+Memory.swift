import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let memory: [LimitProof] = [
        LimitProof(
            "bodies, what is read ahead and answers that wait, of all HTTP connections",
            "\(LimitText.bytes(ServerLimits().maxMemoryBytes)), and "
                + "\(LimitText.bytes(HTTPConnection.ownBytes)) for each connection", budget)
    ]

    @Sendable private static func budget() async throws {
        let budget = MemoryBudget(limit: 1_000)
        do {
            let share = MemoryShare(of: budget, bytes: 900)
            #expect(budget.has(100) && !budget.has(101))
            do {
                var rest = MemoryShare(of: budget, bytes: 100)
                #expect(!budget.isOverdrawn)
                rest.set(101)
                #expect(budget.isOverdrawn)
            }
            _ = consume share
        }
        #expect(budget.used == 0)
        try await bodies()
    }

    /// A body that fits is served and one that does not is refused, but for small ones, which are served ever.
    private static func bodies() async throws {
        var options = ServerOptions()
        options.limits.maxMemoryBytes = 1 << 20
        let test = try TestServer(options)
        let memory = test.server.dispatcher.memory
        @Sendable func echo(_ bytes: Int) -> String {
            let text = String(repeating: "t", count: bytes)
            return HTTPServerTests.post(
                HTTPServerTests.body("tools/call", #""name":"echo","arguments":{"text":"\#(text)"}"#),
                method: "tools/call", more: "Mcp-Name: echo\r\n")
        }
        try await test.server.withPort { port in
            #expect(try await answers(port, [echo(256 << 10)]).statuses == [200])
            let refused = try await answers(port, [echo(1 << 20)])
            #expect(refused.statuses == [503] && refused.isClosed)
            #expect(refused.responses[0].headers["retry-after"] != nil)
            // Used up by bodies that are still on their way.
            let holders = try await onThread {
                try (0 ..< 4).map { _ in
                    let socket = try WireSocket(port: port, isRecorded: false)
                    socket.send(String(echo(384 << 10).dropLast()))
                    return socket
                }
            }
            #expect(await comesTrue { memory.used > (1 << 20) - (384 << 10) })
            #expect(try await answers(port, [echo(384 << 10)]).statuses == [503])
            #expect(try await answers(port, [echo(8 << 10)]).statuses == [200])
            for socket in holders { socket.shutdown() }
            #expect(await comesTrue { memory.used == 0 })
            #expect(try await answers(port, [echo(256 << 10)]).statuses == [200])
        }
    }
}
