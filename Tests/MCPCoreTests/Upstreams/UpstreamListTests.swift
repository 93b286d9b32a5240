import MCPCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct UpstreamListTests {
    /// What changes while the subscription to changes has not begun is reported by nobody: the lists are read
    /// again when it has.
    @Test func aChangeBeforeTheSubscription() async throws {
        let readings = Counter()
        let transport = Script.modern { sent in
            switch sent.method {
            case "tools/list":
                [Script.tools(#"{"name":"\#(readings.increment() == 1 ? "old" : "new")","inputSchema":{}}"#)]
            case "subscriptions/listen": []
            default: [Script.error(-32601)]
            }
        }
        let (client, group) = try await UpstreamGroupTests.connected(
            [("far", transport.target, UpstreamOptions())], own: MCPServer("near", version: "1"))
        #expect(try await client.listTools().map(\.name) == ["old"])
        let changes = try await client.listen(.lists)
        let id = try #require(transport.sent.first { $0.method == "subscriptions/listen" }?.id)
        transport.push(
            #"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"#
                + #""_meta":{"io.modelcontextprotocol/subscriptionId":\#(id)},"#
                + #""notifications":{"toolsListChanged":true}}}"#)
        for try await change in changes where change == .toolsListChanged { break }
        client.dropCache()
        #expect(try await client.listTools().map(\.name) == ["new"])
        #expect(readings.value == 2)
        await client.close()
        await group.stop()
    }
}
