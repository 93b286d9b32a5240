import MCPCore
import Synchronization
import TestSupport
import Testing

/// Arguments that HTTP requests repeat in headers, in every revision over every leg.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MirroredArgumentTests {
    private static let schema: JSONValue = [
        "type": "object",
        "properties": [
            "region": ["type": "string", "maxLength": 8, "x-mcp-header": "Region"],
            "plain": ["type": "string"],
        ],
    ]

    private static func server(_ calls: Counter = Counter()) throws -> MCPServer {
        let server = MCPServer("mirror", version: "1")
        try server.register(Tool("m", inputSchema: schema)) { call, _ in
            calls.increment()
            return .text(call.arguments["region"]?.string ?? "-")
        }
        try server.registerRaw(Tool("r", inputSchema: schema)) { arguments, _, out in
            calls.increment()
            out.text(arguments["region"]?.string ?? "-")
        }
        return server
    }

    private static func call(
        _ client: RawClient, _ tool: String, _ arguments: String, _ fields: [(String, String)] = []
    ) async -> RawReply {
        let isModern = client.setting.isModern
        let meta =
            isModern
            ? #","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#
            : ""
        let id = client.nextID()
        let text =
            #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)\#(meta)}}"#
        let standard =
            isModern
            ? [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)] : []
        return await client.send(text: text, id: id, headers: standard + fields)
    }

    // HDR-14
    @Test(arguments: Setting.all) func theAnnotationIsListedAsItIs(_ setting: Setting) async throws {
        try await withClient(setting, try Self.server()) { client in
            let tools = await client.request("tools/list").result?["tools"]
            #expect(tools?[0]?["inputSchema"]?.value == Self.schema)
        }
    }

    // HDR-15, HDR-22, HDR-23: elsewhere than on modern HTTP nothing is mirrored.
    @Test(arguments: Setting.all) func missingHeader(_ setting: Setting) async throws {
        let calls = Counter()
        try await withClient(setting, try Self.server(calls)) { client in
            for tool in ["m", "r"] {
                let reply = await Self.call(client, tool, #"{"region":"eu"}"#)
                if setting.leg == .http, setting.isModern {
                    #expect(reply.errorCode == -32020)
                    #expect(reply.status == 400)
                    #expect(reply.headers["content-type"] == "application/json")
                } else {
                    #expect(reply.text == "eu")
                }
                #expect(await Self.call(client, tool, #"{"region":null}"#).errorCode != -32020)
                #expect(await Self.call(client, tool, "{}").text == "-")
            }
            #expect(calls.value == (setting.leg == .http && setting.isModern ? 2 : 4))
        }
    }

    // HDR-11, HDR-12, HDR-23, HDR-27, fixtures 5.5
    @Test func overHTTP() async throws {
        try await withClient(Setting(leg: .http, version: "2026-07-28"), try Self.server()) { client in
            for (value, header, expected) in [
                ("eu", "eu", "eu"), ("Hello", "=?base64?SGVsbG8=?=", "Hello"),
                ("\u{e4}", "=?base64?w6Q=?=", "\u{e4}"),
                ("SGVs?=", "SGVs?=", "SGVs?="), ("=?base64", "=?base64", "=?base64"),
                ("eu", "us", nil), ("eu", "=?base64?SGVsbG8?=", nil), ("eu", "=?base64?SGVs!!!bG8=?=", nil),
            ] as [(String, String, String?)] {
                for tool in ["m", "r"] {
                    let reply = await Self.call(
                        client, tool, #"{"region":"\#(value)"}"#,
                        [("Mcp-Param-Region", header), ("Mcp-Param-Unknown", "?")])
                    if let expected {
                        #expect(reply.text == expected)
                        #expect(reply.status == 200)
                    } else {
                        #expect(reply.errorCode == -32020)
                        #expect(reply.status == 400)
                    }
                }
            }
            let twice = await Self.call(
                client, "m", #"{"region":"eu"}"#, [("Mcp-Param-Region", "eu"), ("mcp-param-region", "eu")])
            #expect(twice.errorCode == -32020)
            // Table 2, steps 14 and 15: the headers come before the schema.
            let long = #"{"region":"123456789"}"#
            #expect(await Self.call(client, "m", long).errorCode == -32020)
            let result = await Self.call(client, "m", long, [("Mcp-Param-Region", "123456789")])
            #expect(result.result?["isError"]?.bool == true)
            // A tool that does not exist has no plan.
            #expect(await Self.call(client, "none", long).errorCode == -32602)
        }
    }
}
