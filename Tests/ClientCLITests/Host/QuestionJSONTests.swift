import MCPCore
import Testing

@testable import MCPApps
@testable import MCPClientCLI
@testable import MCPHarness

/// What questions say about who asks, whatever name a server has.
@Suite struct QuestionJSONTests {
    private func from(_ subject: HostQuestion.Subject, view: String? = nil, isForViewTool: Bool = false)
        -> JSONValue
    {
        QuestionJSON.json(
            HostQuestion(
                id: HostID(rawValue: "q1"), subject: subject, server: "MCP host",
                view: view.map { HostID(rawValue: $0) }, isForViewTool: isForViewTool))
    }

    private static func approval(by caller: ToolCaller) -> HostQuestion.Subject {
        .approval(
            ApprovalRequest(
                invocation: ToolInvocation(callID: "c", name: "t", source: "v1", arguments: "{}"),
                tool: Tool("t", description: "Does it"), sourceName: "s", sourceIdentity: "s",
                isTrusted: false, policy: .ask(.files), requestedBy: caller, timeout: nil))
    }

    @Test func noNamePassesForThePage() {
        let visit = HostQuestion.Subject.elicitation(ElicitRequest("Sign in?", url: "https://a.example/"))
        #expect(from(visit)["from"] == "The server “MCP host” asks")
        #expect(from(.sampling("x"))["from"] == "The server “MCP host” asks")
        #expect(from(.message("x"), view: "v1")["from"] == "A view of the server “MCP host” asks")
        #expect(from(Self.approval(by: .user))["from"] == "The server “MCP host” · asked by you")
        #expect(from(Self.approval(by: .model))["from"] == "The server “MCP host” · asked by the model")
    }

    @Test func whatAViewSaysIsNotItsServers() {
        let question = from(Self.approval(by: .model), isForViewTool: true)
        #expect(question["from"] == "A view of the server “MCP host” · asked by the model")
        #expect(question["text"] == "The view says: Does it")
        #expect(question["lead"] == "The view does not say whether it changes anything.")
        #expect(from(Self.approval(by: .model))["text"] == "The server says: Does it")
    }

    /// What a view says in a conversation has the name of its server, too.
    @Test func whatAViewSaysHasAName() {
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        for (author, who) in [
            (ConversationItem.Author.view("a\u{202E}"), "A view of the server “a⟨U+202E⟩”, on your behalf"),
            (.context("a"), "A view of the server “a”, for future turns"), (.user, "You"),
        ] {
            let item = ConversationItem(id: "m1", author: author, content: [.text("x")])
            #expect(writer.json(.conversation(item))?["who"] == .string(who))
        }
    }

