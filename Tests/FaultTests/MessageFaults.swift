import MCPCore
import TestSupport
import Testing

/// JSON that is no message, or a message at the wrong time.
@Suite("faults: messages", .ownThreads) struct MessageFaults {
    @Test("fault 23: the wrong version of JSON-RPC") func fault23() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        for version in [nil, "\"1.0\"", "\"2\"", "2.0", "\"2.00\"", "null", "\"2.0 \""] {
            let member = version.map { #""jsonrpc":\#($0),"# } ?? ""
            let message = #"{\#(member)"id":1,"method":"tools/list","params":{\#(Message.meta)}}"#
            let answer = try process.ask(message)
            #expect(answer.code == -32600, "\(version ?? "none")")
            #expect(answer["id"] == 1, "\(version ?? "none")")
            let response = try connection.ask(Post(message, method: "tools/list"))
            #expect(response.status == 400)
            #expect(response.message?.code == -32600)
            #expect(response.message?["id"] == 1)
        }
        for text in ["1", "null", "\"ping\"", "true", "{}"] {
            #expect(try process.ask(text).code == -32600, "\(text)")
            #expect(try connection.ask(Post(text)).message?.code == -32600, "\(text)")
        }
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 24: a batch where there are none") func fault24() throws {
        let batch = "[\(Message.legacy(id: "1", "ping")),\(Message.legacy(id: "2", "ping"))]"
        let connection = try HTTPDaemon.shared().connect()
        for version in [nil, "2024-11-05", "2025-06-18", "2025-11-25"] {
            let process = try StdioProcess()
            if let version { _ = try process.ask(Message.initialize(version)) }
            for text in [batch, "[]", "[1]"] {
                let answer = try process.ask(text)
                #expect(answer.code == -32600, "\(version ?? "none"): \(text)")
                #expect(answer["id"] ?? .null == .null)
            }
            try process.expectAlive()
        }
        for text in [batch, "[]"] {
            let response = try connection.ask(Post(text))
            #expect(response.status == 400)
            #expect(response.message?.code == -32600)
            #expect(response.message?.hasID == false)
        }
        try connection.expectAlive()
    }

