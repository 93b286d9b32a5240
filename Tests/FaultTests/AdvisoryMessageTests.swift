import MCPCore
import TestSupport
import Testing

/// Advisories about reading messages.
@Suite("advisories: messages", .ownThreads) struct AdvisoryMessageTests {
    @Test("Advisory_CVE_2026_27896") func caseOfKeys() throws {
        let process = try StdioProcess()
        // A proxy sees "now" in "name"; a reader without regard to case would call "echo".
        for key in ["NAME", "Name", "n\u{E0}me", #"\u004eame"#] {
            let message = Message.modern(
                id: "1", "tools/call", #""name":"nope","\#(key)":"echo","arguments":{"text":"x"}"#)
            #expect(try process.ask(message).code == -32602, "\(key)")
        }
        let list = #""method":"tools/list","params":{\#(Message.meta)}"#
        let method = #"{"jsonrpc":"2.0","id":1,"METHOD":"tools/call",\#(list)}"#
        #expect(try process.ask(method)["result"]?["tools"] != nil)
        let folded = Message.modern(id: "1", "tools/call", #""name":"echo","argument\#u{17F}":{"text":"x"}"#)
        #expect(try process.ask(folded).isToolError)
        let capitals = Message.modern(id: "1", "tools/list").replacing(
            "/protocolVersion", with: "/PROTOCOLVERSION")
        // META-10: with capabilities, but without a version.
        #expect(try process.ask(capitals).code == -32602)
        try process.expectAlive()
    }

    @Test("Advisory_GHSA_q382_vc8q_7jhj") func keysWithNUL() throws {
        let process = try StdioProcess()
        let message = Message.modern(
            id: "1", "tools/call",
            #""name":"echo","name\u0000":"add","arguments":{"text":"x"},"arguments\u0000":{"text":"y"}"#)
        #expect(try process.ask(message).text == "x")
        let list = #""method":"tools/list","params":{\#(Message.meta)}"#
        let envelope = #"{"jsonrpc":"2.0","id":1,"method\u0000":"nope",\#(list)}"#
        #expect(try process.ask(envelope)["result"]?["tools"] != nil)
        let doubled = #"{"jsonrpc":"2.0","id":1,"method":"nope",\#(list)}"#
        #expect(try process.ask(doubled).code == -32600)
        let arguments = Message.call(id: "1", "echo", #"{"text":"x","text\u0000":"y"}"#)
        #expect(try process.ask(arguments).isToolError)
        try process.expectAlive()
    }

    @Test("Advisory_CVE_2026_0621") func templatesWithoutBacktracking() throws {
        let template = try URITemplate("x:///{a}/{b}-{c}.{d}{+e}z".replacing("{d}{+e}", with: "{d}/{+e}"))
        let time = threadTime {
            for piece in ["a", "-", ".", "/", "a-", "-.", "./", "%2d"] {
                let address = "x:///" + String(repeating: piece, count: 32_768 / piece.utf8.count)
                #expect(template.match(address) == nil)
            }
        }
        // Backtracking would take years.
        #expect(time < .seconds(5))
    }

    @Test("Advisory_go_be0bd77") func nullAndMissingParams() throws {
        let process = try StdioProcess()
        _ = try process.ask(Message.initialize("2025-11-25"))
        let methods = [
            "initialize", "tools/list", "tools/call", "resources/list", "resources/read",
            "resources/templates/list",
            "prompts/list", "prompts/get", "ping", "server/discover", "logging/setLevel",
            "completion/complete",
        ]
        for method in methods {
            for params in [
                nil, "null", "{}", "[]", "7", #"{"_meta":null}"#, #"{"_meta":7}"#,
                #"{"name":null,"arguments":null,"uri":null,"cursor":null}"#,
            ] {
                let answer = try process.ask(Message.legacy(id: "1", method, params))
                #expect(answer["id"] == 1, "\(method) \(params ?? "none")")
                #expect(answer["result"] != nil || answer.code != nil)
                #expect(answer.code != -32603, "\(method) \(params ?? "none")")
            }
        }
        for method in ["notifications/initialized", "notifications/cancelled", "notifications/progress"] {
            for params in ["", #","params":null"#, #","params":{}"#, #","params":{"requestId":null}"#] {
                try process.send(line: #"{"jsonrpc":"2.0","method":"\#(method)"\#(params)}"#)
            }
        }
        // Only notifications with params that are no object are no messages, and are said to be none.
        var answer = try process.ask(Message.echo(id: "\"end\"", "x"))
        while answer["id"] != "end" {
            #expect(answer.code == -32600)
            answer = try process.answer()
        }
        try process.expectAlive()
    }

    @Test("Advisory_python_2328") func oneInvalidByte() throws {
        let process = try StdioProcess()
        for byte in [UInt8(0x80), 0xC0, 0xFF] {
            try process.send([byte, 0x0A])
            #expect(try process.answer().code == -32700)
            try process.expectAlive()
        }
        try process.finish()
    }

    @Test("Advisory_python_1269") func headDoesNotEndASession() throws {
        let daemon = try HTTPDaemon.shared()
        let session = try daemon.openSession("2025-11-25")
        let connection = try daemon.connect()
        for method in ["HEAD", "GET", "OPTIONS", "PUT"] {
            try connection.send(
                "\(method) /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nMcp-Session-Id: \(session)\r\n\r\n")
            // A stream was not asked for: the request accepts none.
            #expect(
                try connection.response(hasBody: method != "HEAD")?.status == (method == "GET" ? 406 : 405))
            let ping = Post(Message.legacy(id: "1", "ping"), method: nil).with("Mcp-Session-Id", session)
            #expect(try connection.ask(ping).message?["result"] == [:])
        }
    }

    @Test("Advisory_rmcp_825") func malformedLines() throws {
        let process = try StdioProcess()
        for line in ["{", "not json", #"{"jsonrpc":"2.0""#, "[", "\"", "{}{}"] {
            #expect(try process.ask(line).code == -32700, "\(line)")
        }
        try process.expectAlive()
        try process.finish()
    }

    @Test("Advisory_swift_277") func textsHaveOneMeaning() throws {
        let process = try StdioProcess()
        for text in [
            "data:image/png;base64,iVBORw0KGgo=", "data:,x", "=?base64?eA==?=", "file:///etc/passwd", "null",
            "1e400",
            "{\"a\":1}", "%41", "&amp;", "\u{FEFF}x", "e\u{301}", "\u{1F469}\u{200D}\u{1F4BB}",
        ] {
            let quoted = JSONValue.string(text).serialized().dropFirst().dropLast()
            let answer = try process.ask(Message.echo(id: "1", String(quoted)))
            #expect(answer.text.map { Array($0.unicodeScalars) } == Array(text.unicodeScalars))
        }
        try process.finish()
    }
}
