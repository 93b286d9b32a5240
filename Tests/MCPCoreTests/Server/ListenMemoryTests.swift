import Testing

@testable import MCPCore

/// What a subscription keeps for as long as it is open.
@Suite struct ListenMemoryTests {
    /// A connection's block holds many requests; a stream that lasts for days must not keep it.
    @Test func theRequestIsCopied() throws {
        let server = MCPServer("memory", version: "1")
        server.addTool("echo", "") { "" }
        var inbox = ByteBuffer(capacity: 16_384)
        inbox.append(utf8: Self.listen)
        weak var block: ByteStorage?
        let sink = RecordingSink()
        do {
            let message = inbox.freeze()
            block = message.storage
            var writer = JSONWriter()
            var channel = ServerChannel(id: 7)
            let disposition = server.dispatcher.receive(message, from: &channel, into: &writer) { sink }
            guard case .deferred(let exchange?) = disposition else {
                Issue.record("not deferred: \(String(writer.finish()))")
                return
            }
            #expect(!exchange.isOver)
        }
        #expect(block == nil)
        server.dispatcher.end(7)
    }

    private static let listen = """
        {"jsonrpc":"2.0","id":"a-subscription","method":"subscriptions/listen","params":{\
        "notifications":{"toolsListChanged":true},"_meta":{"progressToken":"p",\
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",\
        "io.modelcontextprotocol/clientCapabilities":{}}}}
        """
}
