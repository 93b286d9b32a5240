import MCPApps
import MCPCore
import MCPHarness

/// Questions in the form that the page shows: texts, possibly a form, and the answers.
///
/// The first answer is the one that does nothing; dismissing the question means the same.
enum QuestionJSON {
    static func json(_ question: HostQuestion) -> JSONValue {
        var json: JSONObject = ["type": "question", "id": .string(question.id.rawValue)]
        json["path"] = .string("approvals/\(question.id)")
        json["from"] = .string(question.view == nil ? question.server : "A view of \(question.server) asks")
        json["answers"] = yesOrNo("Allow")
        switch question.subject {
        case .approval(let request): add(request, question, &json)
        case .elicitation(let request): add(request, question, &json)
        case .link(let url):
            json["title"] = "Open this address in a new tab?"
            json["code"] = .string(url)
            json["answers"] = yesOrNo("Open")
        case .download(let files):
            json["title"] = "Save \(files.count == 1 ? "this file" : "these files")?"
            json["lines"] = .array(
                files.map { file in
                    .string(file.bytes.map { "\(file.name) (\(ByteSize.text($0)))" } ?? file.name)
                })
            json["answers"] = yesOrNo("Save")
        case .message(let text):
            json["title"] = "Send this on your behalf?"
            json["code"] = .string(text)
            json["answers"] = yesOrNo("Send")
        case .sampling(let text):
            json["title"] = "Let the model answer this?"
            json["code"] = .string(text)
        }
        return .object(json)
    }

    private static func add(_ request: ApprovalRequest, _ question: HostQuestion, _ json: inout JSONObject) {
        let asker =
            switch request.requestedBy {
            case .model: "the model"
            case .view: "a view of \(question.server)"
            case .user: "you"
            }
        json["from"] = .string("\(question.server) · asked by \(asker)")
        json["title"] = .string("Allow \(request.tool.displayName) to run?")
        if let description = request.tool.description {
            json["text"] = .string(request.isTrusted ? description : "The server says: \(description)")
        }
        json["lead"] = "It may"
        json["lines"] = .array(request.scopes.map { .string($0.explanation) })
        json["code"] = .string(request.prettyArguments)
        json["answers"] = [
            answer("Deny", ["decision": "deny"], look: "no", isFirst: true),
            answer("Allow for this run", ["decision": "allow", "remember": "run"]),
            answer("Allow", ["decision": "allow"], look: "primary yes"),
        ]
    }

    private static func add(_ request: ElicitRequest, _ question: HostQuestion, _ json: inout JSONObject) {
        json["path"] = .string("elicitations/\(question.id)")
        json["from"] = .string("\(question.server) asks")
        json["title"] = .string(request.message)
        var accept: JSONObject = [
            "label": .string(request.url == nil ? "Send" : "Open"), "look": "primary yes",
            "body": ["action": "accept"],
        ]
        if let schema = request.schema {
            json["form"] = FormSpec.json(for: schema.json)
            accept["takesForm"] = true
        }
        if let url = request.url { json["code"] = .string(url) }
        json["answers"] = [
            answer("Not now", ["action": "cancel"], isFirst: request.schema == nil),
            answer("Decline", ["action": "decline"], look: "no"), .object(accept),
        ]
    }

    private static func yesOrNo(_ yes: String) -> JSONValue {
        [
            answer("Deny", ["decision": "deny"], look: "no", isFirst: true),
            answer(yes, ["decision": "allow"], look: "primary yes"),
        ]
    }

    private static func answer(
        _ label: String, _ body: JSONValue, look: String = "", isFirst: Bool = false
    ) -> JSONValue {
        ["label": .string(label), "look": .string(look), "body": body, "isFirst": .bool(isFirst)]
    }
}