    @Test("fault 24: batches of 2025-03-26") func fault24Batches() throws {
        let process = try StdioProcess()
        _ = try process.ask(Message.initialize("2025-03-26"))
        let notification = #"{"jsonrpc":"2.0","method":"notifications/x"}"#
        let served = try process.ask(
            "[\(Message.legacy(id: "1", "ping")),\(notification),\(Message.legacy(id: "2", "x")),7]")
        let answers = try #require(served.arrayValue)
        #expect(answers.count == 3)
        #expect(answers.first { $0["id"] == 1 }?["result"] != nil)
        #expect(answers.first { $0["id"] == 2 }?.code == -32601)
        #expect(answers.first { $0["id"] == .null }?.code == -32600)
        // Only notifications: no answer at all.
        try process.send(line: "[\(notification)]")
        #expect(try process.ask("[]").code == -32600)
        let pings = (0 ..< 65).map { Message.legacy(id: "\($0)", "ping") }
        let all = try process.ask("[\(pings.dropLast().joined(separator: ","))]")
        #expect(all.arrayValue?.count == 64)
        #expect(try process.ask("[\(pings.joined(separator: ","))]").code == -32600)
        // LIFE-09
        let inside = try process.ask("[\(Message.initialize("2025-03-26", id: "5"))]")
        #expect(inside[0]?.code == -32600)
        // The same in a session over HTTP, where some answers come later than others.
        let daemon = try HTTPDaemon.shared()
        let session = try daemon.openSession("2025-03-26")
        func post(_ text: String) throws -> WireResponse {
            try daemon.ask(Post(text, method: nil).with("Mcp-Session-Id", session))
        }
        let read = Message.legacy(id: "3", "resources/read", #"{"uri":"demo:///hello"}"#)
        let mixed = try post("[\(read),\(Message.legacy(id: "4", "ping")),\(read)]")
        #expect(mixed.status == 200)
        let parts = try #require(mixed.answer?.arrayValue)
        #expect(parts.count == 3)
        #expect(parts.filter { $0["id"] == 3 }.contains { $0["result"] != nil })
        #expect(parts.first { $0["id"] == 4 }?["result"] == [:])
        let silent = try post("[\(notification)]")
        #expect(silent.status == 202)
        #expect(silent.body.isEmpty)
        #expect(try post("[]").message?.code == -32600)
        try process.expectAlive()
    }

    @Test("fault 25: params of another type, or none") func fault25() throws {
        let process = try StdioProcess()
        _ = try process.ask(Message.initialize("2025-11-25"))
        for params in ["[]", "[1]", "null", "1", "\"x\"", "true"] {
            for method in ["ping", "tools/call"] {
                let answer = try process.ask(Message.legacy(id: "3", method, params))
                #expect(answer.code == -32600, "\(method) \(params)")
                #expect(answer["id"] == 3, "\(method) \(params)")
            }
        }
        for method in ["tools/call", "resources/read", "prompts/get"] {
            for params in [nil, "{}"] {
                let answer = try process.ask(Message.legacy(id: "4", method, params))
                #expect(answer.code == -32602, "\(method)")
                #expect(answer["id"] == 4)
            }
        }
        for members in [
            #""name":7"#, #""name":null"#, #""name":"echo","arguments":[]"#,
            #""name":"echo","arguments":"x""#,
        ] {
            #expect(
                try process.ask(Message.modern(id: "5", "tools/call", members)).code == -32602, "\(members)")
        }
        let connection = try HTTPDaemon.shared().connect()
        let response = try connection.ask(
            Post(Message.legacy(id: "6", "tools/list", "[]"), method: "tools/list"))
        #expect(response.status == 400)
        #expect(response.message?.code == -32600)
        #expect(response.message?["id"] == 6)
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 26: unknown methods and notifications") func fault26() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        // The last ones exist in other revisions only (LIFE-12).
        for method in [
            "nope", "tools/Call", "tools/call ", "rpc.discover", "initialize", "ping", "logging/setLevel",
        ] {
            let answer = try process.ask(Message.modern(id: "1", method))
            #expect(answer.code == -32601, "\(method)")
            #expect(answer["id"] == 1)
            let response = try connection.ask(Post(Message.modern(id: "1", method), method: method))
            #expect(response.status == (method.last == " " ? 400 : 404), "\(method)")
            #expect(response.message?.code == (method.last == " " ? -32020 : -32601), "\(method)")
        }
        let unknown = #"{"jsonrpc":"2.0","method":"notifications/nope","params":{\#(Message.meta)}}"#
        try process.send(line: unknown)
        try process.send(line: #"{"jsonrpc":"2.0","method":"notifications/nope"}"#)
        let response = try connection.ask(Post(unknown, method: "notifications/nope"))
        #expect(response.status == 202)
        #expect(response.body.isEmpty)
        // In a session of 2025 this is an ordinary error: 404 would say that the session is gone.
        let daemon = try HTTPDaemon.shared()
        let session = try daemon.openSession("2025-11-25")
        let legacy = try connection.ask(
            Post(Message.legacy(id: "1", "nope"), method: nil).with("Mcp-Session-Id", session))
        #expect(legacy.status == 200)
        #expect(legacy.message?.code == -32601)
        // Nothing was said about the notifications: the next answer is that of the next request.
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 27: a response without a matching request") func fault27() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        let stray = [
            #"{"jsonrpc":"2.0","id":99,"result":{}}"#,
            #"{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}}"#,
            #"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#,
        ]
        for text in stray {
            try process.send(line: text)
            let response = try connection.ask(Post(text))
            #expect(response.status == 400, "\(text)")
        }
        try process.expectAlive()
        try connection.expectAlive()
        // Neither one nor the other, or both: that is no answer.
        for text in [
            #"{"jsonrpc":"2.0","id":1}"#,
            #"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        ] {
            #expect(try process.ask(text).code == -32600, "\(text)")
        }
        // A session of 2025 may answer; nobody waits for it here (LEG-03).
        let session = try HTTPDaemon.shared().openSession("2025-06-18")
        let taken = try connection.ask(Post(stray[0], method: nil).with("Mcp-Session-Id", session))
        #expect(taken.status == 202)
        try process.expectAlive()
    }

