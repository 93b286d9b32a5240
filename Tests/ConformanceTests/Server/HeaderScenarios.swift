import MCPCore
import TestSupport
import Testing

/// What the server makes of the header fields of a request.
@Suite("server: headers", .timeLimit(.minutes(5))) struct HeaderScenarios {
    private static let list = RawPost.message("tools/list")
    private static let call = RawPost.message(
        "tools/call", ["name": "test_simple_text", "arguments": [:]])

    private func send(_ body: String, _ fields: [(name: String, value: String)]) async throws -> WireResponse
    {
        try await RawPost(fields: [("MCP-Protocol-Version", "2026-07-28")] + fields, body: body).send()
    }

    private func expectRefused(_ response: WireResponse, _ location: SourceLocation = #_sourceLocation) {
        #expect(response.status == 400, sourceLocation: location)
        #expect(response.code == -32020, sourceLocation: location)
        #expect(response.headers["content-type"] == "application/json", sourceLocation: location)
    }

    @Test("http-header-validation: refused") func refused() async throws {
        expectRefused(try await send(Self.list, [("Mcp-Method", "prompts/list")]))
        expectRefused(try await send(Self.list, []))
        expectRefused(try await send(Self.list, [("Mcp-Method", "TOOLS/LIST")]))
        expectRefused(
            try await send(Self.call, [("Mcp-Method", "tools/call"), ("Mcp-Name", "wrong_tool_name")]))
        expectRefused(try await send(Self.call, [("Mcp-Method", "tools/call")]))
    }

    @Test("http-header-validation: accepted") func accepted() async throws {
        for name in ["mcp-method", "MCP-METHOD"] {
            #expect(try await send(Self.list, [(name, "tools/list")]).isAccepted)
        }
        let blanks = try await send(
            Self.call, [("Mcp-Method", "tools/call"), ("Mcp-Name", "  test_simple_text  ")])
        #expect(blanks.isAccepted)
    }

    /// Calls the tool whose `region` is mirrored.
    private func mirrored(_ header: String?, _ value: String?) async throws -> WireResponse {
        let arguments: JSONObject = value.map { ["region": .string($0)] } ?? [:]
        let body = RawPost.message(
            "tools/call", ["name": "test_x_mcp_header", "arguments": .object(arguments)])
        var fields = [(name: "Mcp-Method", value: "tools/call"), ("Mcp-Name", "test_x_mcp_header")]
        if let header { fields.append(("Mcp-Param-Region", header)) }
        return try await send(body, fields)
    }

    // The suite takes the first tool with an annotated text and leaves an optional one out once.
    @Test("http-custom-header-server-validation: the tool") func annotatedTool() async throws {
        try await withSuiteClient(SuiteRun.stateless) { client in
            let tools = try #require(try await client.raw.result("tools/list")["tools"]?.arrayValue)
            let annotated = tools.filter { tool in
                let properties = tool["inputSchema"]?["properties"]?.objectValue
                return properties?.values.contains { $0["x-mcp-header"] != nil } == true
            }
            #expect(annotated.map { $0["name"] } == ["test_x_mcp_header"])
            let schema = annotated.first?["inputSchema"]
            #expect(schema?["properties"]?["region"]?["x-mcp-header"] == "Region")
            #expect(schema?["properties"]?["region"]?["type"] == "string")
            #expect(schema?["required"]?.arrayValue?.contains("region") != true)
        }
    }

    @Test(
        "http-custom-header-server-validation: accepted",
        arguments: [
            ("=?base64?SGVsbG8=?=", "Hello"), ("SGVsbG8=", "SGVsbG8="),
            ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="), (nil, nil),
        ])
    func mirroredAccepted(header: String?, value: String?) async throws {
        let response = try await mirrored(header, value)
        #expect(response.isAccepted)
        #expect(
            response.answer?["result"]?["content"]?[0]?["text"]?.stringValue
                == "region: \(value ?? "none")")
    }

    @Test(
        "http-custom-header-server-validation: refused",
        arguments: [
            ("=?base64?SGVsbG8?=", "Hello"), ("=?base64?SGVs!!!bG8=?=", "Hello"), (nil, "test-value"),
        ])
    func mirroredRefused(header: String?, value: String) async throws {
        expectRefused(try await mirrored(header, value))
    }
}
