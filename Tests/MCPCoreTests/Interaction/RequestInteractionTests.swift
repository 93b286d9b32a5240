import MCPCore
import TestSupport
import Testing

/// What holds for every request, in every revision over every leg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RequestInteractionTests {
    private static let prefix = "io.modelcontextprotocol/"

    /// A server that says what it knows of a request.
    private static func server() throws -> MCPServer {
        let server = MCPServer("who", version: "1")
        try server.register(Tool("who", inputSchema: ["type": "object"])) { _, context in
            let meta = context.meta
            return .text(
                "\(context.clientInfo?.name ?? "nobody") \(meta?["traceparent"]?.string ?? "untraced")")
        }
        try server.register(Tool("broken", inputSchema: ["type": "object"])) { _, _ in
            throw MCPError.internalError("The shelf is empty")
        }
        try server.register(Resource("mem://folder", name: "folder")) { _ in
            [.text("a", uri: "mem://folder/a"), .blob([1], uri: "mem://folder/b")]
        }
        return server
    }

    // JRPC-10, ERR-01, ERR-12
    @Test(arguments: Setting.all) func errors(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            var replies = [
                (-32601, await client.request("no/such")), (-32602, await client.call("none")),
                (-32603, await client.call("broken")),
                (-32600, await client.send(text: #"{"jsonrpc":"1.0","id":8,"method":"tools/list"}"#, id: 8)),
            ]
            // On stdio an answer without an id belongs to no request that could wait for it.
            if setting.leg != .stdio { replies.append((-32700, await client.send(text: "{"))) }
            for (code, reply) in replies {
                #expect(reply.errorCode == code)
                let error = try #require(reply.answer?["error"])
                #expect(error["code"]?.kind == .number && error["message"]?.kind == .string)
                let message = error["message"]?.string ?? ""
                #expect((5 ... 160).contains(message.count), "\(message)")
                #expect(!message.contains("\n") && message.last != ".", "\(message)")
                #expect(reply.answer?["result"] == nil)
            }
        }
    }

    // JRPC-24, META-08, META-12, META-16, META-19, VER-02: each request stands alone.
    @Test(arguments: Setting.modern) func nothingIsRemembered(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            func who(_ meta: JSONObject) async -> RawReply {
                await client.request("tools/call", ["name": "who", "_meta": .object(meta)])
            }
            let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            let info: JSONValue = ["name": "curl", "version": "8"]
            #expect(await who([Self.prefix + "clientInfo": info]).text == "curl untraced")
            #expect(await who([:]).text == "nobody untraced")
            #expect(await who(["traceparent": .string(trace)]).text == "nobody \(trace)")
            // What is reserved and unknown may have any value.
            #expect(await who([Self.prefix + "later": [1, [:]]]).text == "nobody untraced")
            // Neither a version that is not served nor a name changes what others get.
            let plain = await client.request("tools/list")
            let wrong = await client.send(
                text: #"{"jsonrpc":"2.0","id":50,"method":"tools/list","params":{"_meta":"#
                    + #"{"\#(Self.prefix)protocolVersion":"2031-01-01","#
                    + #""\#(Self.prefix)clientCapabilities":{}}}}"#, id: 50,
                headers: [("MCP-Protocol-Version", "2031-01-01"), ("Mcp-Method", "tools/list")])
            #expect(wrong.errorCode == MCPError.unsupportedProtocolVersionCode)
            let named = await client.request("tools/list", ["_meta": [Self.prefix + "clientInfo": info]])
            #expect(named.result?["tools"] == plain.result?["tools"] && plain.result != nil)
        }
    }

    // TOOL-03
    @Test(arguments: Setting.all) func theListIsEverybodys(_ setting: Setting) async throws {
        try await withServer(setting, try Self.server()) { served in
            let first = try await served.client()
            _ = await first.call("who")
            let second = try await served.client()
            let lists = [await first.request("tools/list"), await second.request("tools/list")]
            #expect(lists[0].result != nil && lists[0].result == lists[1].result)
        }
    }

    // RES-05
    @Test(arguments: Setting.all) func severalContents(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            let reply = await client.request("resources/read", ["uri": "mem://folder"])
            let contents = reply.result?["contents"]?.elements ?? []
            #expect(contents.map { $0["uri"]?.string } == ["mem://folder/a", "mem://folder/b"])
            #expect(contents.map { $0["text"]?.string } == ["a", nil])
            #expect(contents.map { $0["blob"]?.string } == [nil, "AQ=="])
        }
    }

    // TASKL-09: tasks of 2025-11-25 are not offered, and who asks for one gets the result.
    @Test(arguments: Setting.all.filter { $0.version == "2025-11-25" })
    func experimentalTasksAreIgnored(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            let reply = await client.request("tools/call", ["name": "who", "task": ["ttl": 1000]])
            #expect(reply.text == "nobody untraced")
            #expect(reply.result?["task"] == nil)
        }
    }
}
