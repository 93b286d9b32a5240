import MCPCore
import TestSupport
import Testing

/// What a client does with the schemas of tools.
@Suite("client: schemas", .timeLimit(.minutes(5))) struct ClientSchemaScenarios {
    static let schema: JSONValue = [
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "$defs": [
            "address": [
                "$anchor": "addressDef", "type": "object", "properties": ["street": ["type": "string"]],
            ]
        ],
        "properties": [
            "name": ["type": "string"], "address": ["$ref": "#/$defs/address"],
            "contactMethod": ["type": "string", "enum": ["phone", "email"]],
        ],
        "allOf": [["anyOf": [["required": ["phone"]], ["required": ["email"]]]]],
        "if": ["properties": ["contactMethod": ["const": "phone"]]],
        "then": ["required": ["phone"]], "else": ["required": ["email"]],
        "additionalProperties": false,
    ]

    @Test("json-schema-2020-12-preservation", arguments: ClientScenarios.versions)
    func preservation(_ version: String) async throws {
        let focal: JSONValue = [
            "name": "json_schema_2020_12_tool", "description": "Many keywords", "inputSchema": Self.schema,
        ]
        let echo = MockServer.tool("json_schema_echo", ["schema": ["type": "object"]], required: ["schema"])
        let server = try MockServer(
            version,
            ["tools/list": MockServer.tools(focal, echo), "tools/call": MockServer.text("echoed")])
        try await server.run("json-schema-2020-12-preservation")
        let call = try #require(server.calls("json_schema_echo").first)
        // To the letter, the order of the members included.
        #expect(call.params["arguments"]?["schema"]?.serialized() == Self.schema.serialized())
    }

    /// How the scenario's server, which knows no 2026-07-28, turns a request of it down.
    enum Refusal: CaseIterable, Sendable { case unknownVersion, unknownMethod }

    // The server of this scenario has an older SDK behind it.
    @Test("json-schema-ref-no-deref", arguments: Refusal.allCases)
    func noDereferencing(_ refusal: Refusal) async throws {
        let server = try MockServer("2026-07-28", handshake: "2025-11-25") { heard, server in
            if heard.method == "GET", !heard.head.hasPrefix("GET /mcp") { return .json("{}") }
            if heard.method == "GET" { return .status(404) }
            switch heard.rpcMethod {
            case "server/discover" where refusal == .unknownMethod:
                return .json(
                    #"{"jsonrpc":"2.0","id":\#(heard.id),"error":{"code":-32601,"message":"Method not found"}}"#
                )
            case "tools/list":
                if refusal == .unknownVersion, heard.header("mcp-protocol-version") == "2026-07-28" {
                    return Self.unsupported
                }
                var tool = MockServer.tool("lookup_user")
                tool = [
                    "name": tool["name"] ?? "", "description": "Look up a user profile by id",
                    "inputSchema": [
                        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                        "$defs": ["userId": ["type": "string", "pattern": "^[a-z0-9-]+$"]],
                        "properties": [
                            "id": ["$ref": "#/$defs/userId"],
                            "profile": ["$ref": .string(server.bareURL + "/canary/profile-schema.json")],
                        ],
                        "required": ["id"],
                    ],
                ]
                let result = MockServer.tools(tool).serialized()
                return .events(
                    "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":\(heard.id),\"result\":\(result)}\n\n")
            case "initialize": return nil
            default: return refusal == .unknownVersion && heard.body?["id"] != nil ? Self.unsupported : nil
            }
        }
        try await server.run("json-schema-ref-no-deref")
        #expect(!server.posts("tools/list").isEmpty)
        #expect(server.heard.allSatisfy { $0.head.split(separator: " ").dropFirst().first == "/mcp" })
    }

    private static let unsupported = HTTPPeer.Answer.json(
        #"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Unsupported protocol version"}}"#,
        status: 400)
}
