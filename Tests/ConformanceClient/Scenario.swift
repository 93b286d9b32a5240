import MCPCore

/// One scenario: where the server is, which revision is spoken, and what the suite says beside it.
struct Scenario: Sendable {
    typealias Body = @Sendable (Scenario) async throws -> Void

    let url: String
    let name: String
    let version: String?
    let context: JSONValue

    static let all: [String: Body] = [
        "initialize": { try await $0.withClient { _ = try await $0.listTools() } },
        "tools_call": { try await $0.callWithNumbers() },
        "elicitation-sep1034-client-defaults": { try await $0.acceptDefaults() },
        "sse-retry": { try await $0.call("test_reconnection") },
        "request-metadata": { try await $0.callEverything() },
        "http-standard-headers": { try await $0.callEverything() },
        "http-custom-headers": { try await $0.callAsTold() },
        "http-invalid-tool-headers": { try await $0.callEverything() },
        "sep-2322-client-request-state": { try await $0.takeRounds() },
        "json-schema-ref-no-deref": { try await $0.withClient { _ = try await $0.listTools() } },
        "json-schema-2020-12-preservation": { try await $0.echoSchema() },
    ]

    /// What a scenario of this name does; nil for one that is not known.
    static func body(of name: String) -> Body? {
        if name.hasPrefix("auth/") { return { try await $0.authorize() } }
        return all[name]
    }

    /// Scenarios whose server speaks an older revision than the run is for.
    private static let older: Set = ["sse-retry", "json-schema-ref-no-deref"]

    /// Runs `body` with a connected client that has handlers for whatever may be asked.
    func withClient(
        authorizer: (any RequestAuthorizer)? = nil, _ body: (MCPClient) async throws -> Void
    ) async throws {
        var options = ClientOptions(name: "conformance-client", version: "1.0.0")
        options.authorizer = authorizer
        options.timeout = .seconds(20)
        if let version, !Self.older.contains(name) { options.protocol = .exactly(ProtocolVersion(version)) }
        // It measures when the client comes back for a stream: one for questions would be taken for that.
        if name != "sse-retry" { Self.answerQuestions(&options) }
        let client = try await MCPClient.connect(.http(url), options: options)
        do {
            try await body(client)
            await client.close()
        } catch {
            await client.close()
            throw error
        }
    }

    /// What is asked for is answered with the defaults of the form, and a value that fits where there is
    /// none.
    private static func answerQuestions(_ options: inout ClientOptions) {
        options.onElicit = { request in .accept(request.schema?.sample() ?? [:]) }
        options.onSample = { _ in
            CreateMessageResult(role: .assistant, content: [.text("Paris")], model: "scripted")
        }
        options.onRoots = { [Root("file:///test/root", name: "root")] }
    }

    func call(_ tool: String) async throws {
        try await withClient { client in
            _ = try await client.listTools()
            _ = try await client.callTool(tool)
        }
    }

    private func callWithNumbers() async throws {
        try await withClient { client in
            _ = try await client.listTools()
            _ = try await client.callTool("add_numbers", ["a": 5, "b": 3])
        }
    }

    private func acceptDefaults() async throws {
        try await withClient { client in
            _ = try await client.listTools()
            _ = try await client.callTool("test_client_elicitation_defaults")
        }
    }

    /// Lists everything, then calls, reads and gets each of it once.
    private func callEverything() async throws {
        try await withClient { client in
            for tool in try await client.listTools() {
                // What the tool answers is the server's affair; the suite looks at the request.
                _ = try? await client.callTool(tool.name, Self.arguments(for: tool))
            }
            for resource in (try? await client.listResources()) ?? [] {
                _ = try? await client.readResource(resource.uri)
            }
            for prompt in (try? await client.listPrompts()) ?? [] {
                let required = prompt.arguments.filter(\.required).map { ($0.name, "value") }
                _ = try? await client.getPrompt(prompt.name, Dictionary(uniqueKeysWithValues: required))
            }
        }
    }

    /// A value for each property of the tool's schema.
    private static func arguments(for tool: Tool) -> JSONObject {
        var arguments = JSONObject()
        for (name, schema) in tool.inputSchema["properties"]?.objectValue ?? [:] {
            switch schema["type"]?.stringValue {
            case "string": arguments[name] = schema["enum"]?[0] ?? "us-west1"
            case "integer", "number": arguments[name] = 1
            case "boolean": arguments[name] = true
            default: break
            }
        }
        return arguments
    }

    /// Makes the calls that the suite lists.
    private func callAsTold() async throws {
        try await withClient { client in
            _ = try await client.listTools()
            for call in context["toolCalls"]?.arrayValue ?? [] {
                guard let name = call["name"]?.stringValue else { continue }
                _ = try await client.callTool(name, call["arguments"]?.objectValue ?? [:])
            }
        }
    }

    private func takeRounds() async throws {
        try await withClient { client in
            _ = try await client.listTools()
            for tool in [
                "test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state",
                "test_mrtr_no_result_type",
            ] {
                _ = try await client.callTool(tool)
            }
        }
    }

    private func echoSchema() async throws {
        try await withClient { client in
            let tools = try await client.listTools()
            guard let tool = tools.first(where: { $0.name == "json_schema_2020_12_tool" }) else {
                throw ToolError("the server has no tool json_schema_2020_12_tool")
            }
            _ = try await client.callTool("json_schema_echo", ["schema": tool.inputSchema])
        }
    }
}

extension ElicitationSchema {
    /// The defaults, and for a required field without one a value of its type.
    fileprivate func sample() -> JSONObject {
        var content = defaults()
        for (name, schema) in json["properties"]?.objectValue ?? [:]
        where content[name] == nil && required.contains(name) {
            switch schema["type"]?.stringValue {
            case "boolean": content[name] = true
            case "integer", "number": content[name] = schema["minimum"] ?? 1
            case "array": content[name] = []
            default: content[name] = schema["enum"]?[0] ?? schema["oneOf"]?[0]?["const"] ?? "answer"
            }
        }
        return content
    }
}
