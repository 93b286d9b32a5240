import MCPCore
import TestSupport
import Testing

/// Resources, prompts and how long answers stay fresh.
@Suite("server: resources and prompts", .timeLimit(.minutes(5))) struct CatalogScenarios {
    @Test("resources-list", arguments: SuiteRun.both) func resources(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let entries = try #require(
                try await client.raw.result("resources/list")["resources"]?.arrayValue)
            #expect(entries.first?["uri"] == "test://static-text")
            for entry in entries {
                for member in ["uri", "name", "description", "mimeType"] {
                    #expect(entry[member]?.isFilled == true, "\(member) of \(entry)")
                }
            }
            #expect(!entries.contains { $0["uri"]?.stringValue?.contains("{") == true })
        }
    }

    private func contents(_ setting: Setting, _ uri: String) async throws -> JSONValue {
        var first: JSONValue?
        try await withSuiteClient(setting) { client in
            let result = try await client.raw.result("resources/read", ["uri": .string(uri)])
            first = result["contents"]?[0]
        }
        let contents = try #require(first)
        #expect(contents["uri"]?.stringValue == uri)
        return contents
    }

    @Test("resources-read-text", arguments: SuiteRun.both) func readText(_ setting: Setting) async throws {
        let contents = try await contents(setting, "test://static-text")
        #expect(contents["mimeType"] == "text/plain")
        #expect(contents["text"] == "This is the content of the static text resource.")
    }

    @Test("resources-read-binary", arguments: SuiteRun.both)
    func readBinary(_ setting: Setting) async throws {
        let contents = try await contents(setting, "test://static-binary")
        #expect(contents["mimeType"] == "image/png")
        #expect(contents["blob"]?.isFilled == true)
    }

    @Test("resources-templates-read", arguments: SuiteRun.both)
    func readTemplate(_ setting: Setting) async throws {
        let contents = try await contents(setting, "test://template/123/data")
        #expect(contents["mimeType"] == "application/json")
        let text = try #require(contents["text"]?.stringValue)
        #expect(
            try JSONValue(parsing: text)
                == ["id": "123", "templateTest": true, "data": "Data for ID: 123"])
    }

    // RES-12
    @Test("resources-subscribe, resources-unsubscribe") func subscribe() async throws {
        try await withSuiteClient(SuiteRun.stateful) { client in
            for method in ["resources/subscribe", "resources/unsubscribe"] {
                let result = try await client.raw.result(method, ["uri": "test://watched-resource"])
                #expect(result == [:])
            }
        }
    }

    @Test("sep-2164-resource-not-found") func notFound() async throws {
        let uri: JSONValue = "test://nonexistent-resource-for-conformance-testing"
        try await withSuiteClient(SuiteRun.stateless) { client in
            let reply = await client.raw.request("resources/read", ["uri": uri])
            #expect(reply.result == nil)
            #expect(reply.errorCode == -32602)
            #expect(reply.answer?["error"]?["data"]?["uri"]?.value == uri)
        }
    }

    @Test("prompts-list", arguments: SuiteRun.both) func prompts(_ setting: Setting) async throws {
        try await withSuiteClient(setting) { client in
            let entries = try #require(try await client.raw.result("prompts/list")["prompts"]?.arrayValue)
            #expect(entries.count >= 4)
            for entry in entries {
                #expect(entry["name"]?.isFilled == true)
                #expect(entry["description"]?.isFilled == true)
            }
        }
    }

    private func messages(
        _ setting: Setting, _ name: String, _ arguments: JSONObject? = nil
    ) async throws -> [JSONValue] {
        var messages: [JSONValue]?
        try await withSuiteClient(setting) { client in
            var params: JSONObject = ["name": .string(name)]
            if let arguments { params["arguments"] = .object(arguments) }
            messages = try await client.raw.result("prompts/get", params)["messages"]?.arrayValue
        }
        let found = try #require(messages)
        #expect(!found.isEmpty)
        #expect(found.allSatisfy { $0["role"] == "user" && $0["content"]?.isObject == true })
        return found
    }

    @Test("prompts-get-simple", arguments: SuiteRun.both) func simple(_ setting: Setting) async throws {
        let messages = try await messages(setting, "test_simple_prompt")
        #expect(messages.first?["content"]?["text"] == "This is a simple prompt for testing.")
    }

    @Test("prompts-get-with-args", arguments: SuiteRun.both) func withArgs(_ setting: Setting) async throws {
        let messages = try await messages(
            setting, "test_prompt_with_arguments", ["arg1": "testValue1", "arg2": "testValue2"])
        #expect(
            messages.first?["content"]?["text"]
                == "Prompt with arguments: arg1='testValue1', arg2='testValue2'")
    }

    @Test("prompts-get-embedded-resource", arguments: SuiteRun.both)
    func embeddedResource(_ setting: Setting) async throws {
        let messages = try await messages(
            setting, "test_prompt_with_embedded_resource", ["resourceUri": "test://example-resource"])
        let resource = messages.first { $0["content"]?["type"] == "resource" }?["content"]?["resource"]
        #expect(resource?["uri"] == "test://example-resource")
        #expect(resource?["mimeType"] == "text/plain")
        #expect(resource?["text"] == "Embedded resource content for testing.")
        #expect(messages.last?["content"]?["text"] == "Please process the embedded resource above.")
    }

    @Test("prompts-get-with-image", arguments: SuiteRun.both)
    func withImage(_ setting: Setting) async throws {
        let messages = try await messages(setting, "test_prompt_with_image")
        let image = messages.first { $0["content"]?["type"] == "image" }?["content"]
        #expect(image?["data"]?.isFilled == true)
        #expect(image?["mimeType"] == "image/png")
        #expect(messages.last?["content"]?["text"] == "Please analyze the image above.")
    }

    // CACHE-01
    @Test("caching") func caching() async throws {
        try await withSuiteClient(SuiteRun.stateless) { client in
            var results = [JSONValue]()
            for method in [
                "server/discover", "tools/list", "prompts/list", "resources/list",
                "resources/templates/list",
            ] {
                results.append(try await client.raw.result(method))
            }
            results.append(
                try await client.raw.result("resources/read", ["uri": "test://static-text"]))
            for result in results {
                #expect(try #require(result["ttlMs"]?.intValue) >= 0)
                #expect(["public", "private"].contains(result["cacheScope"]?.stringValue))
                #expect(result["resultType"] == "complete")
            }
        }
    }
}
