import MCPCore
import Testing

/// Runs the programs in Examples/ as they would be run by hand.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ExampleTests {
    private static let meta =
        #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#

    /// One line of a client that speaks the newest revision.
    private static func line(_ id: Int, _ method: String, _ members: String = "", meta more: String = "")
        -> String
    {
        let start = members.isEmpty ? "" : members + ","
        return #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{\#(start)\#(meta)\#(more)}}}"#
            + "\n"
    }

    private static func messages(_ text: String) throws -> [JSONValue] {
        try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    }

    @Test func minimalServer() async throws {
        let outcome = try await ExampleProgram.run(
            "example-minimal-server",
            input: Self.line(1, "tools/list")
                + Self.line(2, "tools/call", #""name":"add","arguments":{"a":2,"b":0.5}"#)
                + Self.line(3, "tools/call", #""name":"add","arguments":{"b":1}"#))
        #expect(outcome.code == 0)
        let answers = try Self.messages(outcome.output)
        #expect(answers.map { $0["id"] } == [1, 2, 3])
        #expect(answers[0]["result"]?["tools"]?[0]?["name"] == "add")
        #expect(answers[1]["result"]?["structuredContent"] == 2.5)
        #expect(answers[2]["result"]?["isError"] == true)
        #expect(outcome.errors.isEmpty)
    }

    // C01, C05, C08
    @Test func clientTools() async throws {
        let path = "/tmp/mcp-example-\(UInt32.random(in: 0 ... .max)).sock"
        let hub = ClientToolHub { _ in MCPServer("hub", version: "1") }
        var options = HTTPServerOptions()
        options.loops = 1
        let endpoints = ClientToolEndpoints(hub, token: nil)
        let daemon = try hub.server().start([
            .http(.unix(path: path), servers: endpoints, handler: endpoints, options: options)
        ])
        let agent = try await MCPClient.connect(.unix(path: path, endpoint: "/mcp/channels/c"))
        let changes = try await agent.listen(SubscriptionFilter(toolsListChanged: true))
        let app = try ExampleProgram.start("example-client-tools", [path, "c"])
        var told = changes.makeAsyncIterator()
        #expect(try await told.next() == .toolsListChanged)
        #expect(try await agent.listTools().map(\.name) == ["greetUser"])
        #expect(try await agent.callTool("greetUser").text == "greetUser: done")
        app.stop()
        await agent.close()
        await daemon.stop()
    }

    // A15 A18
    @Test func dice() async throws {
        let outcome = try await ExampleProgram.run(
            "example-view-host", [ExampleProgram.path("example-dice")])
        #expect(outcome.code == 0)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("frame: ui://dice/table under default-src 'none';") })
        #expect(lines.contains { $0.hasPrefix("frame: a document of ") })
        #expect(lines.contains(#"frame: ui/notifications/tool-input {"arguments":{}}"#))
        #expect(lines.contains { $0.contains("The user sees the die: ") && $0.contains(#""pips":"#) })
        #expect(lines.contains("call: roll completed"))
        // A client without views reads the text.
        let text = try await ExampleProgram.run(
            "example-dice", input: Self.line(1, "tools/call", #""name":"roll""#))
        #expect(
            try Self.messages(text.output)[0]["result"]?["content"]?[0]?["text"]?.stringValue?.hasPrefix(
                "The die shows ") == true)
    }

    @Test func minimalClient() async throws {
        let outcome = try await ExampleProgram.run(
            "example-minimal-client", [ExampleProgram.path("example-minimal-server")])
        #expect(outcome.output == "tools: add\n2 + 3 = 5.0\n")
        #expect(outcome.code == 0)
    }

    @Test func embedded() async throws {
        let outcome = try await ExampleProgram.run("example-embedded")
        #expect(
            outcome.output == """
                connected to notes using 2026-07-28
                found: ["milk"]
                note: Buy milk.
                prompt: Plan my Monday with these notes: ["call", "milk"]
                error: Resource not found (-32602)

                """)
        #expect(outcome.code == 0)
    }

    // The comments of the page are what it prints.
    @Test func json() async throws {
        let outcome = try await ExampleProgram.run("example-json")
        #expect(outcome.output == "Köln\n3\n{\"sunny\":true,\"degrees\":[18,21.5,null]}\n21.5\n")
        #expect(outcome.code == 0)
    }

    @Test func forecast() async throws {
        let outcome = try await ExampleProgram.run(
            "example-forecast",
            input: Self.line(
                1, "tools/call", #""name":"forecast","arguments":{"city":"Bern","days":2}"#,
                meta: #","progressToken":"p""#))
        #expect(outcome.code == 0)
        let messages = try Self.messages(outcome.output)
        #expect(messages.count == 3)
        #expect(messages.map { $0["params"]?["progress"] } == [1, 2, .none])
        #expect(messages[1]["params"]?["message"] == "day 2 of 2")
        #expect(
            messages[2]["result"]?["structuredContent"] == [
                "city": "Bern", "unit": "celsius",
                "days": [["day": 1, "temperature": 5], ["day": 2, "temperature": 6]],
            ])
    }

    @Test func forecastForAClient() async throws {
        let client = try await MCPClient.connect(.command(ExampleProgram.path("example-forecast")))
        let tools = try await client.listTools()
        let schema = try #require(tools.first?.inputSchema)
        #expect(schema["required"] == ["city"])
        #expect(schema["properties"]?["days"]?["description"] == "How many days, 1 to 7; 3 by default")
        let warm = try await client.callTool("forecast", ["city": "Bern", "unit": "fahrenheit", "days": 1])
        #expect(warm.structuredContent?["days"]?[0]?["temperature"] == 41)
        let wrong = try await client.callTool("forecast", ["city": "Bern", "days": 9])
        #expect(wrong.isError)
        #expect(wrong.text == "\"days\" must be 1 to 7, not 9")
        await client.close()
    }

    @Test func reports() async throws {
        var options = ClientOptions()
        options.followsTasks = true
        options.onElicit = { _ in .accept(["title": "Rivers of Bern"]) }
        let said = Recorder<String>()
        options.logLevel = .warning
        options.onLog = { said.append($0.level.rawValue) }
        let client = try await MCPClient.connect(
            .command(ExampleProgram.path("example-reports")), options: options)
        let report = try await client.callTool("report", ["topic": "rivers"])
        #expect(report.text == "A report: Rivers of Bern")
        #expect(try await client.callTool("clean").text == "3 reports deleted")
        #expect(said.values == ["warning"])
        await client.close()
    }

    @Test func reportsByHand() async throws {
        let reference = #""ref":{"type":"ref/prompt","name":"summary"}"#
        let outcome = try await ExampleProgram.run(
            "example-reports",
            input: Self.line(
                1, "completion/complete",
                reference
                    + #","argument":{"name":"dialect","value":"S"},"context":{"arguments":{"language":"German"}}"#
            )
                + Self.line(
                    2, "completion/complete", reference + #","argument":{"name":"language","value":"an"}"#)
                + Self.line(3, "tools/call", #""name":"report","arguments":{"topic":"rivers"}"#))
        let answers = try Self.messages(outcome.output).sorted {
            ($0["id"]?.intValue ?? 0) < ($1["id"]?.intValue ?? 0)
        }
        #expect(
            answers.map { $0["result"]?["completion"]?["values"] } == [
                ["Swiss"], ["German", "Italian"], .none,
            ])
        // Without the extension the call is answered when the handler returns.
        #expect(answers[2]["result"]?["content"]?[0]?["text"] == "A report: rivers")
    }

    @Test(arguments: [ClientOptions.ProtocolChoice.auto, .exactly(.v2025_11_25), .exactly(.v2025_06_18)])
    func asking(_ choice: ClientOptions.ProtocolChoice) async throws {
        var options = ClientOptions()
        options.protocol = choice
        options.onElicit = { request in
            request.message.hasPrefix("A table at Ochsen")
                ? .accept(["people": 2, "name": "Ada"])
                : request.message == "How long?" ? .accept(["days": 3]) : .decline
        }
        options.onSample = { _ in CreateMessageResult(content: [.text("A lake.")], model: "m") }
        let client = try await MCPClient.connect(
            .command(ExampleProgram.path("example-elicitation")), options: options)
        let booked = try await client.callTool("book", ["restaurant": "Ochsen"])
        #expect(booked.text == "A table for 2 at Ochsen, in the name of Ada.")
        #expect(try await client.callTool("book", ["restaurant": "Krone"]).text == "Nothing was booked.")
        #expect(try await client.callTool("travel", ["restaurant": "Krone"]).text == "3 days: A lake.")
        await client.close()
    }

    @Test(arguments: [false, true]) func inventory(_ approves: Bool) async throws {
        let outcome = try await ExampleProgram.run(
            "example-inventory", approves ? ["--yes"] : [])
        let denied = "delete_item was not allowed: the user declined"
        let lines = outcome.output.split(separator: "\n")
        // Events are read while the harness goes on: the question may come before what is told of the first.
        #expect(
            Set(lines.prefix(2)) == [
                "lookup_item: completed, 0 of RICE-1K are in stock.",
                #"may delete_item change or delete something, possibly irreversibly? {"sku":"RICE-1K"}"#,
            ])
        #expect(
            lines.dropFirst(2) == [
                approves ? "delete_item: completed, RICE-1K is gone." : "delete_item: denied, \(denied)",
                "Done: " + (approves ? "RICE-1K is gone." : denied),
            ])
    }

    @Test func behindOwnHTTP() async throws {
        let program = try ExampleProgram.start("example-behind-own-http")
        defer { program.stop() }
        let url = try #require(program.firstLine().split(separator: " ").last.map { String($0) })
        for choice in [ClientOptions.ProtocolChoice.auto, .exactly(.v2025_06_18)] {
            var options = ClientOptions()
            options.protocol = choice
            let client = try await MCPClient.connect(.http(url), options: options)
            #expect(try await client.listTools().map(\.name) == ["double", "steps"])
            #expect(try await client.callTool("double", ["n": 21]).text == "42")
            // This answer is an event stream.
            let seen = Recorder<Double>()
            let result = try await client.callTool(
                "steps", ["upTo": 3], options: CallOptions { seen.append($0.progress) })
            #expect(result.text == "counted to 3")
            #expect(seen.values == [1, 2, 3])
            await #expect(throws: MCPError.self) { try await client.callTool("none") }
            await client.close()
        }
    }

    /// A line on standard error for each request.
    @Test func requestLog() async throws {
        let lines = Recorder<String>()
        var options = ClientOptions()
        options.onServerStderr = { lines.append($0) }
        let client = try await MCPClient.connect(
            .command(ExampleProgram.path("example-request-log")), options: options)
        #expect(try await client.callTool("add", ["a": 1, "b": 2.5]).text == "3.5")
        _ = try? await client.callTool("none")
        // Standard error is read beside the responses.
        func logged() -> [String] { lines.values.filter { $0.hasPrefix("tools/call") } }
        for _ in 1 ... 1_000 where logged().count < 2 { try await Task.sleep(for: .milliseconds(10)) }
        await client.close()
        let calls = logged()
        #expect(calls.count == 2)
        #expect(calls.first?.hasPrefix("tools/call add result ") == true, "\(lines.values)")
        #expect(calls.last?.hasPrefix("tools/call none error(-32602) ") == true, "\(lines.values)")
    }

    /// A path of the program's own beside the MCP endpoint.
    @Test func routes() async throws {
        let path = "/tmp/mcp-routes-\(UInt32.random(in: 0 ... .max)).sock"
        let program = try ExampleProgram.start("example-routes", [path])
        defer { program.stop() }
        #expect(await ExampleProgram.listens(at: path))
        let client = try await MCPClient.connect(.unix(path: path))
        #expect(try await client.callTool("add", ["a": 1, "b": 2.5]).text == "3.5")
        await client.close()
        let answer = try ExampleProgram.exchange("GET /version HTTP/1.0\r\nHost: x\r\n\r\n", at: path)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n1.0\n"), "\(answer)")
    }
}