    @Test("fault 28: an id that is in flight") func fault28() throws {
        let process = try StdioProcess()
        try process.send(line: Message.call(id: "7", "slow", #"{"seconds":0.5}"#))
        for id in ["7", "7.0", "70e-1"] {
            let refused = try process.ask(Message.echo(id: id, "x"))
            #expect(refused.code == -32600)
            #expect(refused["id"] == 7)
        }
        // A text is another id than a number.
        #expect(try process.ask(Message.echo(id: "\"7\"", "x")).text == "x")
        let first = try process.answer()
        #expect(first["id"] == 7)
        #expect(first.text == "waited 0.5 s")
        // JRPC-03: free again.
        #expect(try process.ask(Message.echo(id: "7", "again")).text == "again")
        try process.finish()
    }

    @Test("fault 29: one id on a thousand connections") func fault29() throws {
        let daemon = try HTTPDaemon.shared()
        let connections = try (0 ..< 1_000).map { _ in try daemon.connect() }
        for (number, connection) in connections.enumerated() {
            try connection.send(
                Post(Message.echo(id: "1", "client \(number)"), name: "echo").bytes(port: daemon.port))
        }
        var wrong = 0
        for (number, connection) in connections.enumerated() {
            let response = try #require(try connection.response(within: .seconds(60)))
            if response.message?.text != "client \(number)" { wrong += 1 }
        }
        #expect(wrong == 0)
        try daemon.expectAlive()
    }

    @Test("fault 30: before initialize") func fault30() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        #expect(try process.ask(Message.legacy(id: "1", "ping"))["result"] == [:])
        for method in ["tools/list", "tools/call", "nope"] {
            let message = Message.legacy(id: "2", method, #"{"name":"echo","arguments":{"text":"x"}}"#)
            let answer = try process.ask(message)
            #expect(answer.code == -32600, "\(method)")
            #expect(answer["id"] == 2)
            let response = try connection.ask(Post(message, method: nil))
            #expect(response.status == 400, "\(method)")
            #expect(response.message?.code == -32600)
            #expect(response.message?["id"] == 2)
        }
        #expect(
            try process.ask(Message.initialize("2025-11-25"))["result"]?["protocolVersion"] == "2025-11-25")
        try process.send(line: Message.initialized)
        #expect(try process.ask(Message.legacy(id: "3", "tools/list"))["result"]?["tools"] != nil)
        try connection.expectAlive()
    }

    @Test("fault 31: a second initialize, and both eras in one stream") func fault31() throws {
        let process = try StdioProcess()
        #expect(
            try process.ask(Message.initialize("2025-06-18"))["result"]?["protocolVersion"] == "2025-06-18")
        let second = try process.ask(Message.initialize("2025-11-25", id: "1"))
        #expect(second.code == -32600)
        #expect(second["id"] == 1)
        // A stateless request in between is served as such …
        let modern = try process.ask(Message.modern(id: "2", "tools/list"))
        #expect(modern["result"]?["resultType"] == "complete")
        // … and what the handshake fixed is as it was: an unknown id is still the null of 2025-06-18.
        #expect(try process.ask("{")["id"] == .null)
        let legacy = try process.ask(Message.legacy(id: "3", "tools/list"))
        #expect(legacy["result"]?["tools"] != nil)
        #expect(legacy["result"]?["resultType"] == nil)
        // DUAL-08
        #expect(try process.ask(Message.modern(id: "4", "initialize")).code == -32601)
        try process.expectAlive()
        try process.finish()
    }

    @Test("fault 32: a version that is not served") func fault32() throws {
        let process = try StdioProcess()
        let connection = try HTTPDaemon.shared().connect()
        for version in ["1999-01-01", "2099-12-31", "2025-11-25", "", "x"] {
            let message = Message.modern(id: "1", "tools/list").replacing(Message.version, with: version)
            let response = try connection.ask(
                Post(message, method: "tools/list").with("MCP-Protocol-Version", version))
            #expect(response.status == 400, "\(version)")
            for answer in [try process.ask(message), try #require(response.message)] {
                #expect(answer.code == -32022, "\(version)")
                #expect(answer["id"] == 1)
                let data = answer["error"]?["data"]
                #expect(data?["requested"] == .string(version))
                #expect(data?["supported"]?.arrayValue?.contains("2026-07-28") == true)
            }
        }
        // A version that is no string is a missing one.
        let number = Message.modern(id: "1", "tools/list").replacing(
            "\"\(Message.version)\"", with: "20260728")
        #expect(try process.ask(number).code == -32602)
        // The handshake gets a counter-offer (LIFE-03).
        let offer = try process.ask(Message.initialize("1999-01-01"))
        #expect(offer["result"]?["protocolVersion"] == "2025-11-25")
        // A header that names no version ends a legacy request (HDR-03).
        let session = try HTTPDaemon.shared().openSession("2025-06-18")
        let bad = Post(Message.legacy(id: "1", "ping"), method: nil).with("Mcp-Session-Id", session)
            .with("MCP-Protocol-Version", "1999-01-01")
        #expect(try connection.ask(bad).status == 400)
        try process.expectAlive()
        try connection.expectAlive()
    }

