import MCPCore
import Synchronization
import TestSupport
import Testing

/// Our client against our server over a real socket, in every revision.
@Suite struct HTTPEndToEndTests {
    @Test(arguments: InProcessClientTests.choices) func conversation(
        _ choice: ClientOptions.ProtocolChoice
    ) async throws {
        let running = try InProcessClientTests.server().start([.http(port: 0)])
        let address = try #require(running.addresses.first)
        #expect("\(address)".hasPrefix("127.0.0.1:"))  // HTTP-04
        var options = ClientOptions()
        options.protocol = choice
        let client = try await MCPClient.connect(
            ClientTarget.http("http://\(address)/mcp").recorded([.client, .server]), options: options)
        if case .exactly(let version) = choice { #expect(client.protocolVersion == version) }
        #expect(client.serverInfo?.name == "calc")
        #expect(try await client.listTools().count == 5)
        #expect(try await client.call("add", ["a": 2, "b": 3]) == InProcessClientTests.Sum(sum: 5))
        let large = String(repeating: "ä€", count: 200_000)
        #expect(try await client.call("text", ["text": .string(large)], as: String.self) == large)
        let seen = Mutex<[Double]>([])
        let result = try await client.callTool(
            "steps", options: CallOptions { progress in seen.withLock { $0.append(progress.progress) } })
        #expect(result.text == "done")
        #expect(seen.withLock { $0 } == [1, 2, 3])
        await #expect(throws: MCPError.self) { try await client.readResource("mem://none") }
        let error = await clientError {
            _ = try await client.callTool("sleep", options: CallOptions(timeout: .milliseconds(30)))
        }
        #expect(error?.kind == .timeout)
        #expect(try await client.call("text", ["text": "x"], as: String.self) == "x")
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0 ..< 40 {
                group.addTask {
                    try await client.call("add", ["a": .number(JSONNumber(number)), "b": 1])
                        == InProcessClientTests.Sum(sum: number + 1)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        await client.close()
        await running.stop()
    }
}
