import MCPCore
import Synchronization
import TestSupport
import Testing

/// Calls whose arguments are repeated in headers (streamable HTTP "Custom Headers from Tool Parameters").
@Suite(.timeLimit(.minutes(5))) struct MirroredCallTests {
    private static func tool(_ name: String, header: String = "Region", type: String = "string") -> String {
        #"{"name":"\#(name)","inputSchema":{"type":"object","properties":"#
            + #"{"r":{"type":"\#(type)","x-mcp-header":"\#(header)"},"p":{"type":"string"}}}}"#
    }

    private static func fields(_ sent: ScriptedTransport.Sent?) -> [String] {
        (sent?.mirroredArguments ?? []).map { "\($0.name): \($0.value)" }
    }

    // HDR-15, HDR-20, HDR-21: elsewhere than on modern HTTP nothing is repeated.
    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
    func whereItIsDone(_ isHTTP: Bool, _ isModern: Bool) async throws {
        let body: @Sendable (ScriptedTransport.Sent) -> [ScriptedTransport.Step] = { sent in
            sent.method == "tools/list"
                ? [Script.tools(Self.tool("t"))] : [Script.result(Script.done)]
        }
        let transport =
            isModern ? Script.modern(isHTTP: isHTTP, body) : Script.legacy("2025-11-25", isHTTP: isHTTP, body)
        let client = try await MCPClient.connect(transport.target)
        #expect(try await client.listTools().map(\.name) == ["t"])
        _ = try await client.callTool("t", ["r": "z\u{fc}ri", "p": "x"])
        #expect(
            Self.fields(transport.sent.last)
                == (isHTTP && isModern ? ["Mcp-Param-Region: =?base64?esO8cmk=?="] : []))
        _ = try await client.callTool("t", ["r": nil])
        #expect(Self.fields(transport.sent.last) == [])
        _ = try await client.callTool("other", ["r": "x"])
        #expect(Self.fields(transport.sent.last) == [])
        // Also a call that is written by hand.
        _ = try await client.request("tools/call", ["name": "t", "arguments": ["r": "a"]])
        #expect(Self.fields(transport.sent.last).isEmpty != (isHTTP && isModern))
        await client.close()
    }

    // HDR-16, HDR-17, HDR-18, HDR-19: what cannot be followed is left out and told, the others stay.
    @Test(arguments: [true, false]) func invalidToolsAreLeftOut(_ isHTTP: Bool) async throws {
        let transport = Script.modern(isHTTP: isHTTP) { _ in
            [
                Script.tools(
                    Self.tool("empty", header: ""), Self.tool("good"), Self.tool("array", type: "array"),
                    Self.tool("spaced", header: "a b"), #"{"name":"plain","inputSchema":{"type":"object"}}"#)
            ]
        }
        let warnings = Mutex<[String]>([])
        var options = ClientOptions()
        options.trace = { event in
            if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
        }
        let client = try await MCPClient.connect(transport.target, options: options)
        let names = try await client.listTools().map(\.name)
        if isHTTP {
            #expect(names == ["good", "plain"])
            let told = warnings.withLock { $0 }
            #expect(told.count == 3)
            #expect(told.first?.contains("the tool empty is omitted: invalid x-mcp-header") == true)
        } else {
            #expect(names.count == 5)
            #expect(warnings.withLock { $0.isEmpty })
        }
        await client.close()
    }

    // HDR-32
    @Test func numbersAreRepeated() async throws {
        let transport = Script.modern(isHTTP: true) { sent in
            sent.method == "tools/list"
                ? [Script.tools(Self.tool("n", header: "N", type: "number"))] : [Script.result(Script.done)]
        }
        let client = try await MCPClient.connect(transport.target)
        #expect(try await client.listTools().count == 1)
        _ = try await client.callTool("n", ["r": 2.5])
        #expect(Self.fields(transport.sent.last) == ["Mcp-Param-N: 2.5"])
        await client.close()
    }

    // HDR-26: the tools are listed anew once, with all their pages, and the call is sent again.
    @Test func aMissingHeaderIsLearned() async throws {
        let transport = Script.modern(isHTTP: true) { sent in
            switch sent.method {
            case "tools/list":
                return sent.json["params"]?["cursor"] == nil
                    ? [Script.tools(next: "2")] : [Script.tools(Self.tool("t"))]
            default:
                return Self.fields(sent) == ["Mcp-Param-Region: eu"]
                    ? [Script.result(Script.done)] : [Script.error(-32020, status: 400)]
            }
        }
        let client = try await MCPClient.connect(transport.target)
        #expect(try await client.callTool("t", ["r": "eu"]).text == "done")
        #expect(
            transport.methods
                == ["server/discover", "tools/call", "tools/list", "tools/list", "tools/call"])
        #expect(try await client.callTool("t", ["r": "eu"]).text == "done")
        #expect(transport.methods.count == 6)
        await client.close()
    }

    // HDR-26: nothing is sent again that would be refused again.
    @Test(arguments: [true, false]) func aMismatchThatStays(_ canList: Bool) async throws {
        let transport = Script.modern(isHTTP: true) { sent in
            sent.method == "tools/list" && canList
                ? [Script.tools(Self.tool("t"))] : [Script.error(-32020, status: 400)]
        }
        let client = try await MCPClient.connect(transport.target)
        if canList { _ = try await client.listTools() }
        let error = await #expect(throws: MCPError.self) { try await client.callTool("t", ["r": "eu"]) }
        #expect(error?.code == -32020)
        #expect(transport.methods.filter { $0 == "tools/call" }.count == 1)
        #expect(transport.methods.last == "tools/list")
        await client.close()
    }

    // HDR-09, HDR-15: as it stands on the wire.
    @Test func onTheWire() async throws {
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "server/discover": return .result(heard, Script.discovered)
            case "tools/list": return .result(heard, #"{"tools":[\#(Self.tool("t"))]}"#)
            default: return .result(heard, Script.done)
            }
        }
        defer { peer.stop() }
        let client = try await MCPClient.connect(peer.target)
        _ = try await client.listTools()
        _ = try await client.callTool("t", ["r": "a\r\nInjected: 1"])
        _ = try await client.callTool("t", ["r": ""])
        let heard = peer.heard
        #expect(heard.dropLast().last?.header("mcp-param-region") == "=?base64?YQ0KSW5qZWN0ZWQ6IDE=?=")
        #expect(heard.dropLast().last?.header("injected") == nil)
        #expect(heard.last?.header("mcp-param-region") == "")
        #expect(heard.last?.header("mcp-name") == "t")
        await client.close()
    }

    @Test func theProgramCannotSetThem() async throws {
        var options = ClientOptions()
        options.headers = [("mcp-param-region", "eu")]
        let error = await clientError {
            _ = try await MCPClient.connect(.http("http://127.0.0.1:1/mcp"), options: options)
        }
        #expect(error?.kind == .invalidRequest)
    }

    // HDR-15, HDR-23, HDR-26: against our server, listed or not.
    @Test(arguments: [true, false]) func againstOurServer(_ isListed: Bool) async throws {
        let server = MCPServer("s", version: "1")
        let schema: JSONValue = [
            "type": "object",
            "properties": [
                "region": ["type": "string", "x-mcp-header": "Region"],
                "o": ["type": "object", "properties": ["n": ["type": "integer", "x-mcp-header": "Count"]]],
            ],
        ]
        try server.register(Tool("m", inputSchema: schema)) { call, _ in
            .text(call.arguments["region"]?.string ?? "-")
        }
        try await withServer(Setting(leg: .http, version: "2026-07-28"), server) { served in
            let client = try await served.connect()
            if isListed { #expect(try await client.listTools().count == 1) }
            for region in ["eu", "", " ", "\u{e4}\n", "=?base64?eA==?="] {
                let result = try await client.callTool("m", ["region": .string(region), "o": ["n": 42]])
                #expect(result.text == region)
            }
            await client.close()
        }
    }
}
