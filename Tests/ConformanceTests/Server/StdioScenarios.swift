import MCPCore
import TestSupport
import Testing

/// The suite never touches stdio; the same server has to offer the same there.
@Suite("server: stdio", .timeLimit(.minutes(5))) struct StdioScenarios {
    @Test("the same contract over stdio", arguments: ClientScenarios.versions)
    func stdio(_ version: String) async throws {
        var options = ClientOptions()
        options.protocol = .exactly(ProtocolVersion(version))
        options.onElicit = { request in
            .accept(request.message == "What is your name?" ? ["name": "Alice"] : [:])
        }
        let target = ClientTarget.command(BuiltProgram.path("conformance-server"), "--stdio")
        let client = try await MCPClient.connect(target.recorded([.client, .server]), options: options)
        #expect(client.protocolVersion.text == version)
        let tools = try await client.listTools()
        #expect(tools.first?.name == "test_simple_text")
        let text = try await client.callTool("test_simple_text")
        #expect(text.text == "This is a simple text response for testing.")
        let asked = try await client.callTool("test_input_required_result_elicitation")
        #expect(asked.text == "Hello, Alice!")
        let contents = try await client.readResource("test://template/123/data")
        #expect(contents.first?.text?.contains("123") == true)
        let prompt = try await client.getPrompt("test_simple_prompt")
        #expect(prompt.messages.first?.content.text == "This is a simple prompt for testing.")
        await client.close()
    }
}
