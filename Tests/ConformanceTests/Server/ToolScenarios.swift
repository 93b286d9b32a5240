import MCPCore
import TestSupport
import Testing

/// Tools, and what they return.
@Suite("server: tools", .timeLimit(.minutes(5))) struct ToolScenarios {
    @Test("tools-list", arguments: SuiteRun.both) func list(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let tools = try #require(try await client.raw.result("tools/list")["tools"]?.arrayValue)
            // http-header-validation calls the first one without arguments.
            #expect(tools.first?["name"] == "test_simple_text")
            for tool in tools {
                let name = tool["name"]?.stringValue ?? ""
                #expect((1 ... 64).contains(name.utf8.count))
                #expect(
                    name.utf8.allSatisfy { byte in
                        byte < 0x80
                            && (Character(Unicode.Scalar(byte)).isLetter
                                || Character(Unicode.Scalar(byte)).isNumber || "_./-".utf8.contains(byte))
                    }, "\(name)")
                #expect(tool["description"]?.isFilled == true, "\(name)")
                #expect(tool["inputSchema"]?["type"] == "object", "\(name)")
            }
            #expect(Set(tools.compactMap { $0["name"]?.stringValue }).count == tools.count)
        }
    }

    @Test("tools-call-simple-text", arguments: SuiteRun.both)
    func simpleText(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            // The suite sends no arguments here.
            let result = try await client.raw.tool("test_simple_text", nil)
            #expect(result.block("text")?["text"] == "This is a simple text response for testing.")
        }
    }

    @Test("tools-call-image", arguments: SuiteRun.both) func image(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let block = try await client.raw.tool("test_image_content").block("image")
            #expect(block?["data"]?.isFilled == true)
            #expect(block?["mimeType"] == "image/png")
        }
    }

    @Test("tools-call-audio", arguments: SuiteRun.both) func audio(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let block = try await client.raw.tool("test_audio_content").block("audio")
            #expect(block?["data"]?.isFilled == true)
            #expect(block?["mimeType"] == "audio/wav")
        }
    }

    @Test("tools-call-embedded-resource", arguments: SuiteRun.both)
    func embeddedResource(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let resource = try await client.raw.tool("test_embedded_resource").block("resource")?["resource"]
            #expect(resource?["uri"] == "test://embedded-resource")
            #expect(resource?["mimeType"] == "text/plain")
            #expect(resource?["text"] == "This is an embedded resource content.")
        }
    }

    @Test("tools-call-mixed-content", arguments: SuiteRun.both)
    func mixedContent(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let result = try await client.raw.tool("test_multiple_content_types")
            #expect(result.block("text")?["text"] == "Multiple content types test:")
            #expect(result.block("image")?["data"]?.isFilled == true)
            let resource = result.block("resource")?["resource"]
            #expect(resource?["uri"] == "test://mixed-content-resource")
            #expect(resource?["mimeType"] == "application/json")
            #expect(resource?["text"] == #"{"test":"data","value":123}"#)
        }
    }

    @Test("tools-call-error", arguments: SuiteRun.both) func error(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let result = try await client.raw.tool("test_error_handling")
            #expect(result["isError"] == true)
            #expect(
                result["content"]?[0]?["text"] == "This tool intentionally returns an error for testing")
        }
    }

    @Test("tools-call-with-progress", arguments: SuiteRun.both)
    func progress(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let result = try await client.raw.tool(
                "test_tool_with_progress", progressToken: "progress-test-1")
            #expect(result.block("text")?["text"]?.isFilled == true)
            let seen = client.raw.notifications("notifications/progress").compactMap { $0["params"] }
            #expect(seen.count >= 3)
            #expect(seen.allSatisfy { $0["progressToken"] == "progress-test-1" })
            let values = seen.compactMap { $0["progress"]?.doubleValue }
            #expect(values == [0, 50, 100])
            #expect(seen.allSatisfy { $0["total"] == 100 })
        }
    }

    @Test("tools-call-with-logging") func logging() async throws {
        try await withSuiteClient(SuiteRun.stateful) { client in
            _ = try await client.raw.result("logging/setLevel", ["level": "debug"])
            let result = try await client.raw.tool("test_tool_with_logging")
            #expect(result.block("text")?["text"]?.isFilled == true)
            let seen = client.raw.notifications("notifications/message").compactMap { $0["params"] }
            #expect(
                seen.map { $0["data"]?.stringValue } == [
                    "Tool execution started", "Tool processing data", "Tool execution completed",
                ])
            #expect(seen.allSatisfy { $0["level"] == "info" })
        }
    }

    // When a schema has lost nothing on its way, each of its keywords is there.
    @Test("json-schema-2020-12", arguments: SuiteRun.both)
    func schemaKeywords(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let tools = try #require(try await client.raw.result("tools/list")["tools"]?.arrayValue)
            let tool = try #require(tools.first { $0["name"] == "json_schema_2020_12_tool" })
            let schema = try #require(tool["inputSchema"])
            #expect(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema")
            #expect(schema["type"] == "object")
            let address = schema["$defs"]?["address"]
            #expect(address?["$anchor"] == "addressDef")
            #expect(address?["properties"] == ["street": ["type": "string"], "city": ["type": "string"]])
            #expect(schema["properties"]?["address"] == ["$ref": "#/$defs/address"])
            #expect(schema["properties"]?["contactMethod"]?["enum"] == ["phone", "email"])
            #expect(
                schema["allOf"] == [["anyOf": [["required": ["phone"]], ["required": ["email"]]]]])
            #expect(schema["if"]?["properties"]?["contactMethod"] == ["const": "phone"])
            #expect(schema["if"]?["required"] == ["contactMethod"])
            #expect(schema["then"] == ["required": ["phone"]])
            #expect(schema["else"] == ["required": ["email"]])
            #expect(schema["additionalProperties"] == false)
        }
    }
}