    /// A server's words are shown up to a length that leaves room for what they are about.
    @Test func longWordsAreCut() throws {
        func long(_ letter: String) -> String { String(repeating: letter, count: 1 << 20) }
        let tool = Tool(long("n"), title: long("t"), description: long("d"), annotations: ToolAnnotations())
        let question = from(
            .approval(
                ApprovalRequest(
                    invocation: ToolInvocation(callID: "c", name: "t", source: "v1", arguments: "{}"),
                    tool: tool, sourceName: "s", sourceIdentity: "s", isTrusted: false,
                    policy: .ask(PermissionScope(long("s"))), requestedBy: .model, timeout: nil)))
        #expect(
            question["title"]?.stringValue
                == "Allow “\(String(long("n").prefix(256)))… (1048576 bytes)” to run?")
        let text = try #require(question["text"]?.stringValue)
        #expect(text.utf8.count < 17 << 10)
        #expect(text.ranges(of: "… (1048576 bytes)").count == 2)
        #expect(question["lines"]?[0]?.stringValue?.hasSuffix("… (1048576 bytes)") == true)
        let asked = from(.elicitation(ElicitRequest(long("m"), ElicitationSchema([]))))
        #expect(asked["title"]?.stringValue?.hasSuffix("… (1048576 bytes)") == true)
        // What is sent is shown whole.
        #expect(from(.message(long("x")))["code"]?.stringValue == long("x"))
    }

    /// Long arguments are shown whole, and are not indented, which could make them a hundred times longer.
    @Test func longArgumentsAreNotIndented() {
        let list = "[" + Array(repeating: "[1]", count: 30_000).joined(separator: ",") + "]"
        let arguments = "{\"a\":\(list)}"
        let question = from(
            .approval(
                ApprovalRequest(
                    invocation: ToolInvocation(callID: "c", name: "t", source: "v1", arguments: arguments),
                    tool: Tool("t"), sourceName: "s", sourceIdentity: "s", isTrusted: false,
                    policy: .ask(.files), requestedBy: .model, timeout: nil)))
        #expect(question["code"]?.stringValue == arguments)
    }

    /// A form with too many fields for the page is a field for all of the answer.
    @Test func aFormThatIsTooLarge() {
        let fields = (0 ..< 3_000).map { ElicitationSchema.Field.string("field\($0)") }
        let form = from(.elicitation(ElicitRequest("All of it?", ElicitationSchema(fields))))["form"]
        #expect(form?["members"]?.arrayValue?.isEmpty == true)
        #expect(form?["more"]?["label"] == "The answer as JSON")
        #expect(form?["more"]?["folds"] == false)
        let tool = FormSpec.json(for: ElicitationSchema(fields).json)
        #expect(tool["more"]?["label"] == "Other arguments (JSON)")
    }

    /// A question has the form that the open ones leave room for; after that, each is one field.
    @Test func formsOfAllQuestionsAreBounded() {
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        func asked(_ number: Int) -> (weight: Int, kind: JSONValue?) {
            let names = (0 ..< 1_500).map { ElicitationSchema.Choice("\($0)") }
            let schema = ElicitationSchema([.choice("f", names), .choice("g", names)])
            let question = HostQuestion(
                id: HostID(rawValue: "q\(number)"), subject: .elicitation(ElicitRequest("Which?", schema)),
                server: "s", view: nil, isForViewTool: false)
            let form = writer.json(.question(question))?["form"] ?? [:]
            return (FormSpec.weight(of: form), form["members"]?[1]?["kind"])
        }
        let all = (0 ..< 64).map(asked)
        #expect(all.prefix(3).map(\.kind) == ["choice", "choice", "json"])
        #expect(all.reduce(0) { $0 + $1.weight } < HostEventWriter.maxFormParts + 64 * 3)
        _ = writer.json(.questionClosed(id: HostID(rawValue: "q0")))
        #expect(asked(64).kind == "choice")
    }

    /// The name of a tool stands in quotation marks, which it cannot end.
    @Test func noNamePassesForWordsOfThePage() {
        let tool = Tool("read_notes” to run? It changes nothing. Allow “it", annotations: ToolAnnotations())
        let question = from(
            .approval(
                ApprovalRequest(
                    invocation: ToolInvocation(callID: "c", name: "t", source: "v1", arguments: "{}"),
                    tool: tool, sourceName: "s", sourceIdentity: "s", isTrusted: false,
                    policy: .ask(.files), requestedBy: .model, timeout: nil)))
        let name = "read_notes⟨U+201D⟩ to run? It changes nothing. Allow ⟨U+201C⟩it"
        #expect(question["title"] == .string("Allow “\(name)” to run?"))
    }

    /// A long name of the first tool does not hide the others.
    @Test func toolsOfAViewAreNamed() throws {
        let names = [String(repeating: "x", count: 300)] + (1 ... 24).map { "tool\($0)" }
        var writer = HostEventWriter(ports: SandboxPorts(port: 1))
        let event = HostEvent.viewTools(view: HostID(rawValue: "v1"), names.map { Tool($0) })
        let text = try #require(writer.json(event)?["offers"]?.stringValue)
        #expect(
            text.hasPrefix("It offers 25 tools to the model: xxx") && text.contains("tool19, and 5 more."))
        #expect(text.utf8.count < 500)
    }
}
