import MCPCore
import TestSupport
import Testing

/// Resources, prompts, discovery and the handshake in every revision over every leg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CatalogInteractionTests {
    private static let capabilities: JSONValue = [
        "tools": ["listChanged": true], "resources": ["subscribe": true, "listChanged": true],
        "prompts": ["listChanged": true], "logging": [:],
    ]

    // MARK: Opening

    // VER-05, VER-07, VER-08, CACHE-01, TOOL-01, RES-01, PROM-01
    @Test(arguments: Setting.modern) func discover(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.request("server/discover")
            let result = try #require(reply.result?.value)
            #expect(result["supportedVersions"]?[0] == "2026-07-28")
            #expect(result["supportedVersions"]?.arrayValue?.count == 5)
            #expect(
                result["capabilities"] == Self.capabilities)
            #expect(result["instructions"] == "Use it.")
            #expect(result["ttlMs"] == 0)
            #expect(result["cacheScope"] == "public")
            #expect(result["resultType"] == "complete")
            #expect(result["serverInfo"] == nil)
            #expect(
                result["_meta"]?["io.modelcontextprotocol/serverInfo"]
                    == ["name": "test", "version": "1.2", "title": "Test"])
        }
    }

    // LIFE-02, LIFE-03, DUAL-21, TOOL-01, RES-01, PROM-01
    @Test(arguments: Setting.legacy) func initialize(_ setting: Setting) async throws {
        try await withServer(setting, try TestServer().server) { served in
            let client = try served.silentClient()
            let reply = await client.request(
                "initialize",
                [
                    "protocolVersion": .string(setting.version), "capabilities": [:],
                    "clientInfo": ["name": "c", "version": "1"],
                ])
            let result = try #require(reply.result?.value)
            #expect(result["protocolVersion"]?.stringValue == setting.version)
            #expect(result["serverInfo"]?["name"] == "test")
            #expect(result["serverInfo"]?["title"] == (setting.hasStructuredContent ? "Test" : .none))
            #expect(
                result["capabilities"] == Self.capabilities)
            #expect(result["instructions"] == "Use it.")
            for key in ["resultType", "ttlMs", "cacheScope", "_meta"] { #expect(result[key] == nil) }
            // LEG-21
            let session = reply.headers["mcp-session-id"]
            #expect((session != nil) == (setting.leg == .http))
            #expect(session?.utf8.allSatisfy { $0 >= 0x21 && $0 <= 0x7E } ?? true)
        }
    }

    // LIFE-03: an unknown version, or one that has no handshake, gets a counter-offer.
    @Test(arguments: Leg.allCases, ["1.0.0", "2031-01-01", "2026-07-28", ""])
    func counterOffer(_ leg: Leg, _ version: String) async throws {
        let setting = Setting(leg: leg, version: "2025-11-25")
        try await withServer(setting, try TestServer().server) { served in
            let reply = try await served.silentClient().request(
                "initialize", ["protocolVersion": .string(version), "capabilities": [:]])
            #expect(reply.result?["protocolVersion"]?.string == "2025-11-25")
        }
    }

    @Test(arguments: Leg.allCases) func initializeWithoutAVersion(_ leg: Leg) async throws {
        let setting = Setting(leg: leg, version: "2025-11-25")
        try await withServer(setting, try TestServer().server) { served in
            let client = try served.silentClient()
            #expect(await client.request("initialize").errorCode == -32602)
            #expect(await client.request("initialize", ["protocolVersion": 5]).errorCode == -32602)
            // It can still be done right.
            #expect(await client.request("initialize", ["protocolVersion": "2025-06-18"]).result != nil)
        }
    }

    @Test(arguments: Setting.legacy) func initializeTwice(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.request("initialize", ["protocolVersion": "2025-03-26"])
            #expect(reply.errorCode == -32600)
            #expect(await client.call("add", ["a": 1]).text == "1")
        }
    }

    // LIFE-06: nothing but ping before initialize.
    @Test(arguments: Setting.legacy) func beforeInitialize(_ setting: Setting) async throws {
        try await withServer(setting, try TestServer().server) { served in
            let client = try served.silentClient()
            #expect(await client.request("ping").result != nil)
            let reply = await client.call("add", ["a": 1])
            #expect(reply.errorCode == -32600)
            #expect(reply.status == setting.status(400, legacy: 400))
        }
    }

    // LIFE-10, LIFE-12
    @Test(arguments: Setting.all) func ping(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.request("ping")
            if setting.isModern {
                #expect(reply.errorCode == -32601)
                #expect(reply.status == setting.status(404))
            } else {
                #expect(reply.result?.value == [:])
            }
        }
    }

    // JRPC-22, HTTP-10
    @Test(arguments: Setting.all) func methodsThatDoNotExist(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            for method in [
                "no/such", "tools/List", "notifications/cancelled", "server/discover2", "tasks/result",
            ] {
                let reply = await client.request(method, id: "m")
                #expect(reply.errorCode == -32601)
                #expect(reply.answer?["id"]?.string == "m")
                #expect(reply.status == setting.status(404))
            }
            let initialize = await client.request("initialize", ["protocolVersion": "2025-11-25"])
            #expect(initialize.errorCode == (setting.isModern ? -32601 : -32600))
        }
    }

    // JRPC-15, HTTP-08, LEG-03
    @Test(arguments: Setting.all) func notificationsAreNotAnswered(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            for method in ["notifications/cancelled", "notifications/nonsense", "tools/list"] {
                let reply = await client.notify(method, ["requestId": 99])
                #expect(reply.answer == nil)
                #expect(reply.status == setting.status(202, legacy: 202))
            }
            #expect(await client.call("add", ["a": 1]).text == "1")
            #expect(client.heard.allSatisfy { $0["id"] != nil })
        }
    }

    // DUAL-01, DUAL-02, DUAL-03: a handshake concerns only what makes no claim of its own.
    @Test(arguments: [Leg.inMemory, .stdio]) func bothErasOnOneConnection(_ leg: Leg) async throws {
        try await withClient(Setting(leg: leg, version: "2025-06-18"), try TestServer().server) { client in
            let modern: JSONObject = [
                "_meta": [
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": [:],
                ]
            ]
            #expect(await client.request("tools/list", modern).result?["resultType"]?.string == "complete")
            #expect(await client.request("tools/list").result?["resultType"] == nil)
            #expect(await client.request("ping", modern).errorCode == -32601)
            #expect(await client.request("ping").result != nil)
        }
    }

    // MARK: Resources

    // RES-02, RES-03, RES-08, RES-10
    @Test(arguments: Setting.all) func resourceLists(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let list = try #require(await client.request("resources/list").result)
            #expect(
                list["resources"]?.elements?.compactMap { $0["uri"]?.string } == ["mem://a", "mem://bytes"])
            #expect(list["resources"]?[0]?["mimeType"]?.string == "text/plain")
            #expect(list["cacheScope"]?.string == (setting.isModern ? "public" : nil))
            let templates = try #require(await client.request("resources/templates/list").result)
            #expect(templates["resourceTemplates"]?[0]?["uriTemplate"]?.string == "mem://item/{name}")
            #expect(templates["ttlMs"]?.int == (setting.isModern ? 0 : nil))
        }
    }

    // RES-04, RES-08
    @Test(arguments: Setting.all) func readResource(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let text = try #require(await client.request("resources/read", ["uri": "mem://a"]).result)
            #expect(
                text["contents"]?.value == [["uri": "mem://a", "mimeType": "text/plain", "text": "hello"]])
            // What is read may be one caller's alone.
            #expect(text["cacheScope"]?.string == (setting.isModern ? "private" : nil))
            #expect(text["ttlMs"]?.int == (setting.isModern ? 0 : nil))
            let blob = try #require(await client.request("resources/read", ["uri": "mem://bytes"]).result)
            #expect(blob["contents"]?[0]?["blob"]?.string == "AAH/")
            #expect(blob["contents"]?[0]?["text"] == nil)
            let item = try #require(
                await client.request("resources/read", ["uri": "mem://item/%C3%A9"]).result)
            #expect(item["contents"]?[0]?["text"]?.string == "item é")
        }
    }

    // RES-06, RES-07, RES-17, ERR-07, ERR-09, DUAL-22
    @Test(arguments: Setting.all) func missingResource(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            for uri in ["mem://none", "mem://item/none", "file:///etc/passwd"] {
                let reply = await client.request("resources/read", ["uri": .string(uri)])
                #expect(reply.errorCode == (setting.isModern ? -32602 : -32002))
                #expect(reply.answer?["error"]?["data"]?["uri"]?.string == uri)
                #expect(reply.status == setting.status(200))
            }
            for params in [[:], ["uri": 5], ["uri": ""], ["uri": "no scheme"], ["uri": "a:\u{1}"]]
                as [JSONObject]
            {
                #expect(await client.request("resources/read", params).errorCode == -32602)
            }
        }
    }

    // MARK: Prompts

    // PROM-02, PROM-03, PROM-05, PROM-11
    @Test(arguments: Setting.all) func prompts(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let list = try #require(await client.request("prompts/list").result)
            #expect(list["prompts"]?[0]?["name"]?.string == "greet")
            #expect(
                list["prompts"]?[0]?["arguments"]?.value == [
                    ["name": "who", "required": true], ["name": "how"],
                ])
            let reply = await client.request("prompts/get", ["name": "greet", "arguments": ["who": "Bob"]])
            let messages = try #require(reply.result?["messages"]?.elements)
            #expect(messages.compactMap { $0["role"]?.string } == ["user", "assistant"])
            #expect(messages[0]["content"]?["text"]?.string == "Hello Bob")
            #expect(reply.result?["ttlMs"] == nil)
        }
    }

    // PROM-04, PROM-06, PROM-09, ERR-13
    @Test(arguments: Setting.all) func promptErrors(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let missing = await client.request("prompts/get", ["name": "greet"])
            #expect(missing.errorCode == -32602)
            #expect(missing.answer?["error"]?["data"]?["missing"]?.value == ["who"])
            #expect(missing.status == setting.status(200))
            for params in [
                ["name": "none"], [:], ["name": 1], ["name": "greet", "arguments": ["who": 1]],
                ["name": "greet", "arguments": ["x"]],
            ] as [JSONObject] {
                #expect(await client.request("prompts/get", params).errorCode == -32602)
            }
        }
    }
}
