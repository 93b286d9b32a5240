import Testing

@testable import MCPCore

/// Sampling messages on the wire.
@Suite struct SamplingTests {
    private static let text = #"""
        {"messages":[{"role":"user","content":{"type":"text","text":"?"}},
        {"role":"assistant","content":[{"type":"tool_use","id":"u1","name":"t","input":{"a":1},"_meta":{"k":"use"}}]},
        {"role":"user","content":[{"type":"tool_result","toolUseId":"u1","content":[{"type":"text","text":"r"}],"_meta":{"k":"result"}}]}],
        "maxTokens":9,"modelPreferences":{"hints":[{"name":"small"},{"name":"large"}],"costPriority":0.5},
        "systemPrompt":"Be brief.","temperature":0.1,"stopSequences":["."],"metadata":{"x":1}}
        """#

    // SAMP-05, SAMP-06: everything reaches the handler, the hints in their order.
    @Test func whatTheHandlerGets() throws {
        let request = try CreateMessageRequest(json: JSONValue(parsing: Self.text))
        #expect(request.maxTokens == 9)
        #expect(request.modelPreferences?.hints == ["small", "large"])
        #expect(request.modelPreferences?.costPriority == 0.5)
        #expect(request.systemPrompt == "Be brief.")
        #expect(request.temperature == 0.1)
        #expect(request.stopSequences == ["."])
        #expect(request.metadata == ["x": 1])
        #expect(request.balanceProblem == nil)
    }

    // SAMP-13: the history keeps the `_meta` of uses and results.
    @Test func historyKeepsItsMeta() throws {
        let request = try CreateMessageRequest(json: JSONValue(parsing: Self.text))
        var writer = JSONWriter()
        request.write(to: &writer, for: .newest)
        let again = RawJSON(unchecked: writer.finish()).value
        func meta(_ message: Int) -> JSONValue? {
            let content = again["messages"]?[message]?["content"]
            return (content?.arrayValue?.first ?? content)?["_meta"]
        }
        #expect(meta(1) == ["k": "use"])
        #expect(meta(2) == ["k": "result"])
    }
}
