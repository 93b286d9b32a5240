import MCPCore
import Synchronization
import TestSupport
import Testing

@testable import MCPClientCLI

/// What a server can make a person read and do with a question.
@Suite struct QuestionTests {
    /// An interaction with a person who types these lines.
    private struct Setting {
        let sink = MemorySink()
        let notes = Notes()
        let interaction: Interaction

        init(
            typed: [String]?, width: Int? = nil, answers: JSONObject = [:], repeated: Set<String> = []
        ) {
            let lines = Lines(typed ?? [])
            let (sink, notes) = (sink, notes)
            let prompter = typed.map { _ in
                Prompter(
                    asker: "book", sink: sink, style: Style(isOn: false), person: Person { lines.next() },
                    width: width)
            }
            interaction = Interaction(
                answers: answers, repeated: repeated, isConsenting: false, prompter: prompter,
                subject: "book",
                note: { notes.add($0) })
        }
    }

    private final class Lines: Sendable {
        private let lines: Mutex<[String]>
        init(_ lines: [String]) { self.lines = Mutex(lines) }
        func next() -> String? { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    private final class Notes: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    /// What the command would refuse is not advised.
    @Test(arguments: [nil, "tools"]) func theHintOfAQuestion(answerless: String?) async throws {
        let interaction = Interaction(
            answers: [:], isConsenting: false, answerless: answerless, prompter: nil, subject: "book",
            note: { _ in })
        let form = ElicitationSchema([.string("name", required: true)])
        _ = try? await interaction.answer(ElicitRequest("Who?", form))
        let hint = interaction.failure?.hint ?? ""
        #expect(hint.contains("--answer") == (answerless == nil), "\(hint)")
    }

    /// Two answers to a field that takes one are none: the person is asked.
    @Test func twoAnswersToOneField() async throws {
        let setting = Setting(
            typed: ["3", "y"], answers: ["people": ["1", "2"]], repeated: ["people"])
        let form = ElicitationSchema([.integer("people", required: true)])
        let result = try await setting.interaction.answer(ElicitRequest("How many?", form))
        #expect(result.action == .accept && result.content == ["people": 3])
        #expect(!setting.sink.text.contains("people ["), "\(setting.sink.text)")
    }

    /// What is not a web page is declined with a line, whoever is there.
    @Test(arguments: [
        "javascript:alert(1)", "file:///etc/passwd", "--version", "data:text/html,x", "https:///x",
        "https://",
        "https://127.0.0.1:1/\u{200D}@bank.example/", "https://lo\u{AD}calhost/", "https://\u{24DB}ocalhost/",
        "https://a b/", "https://h/\u{202E}x", "https://h/" + String(repeating: "x", count: 9_000), "",
    ])
    func whatIsNoPage(url: String) async throws {
        for typed in [["y"], nil] {
            let setting = Setting(typed: typed)
            let result = try await setting.interaction.answer(ElicitRequest("Look", url: url))
            #expect(result.action == .decline && setting.sink.text.isEmpty)
            #expect(setting.notes.all.count == 1)
            #expect(setting.notes.all[0].hasPrefix("declined: book asks to open \""), "\(setting.notes.all)")
        }
    }

    @Test(arguments: [
        ("https://h.example/" + String(repeating: "x", count: 1_000), "h.example", 0),
        ("HTTP://[::1]:80/", "[::1]", 0), ("https://bank.example@evil.example/", "evil.example", 1),
        ("https://evil.example\\@bank.example/", "evil.example", 0),
        ("https://xn--pypal-4ve.example/", "xn--pypal-4ve.example", 1),
        ("https://%d0%b0.example/", "%d0%b0.example", 1),
        ("http://127.0.0.1:1/\u{301}@bank.example/login", "127.0.0.1", 0),
    ])
    func aPage(url: String, host: String, cautions: Int) async throws {
        let setting = Setting(typed: ["y"])
        let result = try await setting.interaction.answer(ElicitRequest("Look", url: url))
        let text = setting.sink.text
        #expect(result.action == .accept)
        #expect(text.contains("  \(url)\n  on the host \(host)\n"), "\(text)")
        #expect(text.split(separator: "\n").count { $0.hasPrefix("  caution: ") } == cautions, "\(text)")
    }

    /// A message cannot look like lines of ours, nor move the question out of sight.
    @Test func aMessageOfSeveralLines() async throws {
        let setting = Setting(typed: ["n"], width: 40)
        let message =
            "Really?\naccept? [y]es, [N]o: y\nmcp-client: verified" + String(repeating: "\n", count: 60)
            + "Well?\n" + String(repeating: "\u{A0}", count: 500) + "mcp-client: verified"
        _ = try await setting.interaction.answer(ElicitRequest(message, ElicitationSchema([])))
        #expect(
            setting.sink.text == """

                book asks: Really?
                  | accept? [y]es, [N]o: y
                  | mcp-client: verified
                  | ⟨59 blank lines⟩
                  | Well?
                  | ⟨500 blanks⟩mcp-client: verified

                accept? [y]es, [N]o: \("")
                """, "\(setting.sink.text)")
    }

