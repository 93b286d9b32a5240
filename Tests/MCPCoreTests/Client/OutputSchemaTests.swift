import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// Structured results against the output schemas that were listed (server/tools "Output Schema").
@Suite(.timeLimit(.minutes(5))) struct OutputSchemaTests {
    private static let tool =
        #"{"name":"t","inputSchema":{},"outputSchema":{"type":"object","properties":"#
        + #"{"o":{"properties":{"n":{"type":"integer","maximum":9}}}},"required":["o"]}}"#

    private static func peer(
        _ result: String, version: String? = nil, schema: String = tool
    ) -> ScriptedTransport {
        let body: @Sendable (ScriptedTransport.Sent) -> [ScriptedTransport.Step] = { sent in
            sent.method == "tools/list"
                ? [Script.tools(schema)] : [Script.result(#"{"content":[],\#(result)}"#)]
        }
        return version.map { Script.legacy($0, body) } ?? Script.modern(body)
    }

    // TOOL-15
    @Test(
        arguments: [
            (#""structuredContent":{"o":{"n":9}}"#, nil),
            (#""structuredContent":{"o":{"n":10}}"#, "/o/n: "),
            (#""structuredContent":{"o":{"n":"1"}}"#, "/o/n: "),
            (#""structuredContent":{}"#, "\"o\""),
            (#""structuredContent":null"#, "object"),
            (#""a":1"#, "structuredContent is missing"),
            // What failed has no shape.
            (#""isError":true"#, nil),
            (#""isError":true,"structuredContent":{"why":1}"#, nil),
        ] as [(String, String?)])
    func checked(_ result: String, _ problem: String?) async throws {
        for version in [nil, "2025-11-25", "2025-06-18"] {
            let client = try await MCPClient.connect(Self.peer(result, version: version).target)
            _ = try await client.listTools()
            let error = await clientError { _ = try await client.callTool("t") }
            #expect((error == nil) == (problem == nil))
            if let problem {
                #expect(error?.kind == .protocolViolation)
                #expect(error?.message == "the result of t does not match its output schema")
                #expect(error?.details.contains { $0.contains(problem) } == true, "\(error?.details ?? [])")
                #expect(error?.result != nil)
            }
            await client.close()
        }
    }

    // TOOL-15: not known, not wanted, not there, not usable, or of the past.
    @Test func notChecked() async throws {
        let wrong = #""structuredContent":{}"#
        let unlisted = try await MCPClient.connect(Self.peer(wrong).target)
        _ = try await unlisted.callTool("t")
        await unlisted.close()

        var off = ClientOptions()
        off.checksOutput = false
        let turnedOff = try await MCPClient.connect(Self.peer(wrong).target, options: off)
        _ = try await turnedOff.listTools()
        _ = try await turnedOff.callTool("t")
        await turnedOff.close()

        let old = try await MCPClient.connect(Self.peer(wrong, version: "2025-03-26").target)
        _ = try await old.listTools()
        _ = try await old.callTool("t")
        await old.close()

        let transport = Self.peer(wrong)
        let changed = try await MCPClient.connect(transport.target)
        _ = try await changed.listTools()
        transport.push(#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)
        _ = try await changed.callTool("t")
        // The result as it came is not judged.
        _ = try await changed.listTools()
        #expect(try await changed.request("tools/call", ["name": "t"])["structuredContent"] != nil)
        await #expect(throws: ClientError.self) { try await changed.callTool("t") }
        await changed.close()
    }

    @Test func aSchemaThatCannotBeUsed() async throws {
        let warnings = Mutex<[String]>([])
        var options = ClientOptions()
        options.trace = { event in
            if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
        }
        let transport = Self.peer(
            #""structuredContent":{}"#, schema: #"{"name":"t","inputSchema":{},"outputSchema":{"type":7}}"#)
        let client = try await MCPClient.connect(transport.target, options: options)
        _ = try await client.listTools()
        for _ in 0 ..< 2 { _ = try await client.callTool("t") }
        #expect(warnings.withLock { $0.count } == 1)
        #expect(warnings.withLock { $0.first?.hasPrefix("results of t are not checked") } == true)
        await client.close()
    }

    // MARK: Bounds

    private static func page(_ numbers: Range<Int>, schemaBytes: Int) -> RawJSON {
        let text = String(repeating: "x", count: schemaBytes)
        return RawJSON([
            "tools": .array(
                numbers.map {
                    ["name": .string("t\($0)"), "outputSchema": ["const": 1, "description": .string(text)]]
                })
        ])
    }

    @Test(.ownThreads) func boundedInNumber() throws {
        let tools = KnownTools()
        tools.learn(
            Self.page(0 ..< KnownTools.maxTools + 1, schemaBytes: 1), isFirst: true, mirrors: true)
        #expect(try tools.outputSchema(of: "t0") != nil)
        #expect(try tools.outputSchema(of: "t\(KnownTools.maxTools)") == nil)
        // A new list takes the place of what was known.
        tools.learn(
            Self.page(KnownTools.maxTools ..< KnownTools.maxTools + 1, schemaBytes: 1), isFirst: true,
            mirrors: true)
        #expect(try tools.outputSchema(of: "t0") == nil)
        #expect(try tools.outputSchema(of: "t\(KnownTools.maxTools)") != nil)
    }

    @Test(.ownThreads) func boundedInBytes() throws {
        let tools = KnownTools()
        for number in 0 ..< 5 {
            tools.learn(
                Self.page(number ..< number + 1, schemaBytes: 2 << 20), isFirst: false, mirrors: false)
        }
        #expect(try (0 ..< 5).filter { try tools.outputSchema(of: "t\($0)") != nil } == [0, 1, 2])
        // The same tool again takes no more room.
        tools.learn(Self.page(0 ..< 1, schemaBytes: 10), isFirst: false, mirrors: false)
        tools.learn(Self.page(4 ..< 5, schemaBytes: 1 << 20), isFirst: false, mirrors: false)
        #expect(try tools.outputSchema(of: "t4") != nil)
    }
}
