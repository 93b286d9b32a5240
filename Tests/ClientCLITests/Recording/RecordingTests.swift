import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// Recordings are read as they are, and answered from.
@Suite struct RecordingTests {
    private func recording(_ lines: String...) throws -> Recording {
        try Recording(Array(lines.joined(separator: "\n").utf8), name: "r")
    }

    private func call(_ server: RecordedServer, _ message: String) -> RawJSON? {
        server.answer(to: Array(message.utf8)).flatMap { try? RawJSON(validating: ByteSlice($0)) }
    }

    /// A line as `mcp-server` writes it.
    private func exchange(_ name: String, _ arguments: String, _ text: String) -> String {
        """
        {"time":"2026-11-23T07:00:00.000Z","method":"tools/call","name":"\(name)","outcome":"ok","ms":1.5,\
        "request":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\(name)","arguments":\(arguments)}},\
        "response":{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"\(text)"}]}}}
        """
    }

    private func request(_ id: String, _ name: String, _ arguments: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(name)","arguments":\#(arguments),"_meta":{"x":1}}}"#
    }

    /// What a line lacks is named.
    @Test(arguments: [
        (#"{"method":"tools/list","request":{}}"#, #"line 1 has no "time""#),
        (#"{"time":5,"method":"tools/list","request":{}}"#, #"line 1 has a "time" that is not a string"#),
        (#"{"time":"2026-11-23T07:00:00.000Z","request":{}}"#, #"line 1 has no "method""#),
        (
            #"{"time":"2026-11-23T07:00:00.000Z","method":"tools/list"}"#,
            "line 1 has neither a request nor a message"
        ),
        ("[1]", "line 1 is not an object"),
    ])
    func aLineOfNoRecording(line: String, problem: String) {
        do {
            _ = try recording(line)
            Issue.record("this is no recording")
        } catch { #expect((error as? Failure)?.details == [problem]) }
    }

    @Test func equalRequestsGetTheirResponsesInOrder() throws {
        let server = RecordedServer(
            try recording(exchange("t", #"{"a":1,"b":2}"#, "one"), exchange("t", #"{"b":2,"a":1}"#, "two")))
        let texts = try (0 ..< 3).map { number in
            let answer = try #require(call(server, request("\"\(number)\"", "t", #"{"b":2,"a":1}"#)))
            #expect(answer["id"]?.string == "\(number)")
            return answer["result"]?["content"]?[0]?["text"]?.string
        }
        #expect(texts == ["one", "two", "two"])
        let other = call(server, request("1", "t", #"{"a":3}"#))
        #expect(other?["error"]?["code"]?.int == -32602)
        #expect(
            other?["error"]?["message"]?.string.map {
                $0 == "t is in the recording with other arguments; it has no list of tools, so their types "
                    + "are not known: NAME:=JSON sets one"
            } == true)
        #expect(
            call(server, request("1", "u", "{}"))?["error"]?["message"]?.string == "u is not in the recording"
        )
        #expect(
            call(server, #"{"jsonrpc":"2.0","id":1,"method":"prompts/get"}"#)?["error"]?["code"]?.int
                == -32601)
    }

    /// A flight recorder begins in the middle of a conversation.
    @Test func whatIsMissingIsMade() async throws {
        let folder = TemporaryDirectory()
        try folder.write("r.jsonl", exchange("t", #"{"a":1}"#, "one"))
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        harness.directory = folder.path
        let path = folder.path + "/r.jsonl"
        harness.files = [path: exchange("t", #"{"a":1}"#, "one")]
        let called = await harness.run("call", path, "t", "a:=1")
        #expect(called.stdout == "one\n", "\(called.stderr)")
        #expect(await harness.run("tools", path).stdout.hasPrefix("t("))
        let legacy = await harness.run("--protocol", "2025-06-18", "call", path, "t", "a:=1")
        #expect(legacy.stdout == "one\n", "\(legacy.stderr)")
    }

    /// Two spellings of one letter are two names.
    @Test func toolsWithNamesThatLookTheSame() throws {
        let server = RecordedServer(
            try recording(exchange("\u{E9}", "{}", "one"), exchange("e\u{301}", "{}", "two")))
        let list = call(server, #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        #expect(list?["result"]?["tools"]?.elements?.count == 2)
    }

    @Test(arguments: [
        ("", "r has no exchanges"), ("junk\n{}", "line 1"), ("{}", "line 1 has no \"time\""),
        (#"{"time":"x","method":"m","request":7}"# + "\n[", "none"),
    ]) func whatIsNoRecording(_ text: String, _ message: String) {
        do throws(Failure) {
            let recording = try Recording(Array(text.utf8), name: "r")
            #expect(message == "none" && recording.lines.count == 1 && recording.lines[0].request == nil)
        } catch {
            #expect(error.code == .usage && (error.message + error.details.joined()).contains(message))
        }
    }

    @Test(arguments: ["", "[", "[]", "7", "{\"id\":null}", "{\"id\":1}", "{\"id\":1,\"method\":7}"])
    func hostileMessages(_ text: String) throws {
        let server = RecordedServer(try recording(exchange("t", "{}", "one")))
        let answer = server.answer(to: Array(text.utf8))
        #expect(answer == nil || String(decoding: answer ?? [], as: UTF8.self).contains("error"))
    }

    /// A tap that was killed leaves half a line; the next one begins a new one.
    @Test func tornLinesArePassedOver() throws {
        let whole = exchange("t", "{}", "one")
        let torn = try recording(whole, String(whole.prefix(60)), whole, String(whole.prefix(30)))
        #expect(torn.lines.count == 2)
        #expect(try recording(String(whole.prefix(60)), whole).lines.count == 1)
        #expect(throws: Failure.self) { try recording(whole, "{]", whole) }
        // What is torn only is none, nor is what begins like one.
        for (lines, place) in [([String(whole.prefix(60))], "line 1: "), (["{", "]"], "line 1: ")] {
            let error = #expect(throws: Failure.self) {
                try Recording(Array(lines.joined(separator: "\n").utf8), name: "r")
            }
            #expect(error?.details.first?.hasPrefix(place) == true)
        }
    }

    /// Whatever revision was recorded, clients of older ones are served.
    @Test func olderClientsAreServed() throws {
        func exchange(_ method: String, _ result: String) -> String {
            #"{"time":"2026-11-23T07:00:00.000Z","method":"\#(method)","request":{"jsonrpc":"2.0","id":1,"method":"\#(method)"},"#
                + #""response":{"jsonrpc":"2.0","id":1,"result":\#(result)}}"#
        }
        let modern = RecordedServer(
            try recording(
                exchange(
                    "server/discover",
                    #"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"Be kind.","#
                        + #""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}}}"#)))
        let older = RecordedServer(
            try recording(
                exchange(
                    "initialize",
                    #"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"o","version":"3"}}"#
                )))
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            let opening =
                #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"\#(version)"}}"#
            let first = call(modern, opening)?["result"]
            #expect(
                first?["protocolVersion"]?.string == version && first?["instructions"]?.string == "Be kind.")
            #expect(
                first?["serverInfo"]?["version"]?.string == "2" && first?["capabilities"]?["tools"] != nil)
            let second = call(older, opening)?["result"]
            #expect(second?["protocolVersion"]?.string == version)
            #expect(second?["serverInfo"]?["version"]?.string == "3")
        }
        let discover = #"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#
        #expect(call(older, discover)?["error"]?["code"]?.int == MCPError.methodNotFoundCode)
    }

    /// The error of a call that was recorded says why it is not found.
    @Test func aRedactedArgumentIsNamed() throws {
        let server = RecordedServer(try recording(exchange("login", #"{"password":"[redacted]"}"#, "in")))
        let answer = call(server, request("1", "login", #"{"user":"ann"}"#))
        #expect(
            answer?["error"]?["message"]?.string?.contains(
                "what was redacted there matches [redacted] only") == true, "\(String(describing: answer))")
    }

    @Test func secretsAreMasked() throws {
        let mask = MessageMask(["hunter2-hunter2"])
        let message = try RawJSON(
            validating:
                #"{"params":{"arguments":{"api_key":"abc","note":"it is hunter2-hunter2","password":["x"]},"progressToken":"p"}}"#
        )
        let text = String(mask.masked(message).bytes)
        #expect(!text.contains("abc") && !text.contains("hunter2-hunter2") && text.contains("\"p\""))
        let named = try RawJSON(
            validating: #"{"a":{"hunter2-hunter2":"x"},"password":{"hunter2-hunter2":null}}"#)
        #expect(
            String(mask.masked(named).bytes)
                == #"{"a":{"[redacted]":"x"},"password":{"[redacted]":null}}"#)
        let lines = Mutex<[UInt8]>([])
        let log = ExchangeLog(mask: mask) { line in lines.withLock { $0 += line } }
        log.note(Array(#"{"method":"x/hunter2-hunter2"}"#.utf8), from: .server)
        log.note(Array(#"{"method":"x/hunter2-hunter2","id":1}"#.utf8), from: .client)
        log.finish()
        let written = lines.withLock { String(decoding: $0, as: UTF8.self) }
        #expect(written.contains(#""x/[redacted]""#) && !written.contains("hunter2"), "\(written)")
        let places = try RawJSON(
            validating: #"{"pin":"1234","jwt":"e.y.J","text":"at postgres://u:pw@h/db and https://h/?a=b@c"}"#
        )
        #expect(
            mask.masked(places).value["text"] == "at postgres://[redacted]@h/db and https://h/?a=b@c"
                && !String(mask.masked(places).bytes).contains("1234")
                && !String(mask.masked(places).bytes).contains("e.y.J"))
        // The same once more as text, as results have it beside their structured content.
        let repeated = try RawJSON(
            validating: #"{"text":"{\"pin\": \"1234\", \"city\": \"Bern\"}","plain":"{ \"a\" : 1 }"}"#)
        #expect(mask.masked(repeated).value["text"] == #"{"pin":"[redacted]","city":"Bern"}"#)
        #expect(mask.masked(repeated).value["plain"] == #"{ "a" : 1 }"#)
        let schema = try RawJSON(
            validating: #"{"tools":[{"inputSchema":{"properties":{"password":{"type":"string"}}}}]}"#)
        #expect(mask.masked(schema) == schema)
        // Everything in an object with the name of a secret, also one that looks like a definition.
        let object = try RawJSON(
            validating: #"{"token":{"value":"SEKRET1","more":{"a":["SEKRET2"],"n":5}},"#
                + #""properties":{"password":{"type":"SEKRET3"}},"oauthToken":{"valid":true}}"#)
        #expect(
            String(mask.masked(object).bytes)
                == #"{"token":{"value":"[redacted]","more":{"a":"[redacted]","n":"[redacted]"}},"#
                + #""properties":{"password":{"type":"[redacted]"}},"oauthToken":{"valid":true}}"#)
    }

    /// A program writes a key line by line, and a header its base64 text.
    @Test func secretsWithSeveralLines() {
        let mask = MessageMask(["-----BEGIN KEY-----\nkqhkiG9w0BAQEF\n-----END KEY-----\n"])
        #expect(mask.masked("read kqhkiG9w0BAQEF, and more") == "read [redacted], and more")
        #expect(mask.masked("Basic YWRhOmtxaGtpRzl3MEJBUUVG").stringValue?.contains("RzlrM") == false)
        #expect(mask.masked("a3Foa2lHOXcwQkFRRUY=") == "[redacted]")
        #expect(mask.masked("kqhkiG9w") == "kqhkiG9w")
    }

    /// Counts, places in lists, and what a value without a secret is: a name alone hides no number.
    @Test func whatIsNoSecretStays() throws {
        let harmless = try JSONValue(
            parsing: #"{"max_tokens":5,"total_tokens":7,"MAX-TOKENS":1,"page_token":"p","nextPageToken":"n","#
                + #""next_page_token":"n","progress_token":"g","tokens_left":3,"tokens":[1,2],"session_id":4,"#
                + #""password":null,"is_secret":true}"#)
        #expect(MessageMask().masked(harmless) == harmless)
        let secret = try JSONValue(
            parsing: #"{"pin":1234,"token":5678,"password":7,"tokens":["a"],"page_tokens_secret":"b"}"#)
        let hidden = try JSONValue(
            parsing: #"{"pin":"[redacted]","token":"[redacted]","password":"[redacted]","#
                + #""tokens":"[redacted]","page_tokens_secret":"[redacted]"}"#)
        #expect(MessageMask().masked(secret) == hidden)
    }

    /// What stands in a recording in the place of a password would become the password.
    @Test func whatWasRedactedIsNotSent() async throws {
        let calls = Mutex(0)
        let server = MCPServer("accounts", version: "1")
        try server.register(Tool("set_password", inputSchema: ["type": "object"])) { _, _ in
            calls.withLock { $0 += 1 }
            return .text("done")
        }
        var harness = CommandHarness(server: server)
        harness.files["r.jsonl"] = [
            exchange("set_password", #"{"password":"[redacted]"}"#, "done"),
            exchange("set_password", #"{"body":"{\"users\":[{\"password\":\"[redacted]\"}]}"}"#, "done"),
            exchange("set_password", #"{"note":"[redacted] stands for it"}"#, "done"),
        ].joined(separator: "\n")
        let outcome = await harness.run("replay", "--all-calls", "r.jsonl", "localhost:1")
        let line = "skip  tools/call set_password: its arguments were redacted\n"
        #expect(outcome.stdout.hasPrefix(line + line + "same"), "\(outcome.stdout)\(outcome.stderr)")
        #expect(outcome.stderr.contains("1 the same, 0 different, 2 not sent"), "\(outcome.stderr)")
        #expect(calls.withLock { $0 } == 1)
    }

    /// A notification has no response, and is not counted as one that was not sent.
    @Test func aNotificationIsNotReplayed() async throws {
        var harness = CommandHarness(server: MCPServer("s", version: "1"))
        let notification =
            #"{"time":"2026-11-23T07:00:00.000Z","method":"notifications/initialized","#
            + #""message":{"jsonrpc":"2.0","method":"notifications/initialized"}}"#
        harness.files["r.jsonl"] = [notification, exchange("t", "{}", "one")].joined(separator: "\n")
        let outcome = await harness.run("replay", "--all-calls", "r.jsonl", "localhost:1")
        #expect(!outcome.stdout.contains("skip"), "\(outcome.stdout)")
        #expect(outcome.stderr.contains("0 the same, 1 different · "), "\(outcome.stderr)")
    }

    @Test func aFilterCannotBeFooled() throws {
        let filter = ToolFilter(["get_*"])
        func verdict(_ text: String) -> String {
            switch filter.check(Array(text.utf8)) {
            case .pass(let bytes): String(decoding: bytes, as: UTF8.self)
            case .refuse(let bytes): bytes.map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
            }
        }
        #expect(verdict(request("1", "get_x", "{}")).contains("get_x"))
        #expect(verdict(request("1", "rm", "{}")).contains("the tool rm is not allowed here"))
        // The last name counts, here and, because nothing else is passed on, there.
        let twice = #"{"id":1,"method":"tools/call","params":{"name":"rm","name":"get_x"}}"#
        #expect(!verdict(twice).contains("rm"))
        let hidden = #"{"id":1,"method":"ping","method":"tools\/call","params":{"name":"rm"}}"#
        #expect(verdict(hidden).contains("is not allowed"))
        #expect(verdict("[\(request("1", "rm", "{}"))]").contains("single messages only"))
        #expect(verdict(#"{"method":"tools/call","params":{"name":"rm"}}"#) == "nothing")
        let list = Array(#"{"id":1,"result":{"tools":[{"name":"rm"},{"name":"get_x"}]}}"#.utf8)
        #expect(filter.filtered(list).map { String(decoding: $0, as: UTF8.self) }?.contains("rm") == false)
    }
}

/// A tap over HTTP passes everything on, also streams, and records it.
@Suite struct TapHandlerTests {
    private func withTap(
        _ options: Options = Options(), _ work: (CommandHarness, String) async throws -> Void
    ) async throws -> [RecordedLine] {
        let folder = TemporaryDirectory()
        let http = try OpsServer.make().start([.http(port: 0)])
        let port = http.addresses.first?.port ?? 0
        let output = try TapOutput(folder.path + "/r.jsonl", MemorySink())
        let log = ExchangeLog(mask: MessageMask()) { output.write($0) }
        let filter = options.checks.allowed.isEmpty ? nil : ToolFilter(options.checks.allowed)
        let handler = try TapHandler(.http("http://127.0.0.1:\(port)/mcp"), options, log, filter)
        do { try await handler.served { try await work($0, "127.0.0.1:\($1)") } } catch {
            await http.stop()
            throw error
        }
        await http.stop()
        log.finish()
        return try Recording(try Files.read(folder.path + "/r.jsonl", maxBytes: 1 << 20), name: "r").lines
    }

    @Test(arguments: ["auto", "2025-11-25"]) func callsAndStreams(_ revision: String) async throws {
        let lines = try await withTap { harness, target in
            let call = await harness.run("--protocol", revision, "call", target, "git_log", "repo=web")
            #expect(call.stdout.hasPrefix("a1b2c3d"), "\(call.stderr)")
            let progress = await harness.run("--protocol", revision, "--jsonl", "call", target, "x_progress")
            #expect(progress.stdout.contains(#"{"event":"progress""#), "\(progress.stdout)\(progress.stderr)")
            #expect(await harness.run("--protocol", revision, "call", target, "nope").code == .protocolError)
        }
        let calls = lines.filter { $0.method == "tools/call" }
        #expect(calls.map(\.outcome) == ["ok", "ok"] && calls.allSatisfy { $0.response != nil })
        #expect(lines.contains { $0.method == "notifications/progress" && $0.side == .server })
    }

    @Test func onlyWhatIsAllowed() async throws {
        var options = Options()
        options.checks.allowed = ["git_*"]
        let lines = try await withTap(options) { harness, target in
            #expect(await harness.run("call", target, "git_log", "repo=web").code == .ok)
            #expect(await harness.run("tools", target).stdout.split(separator: "\n").count == 2)
            let refused = await harness.run(
                "--no-validate", "call", target, "unit_restart", #"{"unit":"web"}"#)
            #expect(refused.stderr.contains("is not allowed here"), "\(refused.stderr)")
        }
        #expect(lines.contains { $0.name == "unit_restart" && $0.outcome == "error" })
    }

    @Test func aServerThatIsGone() async throws {
        let log = ExchangeLog(mask: MessageMask()) { _ in }
        let handler = try TapHandler(.http("http://127.0.0.1:1/mcp"), Options(), log, nil)
        let answer = await handler.respond(
            to: HTTPRequest(method: "POST", target: "/mcp", body: Array("{}".utf8)))
        #expect(answer.status == 502)
    }

    /// A token is sent and not recorded, whichever flag it comes from.
    @Test func aTokenFromAVariable() async throws {
        let missing = await CommandHarness(server: MCPServer("unused", version: "1")).run(
            "tap", "--bearer-env", "TAP_TOKEN", "http://127.0.0.1:1/mcp")
        #expect(missing.stderr.contains("the environment variable TAP_TOKEN is not set"), "\(missing.stderr)")
        var environment = CommandEnvironment.process()
        environment.secret = { $0 == "TAP_TOKEN" ? "abc-def-ghi\n" : nil }
        var options = Options()
        options.bearerEnv = "TAP_TOKEN"
        let settings = try TapCommand.settings(options, environment)
        #expect(settings.headers.map { "\($0.name): \($0.value)" } == ["Authorization: Bearer abc-def-ghi"])
        let mask = MessageMask(TapCommand.secrets(settings))
        #expect(mask.masked("echoes abc-def-ghi") == "echoes [redacted]")
    }

    /// A tap sends what its user may send, and there are no tokens.
    @Test func otherUsersAreNotServed() {
        #expect(LocalServer.options.users == (UserPolicy.isEnforceable ? .own : .any))
    }

    /// Servers of older revisions do not say that a result is complete.
    @Test func aRecordingOfAnOlderRevision() async throws {
        var harness = CommandHarness(server: try OpsServer.make())
        let call = await harness.run("--json", "call", "localhost:1", "git_log", "repo=web")
        #expect(call.stdout.contains(#""resultType":"complete""#))
        func line(_ type: String) -> String {
            let result = call.stdout.dropLast().replacing(#""resultType":"complete","#, with: type)
                .replacing(#","resultType":"complete""#, with: "")
            return
                #"{"time":"2026-11-23T07:00:00.000Z","method":"tools/call","name":"git_log","outcome":"ok","ms":1,"#
                + #""request":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"git_log","#
                + #""arguments":{"repo":"web"}}},"response":{"jsonrpc":"2.0","id":1,"result":\#(result)}}"#
        }
        harness.files["r.jsonl"] = line("")
        let same = await harness.run("replay", "--all-calls", "r.jsonl", "localhost:1")
        #expect(same.code == .ok && same.stdout == "same  tools/call git_log\n", "\(same.stdout)")
        harness.files["r.jsonl"] = line(#""resultType":"task","#)
        let other = await harness.run("replay", "--all-calls", "r.jsonl", "localhost:1")
        #expect(other.code == .checkFailed && other.stdout.contains(".resultType"), "\(other.stdout)")
    }
}