    @Test("fault 33: header and body disagree") func fault33() throws {
        let connection = try HTTPDaemon.shared().connect()
        let call = Post(Message.echo(id: "1", "x"), name: "echo")
        let refused: [(String, Post)] = [
            ("another version", call.with("MCP-Protocol-Version", "2025-11-25")),
            ("no version", call.with("MCP-Protocol-Version", nil)),
            ("an empty version", call.with("MCP-Protocol-Version", "")),
            ("the version twice", call.adding("MCP-Protocol-Version", Message.version)),
            ("another method", call.with("Mcp-Method", "tools/list")),
            ("a method in capitals", call.with("Mcp-Method", "TOOLS/CALL")),
            ("no method", call.with("Mcp-Method", nil)),
            ("the method twice", call.adding("Mcp-Method", "tools/call")),
            ("a method in the base64 form", call.with("Mcp-Method", "=?base64?dG9vbHMvY2FsbA==?=")),
            ("another name", call.with("Mcp-Name", "add")),
            ("a name in capitals", call.with("Mcp-Name", "Echo")),
            ("no name", call.with("Mcp-Name", nil)),
            ("an empty name", call.with("Mcp-Name", "")),
            ("the name twice", call.adding("Mcp-Name", "echo")),
            ("another name in the base64 form", call.with("Mcp-Name", "=?base64?YWRk?=")),
            ("bad padding", call.with("Mcp-Name", "=?base64?ZWNobw?=")),
            ("a bad alphabet", call.with("Mcp-Name", "=?base64?ZWNo*w==?=")),
            ("a marker in capitals", call.with("Mcp-Name", "=?BASE64?ZWNobw==?=")),
            ("a marker without its end", call.with("Mcp-Name", "=?base64?ZWNobw==")),
            ("bytes above ASCII", call.with("Mcp-Name", "ech\u{F6}")),
        ]
        for (name, post) in refused {
            let response = try connection.ask(post)
            #expect(response.status == 400, "\(name)")
            #expect(response.message?.code == -32020, "\(name)")
            #expect(response.message?["id"] == 1, "\(name)")
        }
        // HDR-07, HDR-11: the blanks around a value do not count, and the base64 form is decoded first.
        for name in ["=?base64?ZWNobw==?=", "  echo\t "] {
            #expect(try connection.ask(call.with("Mcp-Name", name)).message?.text == "x", "\(name)")
        }
        // HDR-27
        #expect(try connection.ask(call.with("Mcp-Param-Unknown", "x")).status == 200)
        // DUAL-06: the header claims what the body does not.
        let noMeta = try connection.ask(Post(Message.legacy(id: "1", "tools/list"), method: "tools/list"))
        #expect(noMeta.status == 400)
        #expect(noMeta.message?.code == -32602)
        try connection.expectAlive()
    }

    // HDR-23
    @Test("fault 33: a mirrored argument and its header disagree") func fault33Mirrored() async throws {
        let server = MCPServer("test", version: "1")
        let schema: JSONValue = [
            "type": "object", "properties": ["text": ["type": "string", "x-mcp-header": "Text"]],
        ]
        try server.register(Tool("echo", inputSchema: schema)) { call, _ in
            .text(call.arguments["text"]?.string ?? "")
        }
        try await LocalServer.serve(server) { port in
            let connection = try WireConnection(port: port)
            let call = Post(Message.echo(id: "1", "x"), name: "echo")
            for post in [call, call.with("Mcp-Param-Text", "y"), call.with("Mcp-Param-Text", "")] {
                let response = try connection.ask(post)
                #expect(response.status == 400)
                #expect(response.message?.code == -32020)
            }
            #expect(try connection.ask(call.with("Mcp-Param-Text", "x")).message?.text == "x")
        }
    }
}
