import MCPCore
import TestSupport
import Testing

/// Texts that are JSON but hold something that must not be taken at its word.
@Suite("faults: JSON content", .ownThreads) struct JSONContentFaults {
    @Test("fault 11: control characters") func fault11() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        for byte: UInt8 in [0x00, 0x01, 0x08, 0x09, 0x0D, 0x1F] {
            let parts = Message.echo(id: "1", "%").split(separator: "%")
            let text = Array(parts[0].utf8) + [byte] + Array(parts[1].utf8)
            try process.send(text + [0x0A])
            #expect(try process.answer().code == -32700, "byte \(byte)")
            #expect(try connection.ask(Post(text, name: "echo")).message?.code == -32700, "byte \(byte)")
        }
        // As an escape it is data like any other …
        let allowed = try process.ask(Message.echo(id: "2", #"a\u0000b"#))
        #expect(allowed.text == "a\u{0}b")
        // … but no part of a name or an address.
        let refused = [
            Message.call(id: "3", #"echo\u0000"#, #"{"text":"x"}"#),
            Message.modern(id: "3", "resources/read", #""uri":"demo:///hello\u0000""#),
            Message.modern(id: "3", "resources/read", #""uri":"demo:///greeting/%00""#),
            Message.modern(id: "3", "prompts/get", #""name":"summarize\u0000","arguments":{"text":"x"}"#),
        ]
        for message in refused {
            let answer = try process.ask(message)
            #expect(answer.code == -32602, "\(message)")
            #expect(answer["id"] == 3)
        }
        // In a header it is the end of the connection.
        try connection.send(
            Array("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Name: ec".utf8) + [0]
                + Array("ho\r\n\r\n".utf8))
        #expect(try connection.response()?.status == 400)
        #expect(connection.closes())
        try process.expectAlive()
        try HTTPDaemon.shared().expectAlive()
    }

    /// A request with a member that is ignored (JRPC-23); its value is the third level of the message.
    private static func carrying(_ value: String) -> String {
        Message.modern(id: "1", "tools/list", #""x":\#(value)"#)
    }

    private static func post(_ message: String) -> Post { Post(message, method: "tools/list") }

    /// `count` containers around `middle`.
    private static func nested(_ count: Int, _ open: String, _ middle: String, _ close: String) -> String {
        String(repeating: open, count: count) + middle + String(repeating: close, count: count)
    }

    @Test("fault 12: nesting", arguments: [("[", "", "]"), (#"{"a":"#, "1", "}")])
    func fault12(_ open: String, _ middle: String, _ close: String) throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        let allowed = Self.carrying(Self.nested(62, open, middle, close))
        #expect(try process.ask(allowed)["result"] != nil)
        #expect(try connection.ask(Self.post(allowed)).status == 200)
        for depth in [63, 64, 100, 10_000, 100_000] {
            let text = Self.carrying(Self.nested(depth, open, middle, close))
            let answer = try process.ask(text)
            #expect(answer.code == -32700)
            #expect(answer.errorText.contains("64"), "\(answer.errorText)")
            #expect(!answer.hasID)
            #expect(try connection.ask(Self.post(text)).message?.code == -32700)
        }
        // A million openings, and nothing else.
        let before = ServerProgram.memory(of: process.pid, "VmHWM")
        #expect(try process.ask(String(repeating: open, count: 1_000_000)).code == -32700)
        if let before, let after = ServerProgram.memory(of: process.pid, "VmHWM") {
            // The line itself, while it comes; nothing for its levels.
            #expect(after - before < 3 * open.utf8.count * 1_000 + 4_096)
        }
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 13: numbers without end and out of range") func fault13() throws {
        let process = try StdioProcess()
        let digits = String(repeating: "7", count: 1_000_000)
        for id in [digits, "1e400", "1e99999", "-1e400"] {
            let answer = try process.ask(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#)
            #expect(answer.code == -32600)
            #expect(!answer.hasID)
        }
        for number in [digits, "1e400", "1e99999", "-1e99999"] {
            let answer = try process.ask(Message.call(id: "5", "add", #"{"a":\#(number),"b":1}"#))
            #expect(answer["id"] == 5)
            #expect(answer.isToolError)
        }
        // Before 2025-11-25 the same is -32602 (TOOL-18).
        let old = try StdioProcess()
        _ = try old.ask(Message.initialize("2025-06-18"))
        let answer = try old.ask(
            Message.legacy(id: "5", "tools/call", #"{"name":"add","arguments":{"a":1e400,"b":1}}"#))
        #expect(answer.code == -32602)
        // Where nobody computes with it, any number is only skipped.
        #expect(try process.ask(Self.carrying(digits))["result"] != nil)
        #expect(try process.ask(Self.carrying("1e99999"))["result"] != nil)
        try process.expectAlive()
    }

    @Test("fault 13: a number that is passed through keeps its text") func fault13PassedThrough() async throws
    {
        let server = MCPServer("test", version: "1")
        server.addTool("same", "Returns its arguments.", schema: #"{"type":"object"}"#) {
            arguments, _, result in
            result.structured(raw: arguments)
        }
        let number = "1.00000000000000000000000000000000000000000001e+0400"
        let answer = await server.handle(Array(Message.call(id: "1", "same", #"{"n":\#(number)}"#).utf8))
        let text = String(decoding: try #require(answer), as: UTF8.self)
        #expect(text.contains(#""structuredContent":{"n":\#(number)}"#))
    }

    @Test("fault 14: the spelling of a numeric id") func fault14() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        for id in [
            "1", "0", "-0", "1.0", "1e2", "1E+2", "100e-2", "9223372036854775807", "-9223372036854775808",
        ] {
            let message = Message.echo(id: id, "x")
            try process.send(line: message)
            let line = String(decoding: try #require(try process.line()), as: UTF8.self)
            #expect(line.contains(#""id":\#(id),"#), "\(line)")
            #expect(line.contains("\"result\""))
            let body = try connection.ask(Post(message, name: "echo")).body
            #expect(String(decoding: body, as: UTF8.self).contains(#""id":\#(id),"#))
        }
        for id in ["9223372036854775808", "-9223372036854775809", "1.5", "1e-1", "1e19", "0.1e0"] {
            let answer = try process.ask(Message.echo(id: id, "x"))
            #expect(answer.code == -32600, "\(id)")
            #expect(!answer.hasID, "\(id)")
            let response = try connection.ask(Post(Message.echo(id: id, "x"), name: "echo"))
            #expect(response.status == 400, "\(id)")
            #expect(response.message?.code == -32600, "\(id)")
            #expect(response.message?.hasID == false, "\(id)")
        }
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 15: an id of another type") func fault15() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        for id in ["null", "true", "false", "[]", "[1]", "{}", #"{"a":1}"#] {
            let answer = try process.ask(Message.echo(id: id, "x"))
            #expect(answer.code == -32600, "\(id)")
            #expect(!answer.hasID, "\(id)")
            let response = try connection.ask(Post(Message.echo(id: id, "x"), name: "echo"))
            #expect(response.status == 400, "\(id)")
            #expect(response.message?.code == -32600, "\(id)")
            #expect(response.message?.hasID == false, "\(id)")
        }
        try process.expectAlive()
        try connection.expectAlive()
        // JRPC-12: up to 2025-06-18 the member is there and null.
        let old = try StdioProcess()
        _ = try old.ask(Message.initialize("2025-06-18"))
        let answer = try old.ask(Message.legacy(id: "[]", "ping"))
        #expect(answer.code == -32600)
        #expect(answer.hasID)
        #expect(answer["id"] == .null)
        #expect(try old.ask("}")["id"] == .null)
    }

    @Test("fault 16: the length of a textual id") func fault16() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        for id in ["", "é", String(repeating: "i", count: 256)] {
            let message = Message.echo(id: #""\#(id)""#, "x")
            #expect(try process.ask(message)["id"] == .string(id))
            #expect(try connection.ask(Post(message, name: "echo")).message?["id"] == .string(id))
        }
        for count in [257, 1_000_000] {
            let message = Message.echo(id: #""\#(String(repeating: "i", count: count))""#, "x")
            let answer = try process.ask(message)
            #expect(answer.code == -32600)
            #expect(!answer.hasID)
            let response = try connection.ask(Post(message, name: "echo"))
            #expect(response.status == 400)
            #expect(response.message?.code == -32600)
        }
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 17: a member of the envelope twice, also in escaped spelling") func fault17() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        let doubled = [
            #""method":"tools/list""#, #""id":1"#, #""jsonrpc":"2.0""#, #""params":{\#(Message.meta)}"#,
            #""meth\u006fd":"tools/list""#, #""\u0069d":1"#, #""\u006A\u0073onrpc":"2.0""#,
            #""p\u0061rams":{\#(Message.meta)}"#, #""params":[]"#, #""id":null"#,
        ]
        for member in doubled {
            for message in [
                #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{\#(Message.meta)},\#(member)}"#,
                #"{\#(member),"jsonrpc":"2.0","id":1,"method":"tools/list","params":{\#(Message.meta)}}"#,
            ] {
                let answer = try process.ask(message)
                #expect(answer.code == -32600, "\(member)")
                let response = try connection.ask(Post(message, method: "tools/list"))
                #expect(response.status == 400, "\(member)")
                #expect(response.message?.code == -32600, "\(member)")
            }
        }
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 18: a key of the arguments twice") func fault18() throws {
        let process = try StdioProcess()
        for arguments in [#"{"text":"a","text":"b"}"#, #"{"text":"a","t\u0065xt":"b"}"#] {
            let answer = try process.ask(Message.call(id: "1", "echo", arguments))
            #expect(answer.isToolError, "\(arguments)")
            #expect(answer["id"] == 1)
        }
        let old = try StdioProcess()
        _ = try old.ask(Message.initialize("2025-06-18"))
        let params = #"{"name":"echo","arguments":{"text":"a","text":"b"}}"#
        #expect(try old.ask(Message.legacy(id: "1", "tools/call", params)).code == -32602)
        try process.expectAlive()
    }

    @Test("fault 18: of keys that no schema lists the last wins") func fault18LastWins() async throws {
        let server = MCPServer("test", version: "1")
        server.addTool("x", "Returns x.", schema: #"{"type":"object"}"#) { arguments, _, result in
            result.text(arguments["x"])
        }
        let answer = await server.handle(Array(Message.call(id: "1", "x", #"{"x":"a","x":"b"}"#).utf8))
        #expect(try JSONValue(parsing: try #require(answer)).text == "b")
    }

    @Test("fault 19: keys that only look alike") func fault19() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        // U+017F folds to s, which is not in "method", so "jsonrpc" and "arguments" have look-alikes too.
        let keys = ["METHOD", "Method", #"method\u0000"#, " method", "method ", "ｍethod"]
        for key in keys {
            let message = #"{"jsonrpc":"2.0","id":1,"\#(key)":"tools/list","params":{\#(Message.meta)}}"#
            let answer = try process.ask(message)
            #expect(answer.code == -32600, "\(key)")
            #expect(answer["id"] == 1, "\(key)")
            let response = try connection.ask(Post(message, method: "tools/list"))
            #expect(response.status == 400, "\(key)")
            #expect(response.message?.code == -32600, "\(key)")
        }
        for key in ["j\u{17F}onrpc", "JSONRPC", #"j\u017fonrpc"#] {
            let message = #"{"\#(key)":"2.0","id":1,"method":"tools/list","params":{\#(Message.meta)}}"#
            #expect(try process.ask(message).code == -32600, "\(key)")
        }
        // Look-alikes of members inside are unknown members too.
        let echo = Message.modern(id: "1", "tools/call", #""name":"echo","argument\u017f":{"text":"x"}"#)
        #expect(try process.ask(echo).isToolError)
        // Beside the true members they do nothing.
        let both =
            #"{"METHOD":"x","jsonrpc":"2.0","id":1,"method":"tools/list","params":{\#(Message.meta)},"ID":2}"#
        #expect(try process.ask(both)["result"]?["tools"] != nil)
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 20: very many members and elements") func fault20() throws {
        let members = (0 ..< 300_000).map { #""k\#($0)":0"# }.joined(separator: ",")
        let elements = String(repeating: "0,", count: 999_999) + "0"
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        let clock = ContinuousClock()
        for text in ["{\(members)}", "[\(elements)]"] {
            let message = Self.carrying(text)
            let start = clock.now
            #expect(try process.ask(message)["result"] != nil)
            #expect(try connection.ask(Self.post(message)).message?["result"] != nil)
            // Linear; the bound only tells it from quadratic.
            #expect(clock.now - start < .seconds(15))
        }
        // Where a schema has to look at all of them, the complaint stays short.
        let refused = try connection.ask(Post(Message.call(id: "1", "echo", "{\(members)}"), name: "echo"))
        #expect(refused.message?.isToolError == true)
        #expect(refused.body.count < 16_384)
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 21: a long string of escapes") func fault21() throws {
        let daemon = try HTTPDaemon()
        let connection = try daemon.connect()
        try connection.expectAlive()
        let before = ServerProgram.memory(of: daemon.pid, "VmHWM")
        let count = (4 << 20) - 1024
        let body = Message.echo(id: "1", String(repeating: #"\u0041"#, count: count / 6))
        let response = try connection.ask(Post(body, name: "echo"))
        #expect(response.status == 200)
        #expect(response.message?.text?.utf8.count == count / 6)
        if let before, let after = ServerProgram.memory(of: daemon.pid, "VmHWM") {
            // At most three times the body, and the pages of the allocator.
            #expect((after - before) * 1024 < 3 * body.utf8.count + (2 << 20), "\(after - before) KiB")
        }
        try connection.expectAlive()
    }

    @Test(
        "fault 22: a handler returns a value that is too deep",
        arguments: ["now", "later", "structured", "meta"])
    func fault22(_ tool: String) async throws {
        let server = MCPServer("test", version: "1")
        let deep = (0 ..< 200).reduce(JSONValue.null) { value, _ in .array([value]) }
        try server.registerRaw(Tool("now")) { _, _, out in try out.whole(.structured(deep)) }
        try server.register(Tool("later")) { _, _ in .structured(deep) }
        server.addTool("structured", "") { () -> JSONValue in deep }
        try server.register(Tool("meta")) { _, _ in
            var result = CallToolResult.text("x")
            result.meta = ["deep": deep]
            return result
        }
        try await LocalServer.serve(server) { port in
            let connection = try WireConnection(port: port)
            let response = try connection.ask(Post(Message.call(id: "1", tool, "{}"), name: tool))
            #expect(response.status == 200)
            #expect(response.answer?.code == -32603, "\(response)")
            #expect(response.answer?["id"] == 1)
            #expect(
                try connection.ask(Post(Message.modern(id: "2", "tools/list"), method: "tools/list")).status
                    == 200)
        }
    }
}
