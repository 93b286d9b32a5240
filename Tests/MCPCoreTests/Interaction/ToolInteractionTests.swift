import MCPCore
import TestSupport
import Testing

/// `tools/list` and `tools/call` in every revision over every leg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ToolInteractionTests {
    private static func manyTools(_ count: Int) throws -> MCPServer {
        let server = MCPServer("many", version: "1")
        for number in 0 ..< count {
            try server.register(Tool("tool-\(number)")) { _, _ in .text("\(number)") }
        }
        return server
    }

    // TOOL-02, TOOL-04, PAGE-01, PAGE-02, PAGE-03, CACHE-01, CACHE-11
    @Test(arguments: Setting.all) func pagination(_ setting: Setting) async throws {
        try await withClient(setting, try Self.manyTools(120)) { client in
            var names: [String] = []
            var sizes: [Int] = []
            var cursor: JSONValue?
            repeat {
                let reply = await client.request("tools/list", cursor.map { ["cursor": $0] } ?? [:])
                let tools = try #require(reply.result?["tools"]?.elements)
                names += tools.compactMap { $0["name"]?.string }
                sizes.append(tools.count)
                cursor = reply.result?["nextCursor"]?.value
                #expect(reply.result?["cacheScope"]?.string == (setting.isModern ? "public" : nil))
                #expect(reply.result?["ttlMs"]?.int == (setting.isModern ? 0 : nil))
                #expect(reply.result?["resultType"]?.string == (setting.isModern ? "complete" : nil))
            } while cursor != nil && sizes.count < 10
            #expect(sizes == [100, 20])
            #expect(names == (0 ..< 120).map { "tool-\($0)" })
        }
    }

    // PAGE-04, PAGE-06, ERR-13
    @Test(arguments: Setting.all) func cursorsThatAreNotOurs(_ setting: Setting) async throws {
        try await withClient(setting, try Self.manyTools(120)) { client in
            for cursor in ["", "zz", "100", 5] as [JSONValue] {
                let reply = await client.request("tools/list", ["cursor": cursor])
                #expect(reply.errorCode == -32602)
                #expect(reply.status == setting.status(200))
            }
            // Null is no cursor.
            #expect(await client.request("tools/list", ["cursor": .null]).result != nil)
        }
    }

    // TOOL-05
    @Test(arguments: Setting.all) func description(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let tools = await client.request("tools/list").result?["tools"]?.elements ?? []
            #expect(
                tools.compactMap { $0["name"]?.string }
                    == ["add", "later", "forecast", "fails", "echo", "steps", "wait", "block"])
            let add = try #require(tools.first?.value)
            #expect(add["inputSchema"]?["type"] == "object")
            #expect(add["inputSchema"]?["required"] == ["a"])
            #expect(add["inputSchema"]?["properties"]?["b"]?["description"] == "the second")
            #expect(tools[2]["inputSchema"]?["properties"]?["city"]?["description"]?.string == "City name")
            // TOOL-07
            #expect(
                tools[3]["inputSchema"]?["type"]?.string == "object"
                    && tools[3]["inputSchema"]?["additionalProperties"]?.bool == false)
        }
    }

    // TOOL-11, JRPC-05, JRPC-06, META-08, META-11, LEG-04
    @Test(arguments: Setting.all) func call(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            for (tool, arguments, text) in [
                ("add", ["a": 2, "b": 3], "5"), ("add", ["a": 2], "2"), ("later", ["a": 2], "3"),
                ("block", ["text": "x"], "blocked x"), ("echo", ["text": "ü\n\u{1F600}"], "ü\n\u{1F600}"),
            ] as [(String, JSONObject, String)] {
                let reply = await client.call(tool, arguments, id: "call-\(tool)-\(text)" as JSONValue?)
                #expect(reply.text == text)
                #expect(reply.answer?["id"]?.string == "call-\(tool)-\(text)")
                #expect(reply.answer?["jsonrpc"]?.string == "2.0")
                #expect(reply.result?["isError"] == nil)
                #expect(reply.status == setting.status(200))
                let serverInfo = reply.result?["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"]?
                    .string
                #expect(serverInfo == (setting.isModern ? "test" : nil))
                #expect(reply.result?["resultType"]?.string == (setting.isModern ? "complete" : nil))
            }
        }
    }

    // JRPC-05: the id comes back as it was written.
    @Test(arguments: Setting.all) func idsComeBackAsWritten(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let meta =
                setting.isModern
                ? #","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#
                : ""
            for tool in ["add", "later"] {
                for id in ["7", "7.0", "7e2", "-7", #""7""#, #""\u0041""#, "9223372036854775807"] {
                    let text =
                        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(tool)","arguments":{"a":1}\#(meta)}}"#
                    let value = try JSONValue(parsing: id)
                    let headers =
                        setting.isModern
                        ? [
                            ("MCP-Protocol-Version", setting.version), ("Mcp-Method", "tools/call"),
                            ("Mcp-Name", tool),
                        ]
                        : []
                    let reply = await client.send(text: text, id: value, headers: headers)
                    #expect(reply.answer?["id"]?.bytes == ByteSlice(id))
                }
            }
        }
    }

    // TOOL-12, TOOL-13, TOOL-16
    @Test(arguments: Setting.all) func structured(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.call("forecast", ["city": "Bern", "days": 3])
            let expected: JSONValue = ["city": "Bern", "temperature": 21.5]
            let structured = reply.result?["structuredContent"]?.value
            #expect(structured == (setting.hasStructuredContent ? expected : Optional.none))
            let text = try JSONValue(parsing: reply.text)
            #expect(text == expected)
        }
    }

    // TOOL-18
    @Test(arguments: Setting.all) func failure(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.call("fails")
            #expect(reply.result?["isError"]?.bool == true)
            #expect(reply.text == "b must be positive")
            #expect(reply.status == setting.status(200))
        }
    }

    // TOOL-17, ERR-13
    @Test(arguments: Setting.all) func unknownTool(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            let reply = await client.call("nope")
            #expect(reply.errorCode == -32602)
            #expect(reply.errorMessage?.contains("nope") == true)
            #expect(reply.status == setting.status(200))
            // AMB-14: nothing to compare a header with.
            for params in [[:], ["name": 5], ["name": "add", "arguments": []]] as [JSONObject] {
                #expect(await client.request("tools/call", params).errorCode == -32602)
            }
        }
    }

    // TOOL-18, TOOL-22
    @Test(arguments: Setting.all) func argumentsThatDoNotFit(_ setting: Setting) async throws {
        try await withClient(setting, try TestServer().server) { client in
            for (tool, arguments) in [
                ("add", [:]), ("add", ["a": "x"]), ("add", ["a": 1, "c": 2]), ("later", ["a": 1.5]),
                ("forecast", ["city": 7]),
            ] as [(String, JSONObject)] {
                let reply = await client.call(tool, arguments)
                if setting.argumentErrorsAreResults {
                    #expect(reply.result?["isError"]?.bool == true)
                    #expect(reply.text.contains(tool))
                } else {
                    #expect(reply.errorCode == -32602)
                    #expect(reply.errorMessage?.contains(tool) == true)
                }
                #expect(reply.status == setting.status(200))
            }
        }
    }

    // VER-13, JRPC-22: nothing registered, nothing there.
    @Test(arguments: Setting.all) func nothingRegistered(_ setting: Setting) async throws {
        try await withClient(setting, MCPServer("empty", version: "1")) { client in
            for method in [
                "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list",
                "prompts/list", "prompts/get", "no/such", "completion/complete",
            ] {
                let reply = await client.request(method, ["name": "x", "uri": "x:y"])
                #expect(reply.errorCode == -32601)
                #expect(reply.status == setting.status(404))
            }
        }
    }

    // JRPC-25, CVE-2026-25536: equal ids of different clients never meet.
    @Test(arguments: Setting.all) func equalIDsOfTwoClients(_ setting: Setting) async throws {
        let test = try TestServer()
        try await withServer(setting, test.server) { served in
            let (first, second) = (try await served.client(), try await served.client())
            async let one = first.call("wait", ["name": "one"], id: 1)
            async let two = second.call("wait", ["name": "two"], id: 1)
            #expect(await test.begun("one").wait())
            #expect(await test.begun("two").wait())
            #expect(await second.call("add", ["a": 1], id: 2).text == "1")
            test.release.open()
            #expect(await one.text == "released one")
            #expect(await two.text == "released two")
            #expect(first.answers(to: 1).count == 1 && second.answers(to: 1).count == 1)
        }
    }

    // JRPC-03: one client's id is taken while its request is in flight; over modern HTTP every request stands
    // alone.
    @Test(arguments: Setting.all) func equalIDsOfOneClient(_ setting: Setting) async throws {
        let test = try TestServer()
        try await withClient(setting, test.server) { client in
            async let first = client.call("wait", ["name": "x"], id: 1)
            #expect(await test.begun("x").wait())
            if setting.leg == .http {
                let second = await client.call("add", ["a": 1], id: 1)
                #expect(setting.isModern ? second.text == "1" : second.errorCode == -32600)
            } else if setting.leg == .inMemory {
                #expect(await client.call("add", ["a": 1], id: 1).errorCode == -32600)
            }
            test.release.open()
            #expect(await first.text == "released x")
            // Free again.
            #expect(await client.call("add", ["a": 2], id: 1).text == "2")
        }
    }
}
