import MCPCore
import TestSupport
import Testing

/// The header fields that a client sends in 2026-07-28.
@Suite("client: headers", .timeLimit(.minutes(5))) struct ClientHeaderScenarios {
    @Test("http-standard-headers") func standard() async throws {
        let uris = ["file:///path/to/file%20name.txt", "https://example.com/resource?id=123"]
        let server = try MockServer(
            "2026-07-28",
            [
                "tools/list": MockServer.tools(
                    MockServer.tool("test_headers"), MockServer.tool("my-hyphenated-tool")),
                "tools/call": MockServer.text("Headers test completed"),
                "resources/list": [
                    "resources": .array(uris.map { ["uri": .string($0), "name": "A resource"] })
                ],
                "resources/read": ["contents": []],
                "prompts/list": ["prompts": [["name": "test_prompt", "description": "A prompt"]]],
                "prompts/get": ["messages": []],
            ])
        try await server.run("http-standard-headers", at: server.bareURL)
        for post in server.posts {
            #expect(post.header("mcp-method") == post.rpcMethod)
            let name = post.params["name"]?.stringValue ?? post.params["uri"]?.stringValue
            #expect(post.header("mcp-name") == name, "\(post.rpcMethod)")
        }
        func names(_ method: String) -> [String?] { server.posts(method).map { $0.header("mcp-name") } }
        #expect(names("tools/call") == ["test_headers", "my-hyphenated-tool"])
        #expect(names("resources/read") == uris)
        #expect(names("prompts/get") == ["test_prompt"])
    }

    private static let toolCalls: JSONValue = [
        [
            "name": "test_custom_headers",
            "arguments": [
                "region": "us-west1", "priority": 42, "verbose": false, "debug": true, "empty_val": "",
                "method_val": "test-method", "float_val": 3.14159, "non_ascii_val": "Hello, 世界",
                "whitespace_val": " padded ", "leading_space_val": " us-west1",
                "trailing_space_val": "us-west1 ", "internal_space_val": "us west 1",
                "control_char_val": "line1\nline2", "crlf_val": "line1\r\nline2", "tab_val": "\tindented",
                "query": "SELECT * FROM users",
            ],
        ],
        [
            "name": "test_custom_headers_null",
            "arguments": ["region": "us-east1", "priority": 1, "verbose": .null, "query": "SELECT 1"],
        ],
    ]

    /// What has to stand in `Mcp-Param-…`.
    private static let mirrored = [
        "Region": "us-west1", "Priority": "42", "Verbose": "false", "Debug": "true", "EmptyVal": "",
        "Method": "test-method", "InternalSpace": "us west 1",
        "NonAscii": "=?base64?SGVsbG8sIOS4lueVjA==?=", "Whitespace": "=?base64?IHBhZGRlZCA=?=",
        "LeadingSpace": "=?base64?IHVzLXdlc3Qx?=", "TrailingSpace": "=?base64?dXMtd2VzdDEg?=",
        "ControlChar": "=?base64?bGluZTEKbGluZTI=?=", "CrLf": "=?base64?bGluZTENCmxpbmUy?=",
        "Tab": "=?base64?CWluZGVudGVk?=",
    ]

    private static func annotated(_ type: String, _ name: String) -> JSONValue {
        ["type": .string(type), "x-mcp-header": .string(name)]
    }

    @Test("http-custom-headers")
    func custom() async throws {
        let (text, number): (JSONValue, JSONValue) = (["type": "string"], ["type": "number"])
        var properties: JSONObject = [
            "region": Self.annotated("string", "Region"),
            "priority": Self.annotated("integer", "Priority"),
            "verbose": Self.annotated("boolean", "Verbose"),
        ]
        let few = JSONValue.object(properties.merging(query: text))
        properties["debug"] = Self.annotated("boolean", "Debug")
        properties["float_val"] = number
        for (name, header) in [
            ("empty_val", "EmptyVal"), ("method_val", "Method"), ("non_ascii_val", "NonAscii"),
            ("whitespace_val", "Whitespace"), ("leading_space_val", "LeadingSpace"),
            ("trailing_space_val", "TrailingSpace"), ("internal_space_val", "InternalSpace"),
            ("control_char_val", "ControlChar"), ("crlf_val", "CrLf"), ("tab_val", "Tab"),
        ] {
            properties[name] = Self.annotated("string", header)
        }
        let required: JSONValue = ["region", "priority", "query"]
        let server = try MockServer(
            "2026-07-28",
            [
                "tools/list": MockServer.tools(
                    MockServer.tool(
                        "test_custom_headers", .object(properties.merging(query: text)), required: required),
                    MockServer.tool("test_custom_headers_null", few, required: required)),
                "tools/call": MockServer.text("Custom headers test completed"),
            ])
        try await server.run(
            "http-custom-headers", at: server.bareURL, context: ["toolCalls": Self.toolCalls])
        let call = try #require(server.calls("test_custom_headers").first)
        #expect(call.params["arguments"] == Self.toolCalls[0]?["arguments"])
        for (name, value) in Self.mirrored { #expect(call.header(mirroring: name) == value, "\(name)") }
        #expect(call.header("mcp-method") == "tools/call")
        #expect(call.header(mirroring: "FloatVal") == nil)
        #expect(call.header(mirroring: "Query") == nil)
        let second = try #require(server.calls("test_custom_headers_null").first)
        #expect(second.params["arguments"] == Self.toolCalls[1]?["arguments"])
        #expect(second.header(mirroring: "Region") == "us-east1")
        #expect(second.header(mirroring: "Verbose") == nil)
    }

    // HDR-19
    @Test("http-invalid-tool-headers")
    func invalidTools() async throws {
        func tool(_ name: String, _ properties: JSONValue) -> JSONValue {
            let required = (properties.objectValue?.keys.map { JSONValue($0) }) ?? []
            return MockServer.tool(name, properties, required: .array(required))
        }
        func text(_ header: String) -> JSONValue { ["value": Self.annotated("string", header)] }
        func pair(_ first: String, _ second: String) -> JSONValue {
            ["field1": Self.annotated("string", first), "field2": Self.annotated("string", second)]
        }
        let server = try MockServer(
            "2026-07-28",
            [
                "tools/list": MockServer.tools(
                    tool("valid_tool", ["region": Self.annotated("string", "Region")]),
                    tool("invalid_empty_header", text("")),
                    tool("invalid_object_header", ["data": Self.annotated("object", "Data")]),
                    tool("invalid_array_header", ["items": Self.annotated("array", "Items")]),
                    tool("invalid_null_header", ["nil": Self.annotated("null", "Nil")]),
                    tool("invalid_duplicate_same_case", pair("Region", "Region")),
                    tool("invalid_duplicate_diff_case", pair("MyField", "myfield")),
                    tool("invalid_space_in_name", text("My Region")),
                    tool("invalid_colon_in_name", text("Region:Primary")),
                    tool("invalid_non_ascii_name", text("Région")),
                    tool("invalid_control_char_name", text("Region\t1"))),
                "tools/call": MockServer.text("Tool call received"),
            ])
        try await server.run("http-invalid-tool-headers", at: server.bareURL)
        let called = server.posts("tools/call").map { $0.params["name"]?.stringValue }
        #expect(called == ["valid_tool"])
    }
}

extension JSONObject {
    /// The same members and one more, which no annotation mirrors.
    fileprivate func merging(query: JSONValue) -> JSONObject {
        var object = self
        object["query"] = query
        return object
    }
}
