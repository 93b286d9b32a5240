import MCPCore
import Synchronization
import TestSupport
import Testing

/// The typed forms of `tool`, and what becomes of what they return and throw.
@Suite(.timeLimit(.minutes(5))) struct TypedToolTests {
    struct Point: Codable, Sendable, Equatable {
        var x: Int
        var y: Int?
    }

    enum Unit: String, Codable, CaseIterable, Sendable { case metric, imperial }

    struct SecretError: Error, CustomStringConvertible {
        let description = "password=hunter2 at /etc/shadow"
    }

    private static func call(
        _ server: MCPServer, _ tool: String, _ arguments: JSONObject = [:], version: String = "2026-07-28"
    ) async throws -> RawReply {
        var reply = RawReply()
        try await withClient(.inMemory(version), server) { client in
            reply = await client.call(tool, arguments)
        }
        return reply
    }

    private static func server(_ options: ServerOptions = ServerOptions()) -> MCPServer {
        MCPServer("typed", version: "1", options: options)
    }

    // MARK: Arguments

    @Test func parameterPacks() async throws {
        let server = Self.server()
        server.addTool("none", "") { "none" }
        server.addTool("one", "", Argument("p")) { (p: Point) in "\(p.x)" }
        server.addTool("many", "", Argument("a"), Argument("b"), Argument("c"), Argument("d"), Argument("e"))
        {
            (a: Int, b: String?, c: [Double], d: Bool, e: Unit?) in
            "\(a) \(b ?? "-") \(c) \(d) \(e?.rawValue ?? "-")"
        }
        #expect(try await Self.call(server, "none").text == "none")
        #expect(try await Self.call(server, "one", ["p": ["x": 4]]).text == "4")
        let all: JSONObject = ["a": 1, "b": "t", "c": [1, 2.5], "d": true, "e": "metric"]
        #expect(try await Self.call(server, "many", all).text == "1 t [1.0, 2.5] true metric")
        let few: JSONObject = ["a": 1, "c": [], "d": false]
        #expect(try await Self.call(server, "many", few).text == "1 - [] false -")
        for wrong in [
            ["a": 1.5, "c": [], "d": true], ["a": 1, "c": ["x"], "d": true], ["a": 1, "c": [], "d": 1],
            ["a": 1, "c": [], "d": true, "e": "imp"], ["c": [], "d": true],
            ["a": 1, "c": [], "d": true, "z": 1],
        ] as [JSONObject] {
            let reply = try await Self.call(server, "many", wrong)
            #expect(reply.result?["isError"]?.bool == true)
        }
    }

    @Test func schemasOfParameterPacks() async throws {
        let server = Self.server()
        server.addTool(
            "t", "Tries", Argument("a", "first"), Argument("e"), Argument("o"),
            annotations: ToolAnnotations(readOnlyHint: true)
        ) { (a: Int, e: Unit, o: Int?) in "x" }
        try await withClient(.inMemory(), server) { client in
            let tool = try #require(await client.request("tools/list").result?["tools"]?[0]?.value)
            #expect(
                tool["inputSchema"] == [
                    "type": "object",
                    "properties": [
                        "a": ["type": "integer", "description": "first"],
                        "e": ["type": "string", "enum": ["metric", "imperial"]],
                        "o": ["type": ["integer", "null"]],
                    ],
                    "required": ["a", "e"], "additionalProperties": false,
                ])
            #expect(tool["description"] == "Tries")
            #expect(tool["annotations"] == ["readOnlyHint": true])
        }
    }

    @Test func codable() async throws {
        let server = Self.server()
        server.addTool("move", "", describe: ["x": "East"]) { (point: Point, context) in
            Point(x: point.x + 1, y: context.protocolVersion == .newest ? 9 : nil)
        }
        let reply = try await Self.call(server, "move", ["x": 1, "y": 5])
        #expect(reply.result?["structuredContent"]?.value == ["x": 2, "y": 9])
        #expect(reply.text == #"{"x":2,"y":9}"#)
        #expect(try await Self.call(server, "move", ["y": 5]).result?["isError"]?.bool == true)
    }

    @Test func raw() async throws {
        let server = Self.server()
        server.addTool("raw", "", schema: #"{"type":"object"}"#) { arguments, context, out in
            out.text(arguments["t"])
            out.content(.image([1, 2], mimeType: "image/png"))
            try out.structured(["n": arguments["n"]?.int ?? 0])
            #expect(!context.isCancelled)
        }
        let reply = try await Self.call(server, "raw", ["t": "a\"b", "n": 3])
        #expect(reply.result?["content"]?[0]?.value == ["type": "text", "text": "a\"b"])
        #expect(
            reply.result?["content"]?[1]?.value == ["type": "image", "data": "AQI=", "mimeType": "image/png"])
        #expect(reply.result?["structuredContent"]?.value == ["n": 3])
    }

    // MARK: Results

    @Test(arguments: Setting.versions) func results(_ version: String) async throws {
        let server = Self.server()
        server.addTool("result", "", Argument("later")) { (later: Bool?) in
            CallToolResult(
                content: [.text("a"), .text("b")], structuredContent: ["s": 1], isError: true,
                meta: ["com.example/k": 5])
        }
        server.addTool("resultLater", "") { () async in
            CallToolResult(content: [.text("a")], meta: ["com.example/k": 5])
        }
        server.addTool("block", "") { ContentBlock.text("block") }
        server.addTool("blocks", "") { [ContentBlock.text("1"), .text("2")] }
        server.addTool("number", "") { 42 }
        server.addTool("array", "") { [1, 2, 3] }
        server.addTool("object", "") { Point(x: 1) }
        let result = try await Self.call(server, "result", version: version)
        #expect(result.text == "a\nb")
        #expect(result.result?["isError"]?.bool == true)
        #expect(result.result?["structuredContent"]?.value == (version >= "2025-06-18" ? ["s": 1] : .none))
        // Foreign data goes out with the result, whatever form the tool has (META-18).
        for tool in ["result", "resultLater"] {
            let reply = try await Self.call(server, tool, version: version)
            #expect(reply.result?["_meta"]?["com.example/k"]?.int == 5)
        }
        #expect(try await Self.call(server, "block", version: version).text == "block")
        #expect(try await Self.call(server, "blocks", version: version).text == "1\n2")
        // TOOL-12, TOOL-13, TOOL-16: the JSON is always there as text.
        for (tool, text) in [("number", "42"), ("array", "[1,2,3]"), ("object", #"{"x":1}"#)] {
            let reply = try await Self.call(server, tool, version: version)
            #expect(reply.text == text)
            let isShown = tool == "object" ? version >= "2025-06-18" : version >= "2026-07-28"
            #expect(
                reply.result?["structuredContent"]?.value == (isShown ? try JSONValue(parsing: text) : .none))
        }
    }

    // MARK: Errors

    // TOOL-17, TOOL-18, SEC-11
    @Test(arguments: ["now", "later", "blocking"]) func thrownErrors(_ kind: String) async throws {
        let lines = Mutex<[String]>([])
        var options = ServerOptions()
        options.log = { line in lines.withLock { $0.append(line) } }
        let server = Self.server(options)
        let errors: [String: any Error & Sendable] = [
            "tool": ToolError("try again"), "mcp": MCPError(code: -7, message: "m", data: ["d": 1]),
            "secret": SecretError(),
        ]
        for (name, error) in errors {
            switch kind {
            case "now": server.addTool(name, "") { () throws -> String in throw error }
            case "later": server.addTool(name, "") { () async throws -> String in throw error }
            default: try server.registerBlocking(Tool(name)) { _, _ in throw error }
            }
        }
        let tool = try await Self.call(server, "tool")
        #expect(tool.result?["isError"]?.bool == true)
        #expect(tool.text == "try again")
        let mcp = try await Self.call(server, "mcp")
        #expect(mcp.answer?["error"]?.value == ["code": -7, "message": "m", "data": ["d": 1]])
        let secret = try await Self.call(server, "secret")
        #expect(secret.result?["isError"]?.bool == true)
        #expect(secret.text == "secret failed")
        #expect(lines.withLock { $0 }.contains { $0.contains("hunter2") })
    }

    /// What was written before an error is thrown away with the error's answer.
    @Test func errorAfterWriting() async throws {
        let server = Self.server()
        server.addTool("half", "", schema: #"{"type":"object"}"#) { _, _, out in
            out.text("half of it")
            try out.structured(["a": 1])
            throw ToolError("no")
        }
        let reply = try await Self.call(server, "half")
        #expect(reply.text == "no")
        #expect(reply.result?["structuredContent"] == nil)
        #expect(reply.result?["isError"]?.bool == true)
    }

    // TOOL-14: what does not fit the output schema never leaves.
    @Test(arguments: Setting.versions, ["now", "later"])
    func outputSchema(_ version: String, _ kind: String) async throws {
        let server = Self.server()
        let schema: JSONValue = [
            "type": "object", "properties": ["n": ["type": "integer"]], "required": ["n"],
        ]
        let results: [String: CallToolResult] = [
            "good": .structured(["n": 1]), "wrong": .structured(["n": "x"]), "absent": .text("no structure"),
            "failed": .error("it failed"), "array": .structured([1]),
        ]
        for (name, result) in results {
            let tool = Tool(name, outputSchema: schema)
            if kind == "now" {
                try server.registerRaw(tool) { _, _, out in try out.whole(result) }
            } else {
                try server.register(tool) { _, _ in result }
            }
        }
        #expect(try await Self.call(server, "good", version: version).text == #"{"n":1}"#)
        #expect(try await Self.call(server, "failed", version: version).result?["isError"]?.bool == true)
        for name in ["wrong", "absent", "array"] {
            let reply = try await Self.call(server, name, version: version)
            // A client that knows no output schemas has the text, which fits.
            #expect(reply.errorCode == (version >= "2025-06-18" ? -32603 : nil))
            #expect(version < "2025-06-18" || reply.errorMessage?.contains(name) == true)
        }
    }

    /// A tool whose result is no object still works for clients that know only objects.
    @Test(arguments: Setting.versions) func outputSchemaOfAnArray(_ version: String) async throws {
        let server = Self.server()
        try server.registerRaw(Tool("list", outputSchema: ["type": "array"])) { _, _, out in
            try out.structured([1, 2])
        }
        let reply = try await Self.call(server, "list", version: version)
        #expect(reply.text == "[1,2]")
        #expect(reply.result?["structuredContent"]?.value == (version >= "2026-07-28" ? [1, 2] : .none))
    }

    // Fault 22
    @Test(arguments: ["now", "later", "typed"]) func resultsThatAreTooDeep(_ kind: String) async throws {
        let server = Self.server()
        var deep = JSONValue.null
        for _ in 0 ..< 500 { deep = [deep] }
        let value: JSONValue = ["a": deep]
        switch kind {
        case "now":
            server.addTool("deep", "", schema: #"{"type":"object"}"#) { _, _, out in try out.structured(value)
            }
        case "later": try server.register(Tool("deep")) { _, _ in CallToolResult(structuredContent: value) }
        default: server.addTool("deep", "") { value }
        }
        server.addTool("ok", "") { "ok" }
        try await withClient(.inMemory(), server) { client in
            let reply = await client.call("deep")
            #expect(reply.errorCode == -32603 || reply.result?["isError"]?.bool == true)
            #expect(reply.result?["structuredContent"] == nil)
            #expect(await client.call("ok").text == "ok")
        }
    }
}
