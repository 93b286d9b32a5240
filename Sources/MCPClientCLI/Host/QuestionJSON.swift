import MCPApps
import MCPCore
import MCPHarness

/// Questions in the form that the page shows: texts, possibly a form, and the answers.
///
/// The first answer is the one that does nothing; dismissing the question means the same.
enum QuestionJSON {
    /// - Parameter room: the parts and choices that its form may have.
    static func json(_ question: HostQuestion, room: Int = .max) -> JSONValue {
        var json: JSONObject = ["type": "question", "id": .string(question.id.rawValue)]
        json["path"] = .string("approvals/\(question.id)")
        json["view"] = HostEventWriter.text(question.view?.rawValue)
        let server = server(question)
        json["from"] = .string(question.view == nil ? "The \(server) asks" : "A view of the \(server) asks")
        json["answers"] = yesOrNo("Allow")
        switch question.subject {
        case .approval(let request): add(request, question, &json)
        case .elicitation(let request): add(request, question, room, &json)
        case .link(let url): add(url, &json)
        case .download(let files): add(files, question, &json)
        case .message(let text):
            json["title"] = "Send this on your behalf?"
            json["code"] = .string(text)
            json["answers"] = yesOrNo("Send")
        case .sampling(let text):
            json["title"] = "Let the model answer this?"
            json["code"] = .string(text)
        }
        return .object(visible(json))
    }

    /// Names the characters that nobody would see in what the question is about: they would be sent, too.
    private static func visible(_ json: JSONObject) -> JSONObject {
        var json = json
        if let from = json["from"]?.stringValue { json["from"] = .string(VisibleText.line(from)) }
        for key in ["title", "text", "code"] {
            if let text = json[key]?.stringValue { json[key] = .string(VisibleText.block(text)) }
        }
        for key in ["lines", "warnings"] {
            if let lines = json[key]?.arrayValue {
                json[key] = .array(
                    lines.map { line in
                        let text = ContentJSON.clipped(line.stringValue ?? "", maxLine)
                        return .string(VisibleText.naming(text))
                    })
            }
        }
        return json
    }

    /// What a question shows of a line: 2 KiB; and of what a server says about it: 16 KiB. What is sent, or
    /// runs, is shown whole.
    static let maxLine = 2 << 10, maxText = HostEventWriter.maxLine

    private static func named(_ name: String) -> String { ContentJSON.clipped(name, HostEventWriter.maxName) }

    /// Returns a name without the quotation marks in which it stands: it ends where it ends.
    private static func unquoted(_ name: String) -> String {
        name.replacing("“", with: "⟨U+201C⟩").replacing("”", with: "⟨U+201D⟩")
    }

    /// Returns the server with its name in quotation marks, so that none passes for the page or the user.
    private static func server(_ question: HostQuestion) -> String { "server “\(named(question.server))”" }

    private static func add(_ request: ApprovalRequest, _ question: HostQuestion, _ json: inout JSONObject) {
        let asker =
            switch request.requestedBy {
            case .model: "the model"
            case .view: "a view of it"
            case .user: "you"
            }
        let server = server(question)
        let owner = question.isForViewTool ? "A view of the \(server)" : "The \(server)"
        let speaker = question.isForViewTool ? "The view" : "The server"
        json["from"] = .string("\(owner) · asked by \(asker)")
        // A server chooses the title; what runs is the name.
        let tool = request.tool
        json["title"] = .string("Allow “\(Self.unquoted(named(tool.name)))” to run?")
        var texts: [String] = []
        if tool.displayName != tool.name { texts.append("\(speaker) calls it “\(named(tool.displayName))”.") }
        if let description = tool.description.map({ ContentJSON.clipped($0, maxText) }) {
            texts.append(request.isTrusted ? description : "\(speaker) says: \(description)")
        }
        if !texts.isEmpty { json["text"] = .string(texts.joined(separator: "\n")) }
        if tool.annotations == nil {
            json["lead"] = .string("\(speaker) does not say whether it changes anything.")
        } else {
            json["lead"] = "It may"
            json["lines"] = .array(request.scopes.map { .string($0.explanation) })
        }
        json["code"] = .string(request.prettyArguments)
        json["codeLabel"] = "Arguments"
        let wider: JSONValue =
            question.view == nil
            ? answer("Allow for this run", ["decision": "allow", "remember": "run"], look: "wide")
            : answer("Allow all from this view", ["decision": "allow", "remember": "view"], look: "wide")
        json["answers"] = [
            answer("Deny", ["decision": "deny"], look: "no"), wider,
            answer("Allow", ["decision": "allow"], look: "primary yes"),
        ]
    }

    private static func add(_ url: String, _ json: inout JSONObject) {
        json["title"] = .string("Open \(WebAddress.host(of: url)) in a new tab?")
        json["code"] = .string(url)
        json["codeLabel"] = "Address"
        json["warnings"] = .array(WebAddress.warnings(about: url).map { .string($0) })
        json["answers"] = yesOrNo("Open")
    }

    private static func add(_ files: [HostedFile], _ question: HostQuestion, _ json: inout JSONObject) {
        json["title"] = "Save \(files.count == 1 ? "this file" : "these files")?"
        json["lines"] = .array(
            files.map { file in
                let source = file.bytes.map(ByteSize.text) ?? "from \(question.server), \(file.uri)"
                return .string("\(file.name) · \(file.mimeType) · \(source)")
            })
        json["answers"] = yesOrNo("Save")
    }

    private static func add(
        _ request: ElicitRequest, _ question: HostQuestion, _ room: Int, _ json: inout JSONObject
    ) {
        json["path"] = .string("elicitations/\(question.id)")
        json["title"] = .string(ContentJSON.clipped(request.message, maxText))
        var accept: JSONObject = [
            "label": .string(request.url == nil ? "Send" : "Open"), "look": "primary yes",
            "body": ["action": "accept"],
        ]
        if let schema = request.schema {
            json["form"] = FormSpec.json(for: schema.json, use: .answer, room: room)
            accept["takesForm"] = true
            if schema.properties.contains(where: { FormField($0.key, $0.value).asksForSecret }) {
                json["warnings"] = [
                    "A server must not ask for a secret this way: what you type is shown, and sent to it."
                ]
            }
        }
        if let url = request.url {
            json["code"] = .string(url)
            json["codeLabel"] = "Address"
            json["warnings"] = .array(WebAddress.warnings(about: url).map { .string($0) })
        }
        json["answers"] = [
            answer("Not now", ["action": "cancel"]), answer("Decline", ["action": "decline"], look: "no"),
            .object(accept),
        ]
    }

    private static func yesOrNo(_ yes: String) -> JSONValue {
        [
            answer("Deny", ["decision": "deny"], look: "no"),
            answer(yes, ["decision": "allow"], look: "primary yes"),
        ]
    }

    private static func answer(_ label: String, _ body: JSONValue, look: String = "") -> JSONValue {
        ["label": .string(label), "look": .string(look), "body": body]
    }
}
