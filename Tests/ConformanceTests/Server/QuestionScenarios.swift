import MCPCore
import TestSupport
import Testing

/// Tools of 2025-11-25 that ask the client on the stream of the call.
@Suite("server: questions", .timeLimit(.minutes(5))) struct QuestionScenarios {
    /// Calls a tool, answers what it asks, and returns the one question.
    private func ask(
        _ tool: String, _ arguments: JSONObject, _ answer: TestAnswer, expecting text: String
    ) async throws -> AskedClient.Asked {
        var asked: [AskedClient.Asked] = []
        try await withSuiteClient(SuiteRun.stateful, answering: { _ in answer }) { client in
            let result = try await client.raw.tool(tool, arguments)
            #expect(result["isError"] != true)
            #expect(result.block("text")?["text"]?.stringValue?.hasPrefix(text) == true, "\(result)")
            asked = client.asked
        }
        #expect(asked.count == 1)
        return try #require(asked.first)
    }

    private func properties(_ tool: String, _ content: JSONObject) async throws -> JSONValue {
        let asked = try await ask(
            tool, [:], .accept(content), expecting: "Elicitation completed: action=accept")
        #expect(asked.method == "elicitation/create")
        let schema = asked.params?["requestedSchema"]?.value
        #expect(schema?["type"] == "object")
        return try #require(schema?["properties"])
    }

    // LEG-05, JRPC-18
    @Test("tools-call-sampling") func sampling() async throws {
        let asked = try await ask(
            "test_sampling", ["prompt": "Test prompt for sampling"],
            .said("This is a test response from the client"),
            expecting: "LLM response: This is a test response from the client")
        #expect(asked.method == "sampling/createMessage")
        #expect(asked.params?["maxTokens"]?.int == 100)
        #expect(
            asked.params?["messages"]?[0]?["content"]?["text"]?.string == "Test prompt for sampling")
    }

    // LEG-05, JRPC-18
    @Test("tools-call-elicitation") func elicitation() async throws {
        let asked = try await ask(
            "test_elicitation", ["message": "Please provide your information"],
            .accept(["username": "testuser", "email": "test@example.com"]),
            expecting: "User response: action=accept")
        #expect(asked.method == "elicitation/create")
        #expect(asked.message == "Please provide your information")
        let schema = try #require(asked.params?["requestedSchema"]?.value)
        #expect(schema["properties"]?["username"]?["type"] == "string")
        #expect(schema["properties"]?["email"]?["type"] == "string")
        #expect(schema["required"] == ["username", "email"])
    }

    @Test("tools-call-elicitation: a client that cannot be asked") func nobodyToAsk() async throws {
        try await withSuiteClient(SuiteRun.stateful, capabilities: [:]) { client in
            for (tool, argument) in [("test_sampling", "prompt"), ("test_elicitation", "message")] {
                let reply = await client.raw.call(tool, [argument: "x"])
                #expect(reply.errorCode != nil || reply.result?["isError"]?.bool == true, "\(tool)")
            }
            #expect(client.asked.isEmpty)
        }
    }

    @Test("elicitation-sep1034-defaults") func defaults() async throws {
        let fields = try await properties(
            "test_elicitation_sep1034_defaults",
            ["name": "Jane Smith", "age": 25, "score": 88.0, "status": "inactive", "verified": false])
        #expect(fields["name"]?["type"] == "string")
        #expect(fields["name"]?["default"] == "John Doe")
        #expect(fields["age"]?["type"] == "integer")
        #expect(fields["age"]?["default"] == 30)
        #expect(fields["score"]?["type"] == "number")
        #expect(fields["score"]?["default"] == 95.5)
        #expect(fields["status"]?["type"] == "string")
        #expect(fields["status"]?["enum"] == ["active", "inactive", "pending"])
        #expect(fields["status"]?["default"] == "active")
        #expect(fields["verified"]?["type"] == "boolean")
        #expect(fields["verified"]?["default"] == true)
    }

    @Test("elicitation-sep1330-enums") func enums() async throws {
        let fields = try await properties(
            "test_elicitation_sep1330_enums",
            [
                "untitledSingle": "option1", "titledSingle": "value1", "legacyEnum": "value1",
                "untitledMulti": ["option1", "option2"], "titledMulti": ["value1", "value2"],
            ])
        let plain = fields["untitledSingle"]
        #expect(plain?["type"] == "string")
        #expect(plain?["enum"]?.arrayValue?.isEmpty == false)
        #expect(plain?["oneOf"] == nil && plain?["enumNames"] == nil)
        let titled = fields["titledSingle"]
        #expect(titled?["type"] == "string")
        #expect(titled?["enum"] == nil)
        expectTitles(titled?["oneOf"])
        let legacy = fields["legacyEnum"]
        #expect(legacy?["type"] == "string")
        let names = legacy?["enumNames"]?.arrayValue
        #expect(names != nil && names?.count == legacy?["enum"]?.arrayValue?.count)
        let plainMany = fields["untitledMulti"]
        #expect(plainMany?["type"] == "array")
        #expect(plainMany?["items"]?["type"] == "string")
        #expect(plainMany?["items"]?["enum"]?.arrayValue?.isEmpty == false)
        #expect(plainMany?["items"]?["anyOf"] == nil)
        let titledMany = fields["titledMulti"]
        #expect(titledMany?["type"] == "array")
        #expect(titledMany?["items"]?["enum"] == nil)
        expectTitles(titledMany?["items"]?["anyOf"])
    }

    private func expectTitles(_ choices: JSONValue?) {
        #expect(choices?.arrayValue?.isEmpty == false)
        for choice in choices?.arrayValue ?? [] {
            #expect(choice["const"]?.isFilled == true)
            #expect(choice["title"]?.isFilled == true)
        }
    }
}
