import MCPCore
import TestSupport
import Testing

/// The checks of `server-stateless`.
@Suite("server: server-stateless", .timeLimit(.minutes(5))) struct StatelessScenarios {
    private static let prefix = "io.modelcontextprotocol/"

    private func send(
        _ method: String, _ params: JSONObject = [:], id: Int, version: String = "2026-07-28"
    ) async throws -> WireResponse {
        try await RawPost(
            fields: RawPost.standard(method, name: params["name"]?.stringValue, version: version),
            body: RawPost.message(method, params, id: id)
        ).send()
    }

    /// An error has its status, its code and the id of its request.
    private func expect(
        _ response: WireResponse, _ status: Int, _ code: Int, id: Int,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(response.status == status, sourceLocation: location)
        #expect(response.code == code, sourceLocation: location)
        #expect(response.answer?["id"]?.intValue == id, sourceLocation: location)
    }

    private func meta(without key: String) -> JSONObject {
        var meta = RawPost.meta
        meta[Self.prefix + key] = nil
        return meta
    }

    @Test("request-meta-invalid, http-server-meta-invalid-400") func invalidMeta() async throws {
        let bare = JSONValue.object([
            "jsonrpc": "2.0", "id": 101, "method": "server/discover", "params": [:],
        ])
        let missing = try await RawPost(
            fields: RawPost.standard("server/discover"), body: bare.serialized()
        ).send()
        expect(missing, 400, -32602, id: 101)
        for (id, key) in [(102, "protocolVersion"), (104, "clientCapabilities")] {
            let meta = meta(without: key)
            expect(
                try await send("server/discover", ["_meta": .object(meta)], id: id), 400, -32602, id: id)
        }
    }

    @Test("request-meta-client-info-optional") func clientInfoIsOptional() async throws {
        let meta = meta(without: "clientInfo")
        let response = try await send("server/discover", ["_meta": .object(meta)], id: 105)
        #expect(response.status == 200)
        #expect(response.answer?["result"] != nil)
    }

    private func discover() async throws -> JSONValue {
        try #require(try await send("server/discover", id: 201).answer?["result"])
    }

    @Test("server-implements-discover, server-identifies-in-result-meta") func discovery() async throws {
        let result = try await discover()
        #expect(result["supportedVersions"]?.arrayValue?.contains("2026-07-28") == true)
        #expect(result["capabilities"]?.isObject == true)
        let info = result["_meta"]?[Self.prefix + "serverInfo"]
        #expect(info?["name"]?.isFilled == true)
        #expect(info?["version"]?.isFilled == true)
    }

    @Test("server-declares-prompts-in-discover, discover-capabilities-match-handlers")
    func trueCapabilities() async throws {
        let capabilities = try await discover()["capabilities"]
        #expect(capabilities?["prompts"]?["listChanged"] == true)
        #expect(capabilities?["tools"]?["listChanged"] == true)
        #expect(try await send("prompts/list", id: 203).answer?["result"]?["prompts"]?.arrayValue != nil)
        #expect(try await send("tools/list", id: 202).answer?["result"]?["tools"]?.arrayValue != nil)
    }

    @Test("server-unsupported-version-error, http-server-unsupported-version-400")
    func unsupportedVersion() async throws {
        var meta = RawPost.meta
        meta[Self.prefix + "protocolVersion"] = "v999.0.0"
        let params: JSONObject = ["_meta": .object(meta)]
        let response = try await send("server/discover", params, id: 301, version: "v999.0.0")
        expect(response, 400, -32022, id: 301)
        let data = response.answer?["error"]?["data"]
        #expect(data?["requested"] == "v999.0.0")
        let supported = try #require(data?["supported"]?.arrayValue)
        let discovered = try #require(try await discover()["supportedVersions"]?.arrayValue)
        #expect(!supported.isEmpty)
        #expect(supported.allSatisfy { discovered.contains($0) })
        // http-server-header-mismatch-400
        expect(try await send("server/discover", params, id: 302), 400, -32020, id: 302)
    }

    // CAP-02, HTTP-13
    @Test("server-rejects-undeclared-capability, missing-capability-http-400")
    func undeclaredCapability() async throws {
        let response = try await send(
            "tools/call", ["name": "test_missing_capability", "arguments": [:]], id: 401)
        expect(response, 400, -32021, id: 401)
        #expect(response.answer?["error"]?["data"]?["requiredCapabilities"] == ["sampling": [:]])
    }

    @Test(
        "http-server-method-not-found-404",
        arguments: [
            "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
            "unknown/method",
        ])
    func removedMethod(_ method: String) async throws {
        expect(try await send(method, id: 500), 404, -32601, id: 500)
    }

    @Test("http-server-no-independent-requests-on-stream") func noRequestsOnTheStream() async throws {
        var meta = RawPost.meta
        meta[Self.prefix + "clientCapabilities"] = ["elicitation": [:]]
        let response = try await send(
            "tools/call",
            ["name": "test_streaming_elicitation", "arguments": [:], "_meta": .object(meta)], id: 501)
        #expect(response.isAccepted)
        #expect(response.answer?["result"] != nil)
        #expect(!response.messages.contains { $0["method"] != nil && $0["id"] != nil })
    }

    @Test("server-no-log-without-loglevel") func noLogUnasked() async throws {
        let response = try await send("tools/call", ["name": "test_logging_tool", "arguments": [:]], id: 502)
        #expect(response.isAccepted)
        #expect(response.messages.count == 1)
        var meta = RawPost.meta
        meta[Self.prefix + "logLevel"] = "info"
        let asked = try await send(
            "tools/call", ["name": "test_logging_tool", "arguments": [:], "_meta": .object(meta)], id: 503)
        #expect(asked.messages.contains { $0["method"] == "notifications/message" })
    }

    // server-sends-subscription-ack, server-tags-subscription-id, server-honors-notification-filter,
    // server-sends-…-list-changed-on-subscription: SUB-01, SUB-02, SUB-03, SUB-04, SUB-05, META-13, TOOL-21,
    // HTTP-29
    @Test(
        "subscriptions/listen",
        arguments: [
            (filter: "toolsListChanged", trigger: "test_trigger_tool_change", other: "prompt"),
            (filter: "promptsListChanged", trigger: "test_trigger_prompt_change", other: "tool"),
        ])
    func listen(filter: String, trigger: String, other: String) async throws {
        try await withSuiteClient(SuiteRun.stateless, capabilities: [:]) { client in
            let raw = client.raw
            let (messages, arrived) = AsyncStream.makeStream(of: JSONValue.self)
            raw.listen { arrived.yield($0.value) }
            let stream = Task {
                await raw.request("subscriptions/listen", ["notifications": [filter: true]], id: "listen")
            }
            var seen: [JSONValue] = []
            for await message in messages {
                // Answers to the triggers come the same way.
                guard message["method"] != nil else { continue }
                seen.append(message)
                guard seen.count == 1 else { break }
                // What was not asked for stays away, also when it happens first.
                _ = try await raw.tool("test_trigger_\(other)_change")
                _ = try await raw.tool(trigger)
            }
            #expect(seen.count == 2)
            #expect(seen.first?["method"] == "notifications/subscriptions/acknowledged")
            #expect(seen.first?["params"]?["notifications"] == [filter: true])
            let kind = filter.hasPrefix("tools") ? "tools" : "prompts"
            #expect(seen.last?["method"]?.stringValue == "notifications/\(kind)/list_changed")
            for message in seen {
                #expect(message["params"]?["_meta"]?[Self.prefix + "subscriptionId"] == "listen")
            }
            try raw.disconnect("listen")
            _ = await stream.value
        }
    }
}

extension RawClient {
    /// Closes the connection of a request, as the end of a subscription.
    func disconnect(_ id: JSONValue) throws {
        Task { try await hangUp(id) }
    }
}
