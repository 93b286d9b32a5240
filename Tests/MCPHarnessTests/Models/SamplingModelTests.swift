import Synchronization
import TestSupport
import Testing

@testable import MCPCore
@testable import MCPHarness

/// A harness in a server, with the model of the server's client.
@Suite(.timeLimit(.minutes(5))) struct SamplingModelTests {
    private static let settings = Setting.all.filter { $0.version >= "2025-11-25" }
    private let fixture = HarnessFixture()

    private func server(_ runs: SamplingRuns) throws -> MCPServer {
        let server = MCPServer("assistant", version: "1")
        let fixture = fixture
        try server.register(Tool("assistant", inputSchema: ["type": "object"])) { _, context in
            try await runs.run(in: context) { model in
                .text(try await fixture.harness(model, [fixture.lookup()]).send("How many A-1?").text)
            }
        }
        return server
    }

    /// Calls the tool, then says what it read.
    @Sendable private static func model(_ request: CreateMessageRequest) -> CreateMessageResult {
        let results = request.messages.last?.content.compactMap(\.toolResult) ?? []
        guard let result = results.first else {
            let use = ToolUse(id: "u1", name: "lookup_item", input: ["sku": "A-1"])
            var answer = CreateMessageResult(content: [.text("Let me see."), .toolUse(use)], model: "m")
            answer.stopReason = "toolUse"
            return answer
        }
        let text = result.content.compactMap(\.text).joined()
        return CreateMessageResult(content: [.text("It says: \(text)")], model: "m")
    }

    private static func options(_ asked: Counter) -> ClientOptions {
        var options = ClientOptions()
        options.supportsSamplingTools = true
        options.onSample = { request in
            asked.increment()
            #expect(request.tools.map(\.name) == ["lookup_item"])
            #expect(request.balanceProblem == nil)
            #expect(request.systemPrompt?.contains("Stock") == true)
            return model(request)
        }
        return options
    }

    // H24, SAMP-08, SAMP-09: the tool runs once, however often the call is sent.
    @Test(arguments: settings) func inEachRevision(_ setting: Setting) async throws {
        let runs = SamplingRuns()
        try await withServer(setting, try server(runs)) { served in
            let asked = Counter()
            let client = try await served.connect(Self.options(asked))
            let result = try await client.callTool("assistant")
            #expect(
                result.text == "Let me see.It says: A-1: 12 in stock"
                    || result.text == "It says: A-1: 12 in stock")
            #expect(asked.value == 2)
            await client.close()
        }
        #expect(fixture.runs.all == ["run A-1"])
        #expect(runs.count == 0)
    }

    /// The first round, by hand.
    private func begin(_ client: RawClient) async throws -> (state: JSONValue, answers: JSONValue) {
        let reply = await client.call("assistant")
        let result = try #require(reply.result)
        #expect(result["resultType"]?.string == "input_required")
        let state = try #require(result["requestState"]?.value)
        let key = try #require(result["inputRequests"]?.value.objectValue?.map(\.key).first)
        let answer: JSONValue = [
            "role": "assistant", "model": "m", "content": ["type": "text", "text": "Nothing to look up."],
        ]
        return (state, .object([key: answer]))
    }

    private static func goOn(_ round: (state: JSONValue, answers: JSONValue)) -> JSONObject {
        [
            "name": "assistant", "arguments": [:], "requestState": round.state,
            "inputResponses": round.answers,
        ]
    }

    @Test func whatIsNotGoneOnWithEnds() async throws {
        let clock = ManualClock()
        let runs = SamplingRuns(clock: clock)
        let setting = Setting.inMemory()
        try await withServer(setting, try server(runs)) { served in
            let client = try await served.client(capabilities: AskedClient.everything)
            let good = try await begin(client)
            let late = try await begin(client)
            #expect(runs.count == 2)
            let reply = await client.request("tools/call", Self.goOn(good))
            #expect(reply.text == "Nothing to look up.")
            clock.advance(by: .seconds(301))
            let gone = await client.request("tools/call", Self.goOn(late))
            #expect(gone.text.contains("call again"))
            #expect(gone.result?["isError"]?.bool == true)
            #expect(runs.count == 0)
        }
    }

    @Test func theOldestEndsWhenThereAreTooMany() async throws {
        let clock = ManualClock()
        let runs = SamplingRuns(clock: clock, maxKept: 3)
        try await withServer(Setting.inMemory(), try server(runs)) { served in
            let client = try await served.client(capabilities: AskedClient.everything)
            let first = try await begin(client)
            for _ in 0 ..< 3 {
                clock.advance(by: .milliseconds(1))
                _ = try await begin(client)
            }
            #expect(runs.count == 3)
            #expect(await client.request("tools/call", Self.goOn(first)).text.contains("call again"))
        }
    }

    /// The client's refusal ends the turn, and nothing is left.
    @Test(arguments: settings) func theModelFails(_ setting: Setting) async throws {
        let runs = SamplingRuns()
        try await withServer(setting, try server(runs)) { served in
            var options = ClientOptions()
            options.supportsSamplingTools = true
            options.onSample = { _ in throw MCPError(code: -1, message: "the user declined") }
            let client = try await served.connect(options)
            let outcome: Result<CallToolResult, any Error>
            do { outcome = .success(try await client.callTool("assistant")) } catch {
                outcome = .failure(error)
            }
            switch outcome {
            case .success(let result): #expect(result.isError)
            case .failure(let error): #expect("\(error)".contains("the user declined"))
            }
            await client.close()
        }
        #expect(fixture.runs.all.isEmpty)
    }
}