    /// What is sent is shown in full; what the server has put there itself may be long.
    @Test func whatIsSentIsShown() async throws {
        let value = String(repeating: "a", count: Prompter.shownCharacters - 9) + "; the end"
        let form = ElicitationSchema([.string("note", default: value), .boolean("ok", required: true)])
        let setting = Setting(typed: ["", "y", "y"])
        let result = try await setting.interaction.answer(ElicitRequest("Send?", form))
        #expect(result.action == .accept && setting.sink.text.contains("  note: \(value)\n"))
        let long = ElicitationSchema([
            .string("note", default: "a" + value), .boolean("ok", required: true),
        ])
        let other = Setting(typed: ["", "y", "y"])
        _ = try await other.interaction.answer(ElicitRequest("Send?", long))
        #expect(other.sink.text.contains("; the en… and 1 characters that are not shown here\n"))
    }

    /// A script agrees to what it can read: the message of a question that nobody answers is whole.
    @Test func whatNobodyAnswersIsShown() async throws {
        let message = String(repeating: "a", count: Prompter.shownCharacters - 9) + "; the end"
        for (text, shown) in [
            (message, "\"\(message)\" (yes or no)"),
            ("b" + message, "; the en…\" and 1 characters that are not shown here (yes or no)"),
        ] {
            let setting = Setting(typed: nil)
            await #expect(throws: MCPError.self) {
                try await setting.interaction.answer(ElicitRequest(text, ElicitationSchema([])))
            }
            #expect(setting.interaction.failure?.message.contains(shown) == true)
        }
    }

    /// MCP forbids servers to ask for secrets in a form.
    @Test(arguments: [
        ("password", true), ("api_key", true), ("apiKey", true), ("pin", true), ("accessToken", true),
        ("author", false), ("keyboard", false), ("spinner", false), ("name", false),
    ])
    func aFieldForASecret(name: String, isSecret: Bool) async throws {
        let setting = Setting(typed: ["x", "d"])
        let form = ElicitationSchema([.string(name, required: true)])
        _ = try await setting.interaction.answer(ElicitRequest("Who?", form))
        #expect(
            setting.sink.text.contains("  caution: a server must not ask for a secret this way") == isSecret,
            "\(setting.sink.text)")
    }

    @Test func aCautionIsBrokenWhereTheTerminalEnds() async throws {
        let setting = Setting(typed: ["x", "d"], width: 40)
        let form = ElicitationSchema([.string("password", required: true)])
        _ = try await setting.interaction.answer(ElicitRequest("Who?", form))
        #expect(
            setting.sink.text.contains("  caution: a server must not ask for a\n    secret this way; what"),
            "\(setting.sink.text)")
    }

    /// The person learns that the server did not get the answer.
    @Test func anAnswerThatIsLost() async throws {
        let question =
            #"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Who?","#
            + #""requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}"#
        let peer = try HTTPPeer { heard in
            switch heard.rpcMethod {
            case "initialize":
                .result(heard, Script.initialized(capabilities: #"{"tools":{}}"#))
            case "notifications/initialized": .status(202)
            case "tools/list": .result(heard, #"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#)
            case "tools/call": .events("data: \(question)\n\n", end: false, then: .hang)
            case "": .status(heard.method == "GET" ? 405 : 500)
            default: .status(400)
            }
        }
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        harness.typed = ["Ada", "y"]
        harness.hearStderr = { text in
            // The call goes on without the answer.
            guard text.contains("was not delivered"),
                let call = peer.heard.first(where: { $0.rpcMethod == "tools/call" })
            else { return }
            let event = #"data: {"jsonrpc":"2.0","id":\#(call.id),"result":{"content":[]}}"# + "\n\n"
            peer.say(
                "\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n0\r\n\r\n", on: call.connection)
        }
        let outcome = await harness.run("call", peer.endpoint, "t")
        #expect(outcome.code == .ok)
        #expect(
            outcome.stderr.contains(
                "the answer was not delivered: the server answered the message with HTTP 500"),
            "\(outcome.stderr)")
    }

    /// A server that never stops asking gets no more answers, and its connection ends.
    @Test func questionsWithoutEnd() async throws {
        let ended = Notes()
        let setting = Setting(typed: nil, answers: ["a": "1"])
        let request = ElicitRequest("Again?", ElicitationSchema([.string("a", required: true)]))
        setting.interaction.onFlood { ended.add("ended") }
        for _ in 1 ... Interaction.maxQuestions {
            #expect(try await setting.interaction.answer(request).action == .accept)
        }
        #expect(setting.interaction.failure == nil && ended.all.isEmpty)
        for _ in 1 ... 3 {
            await #expect(throws: MCPError.self) { try await setting.interaction.answer(request) }
        }
        #expect(setting.interaction.failure?.message == "book asks more than 1000 questions")
        #expect(ended.all == ["ended"])
        setting.interaction.forget()
        #expect(try await setting.interaction.answer(request).action == .accept)
    }
}
