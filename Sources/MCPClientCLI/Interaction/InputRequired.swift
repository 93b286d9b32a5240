import MCPCore

/// The failure when a server asks a question that no one can answer.
enum InputRequired {
    static func failure(_ questions: [String], subject: String) -> Failure {
        let asks = questions.first.map { " asks \($0)" } ?? " asks a question"
        return Failure(
            code: .inputRequired, kind: .inputRequired,
            message: "input required: \(inlineText(subject))\(asks)",
            details: questions.dropFirst().prefix(4).map { "and \($0)" }, hint: hint(questions),
            hasPrefix: false)
    }

    /// Returns a hint on how to answer the first field of the first question.
    private static func hint(_ questions: [String]) -> String? {
        if questions.first?.hasSuffix(consent) == true {
            return "--answers FILE with {} in FILE accepts; nothing declines without a terminal"
        }
        guard let start = questions.first?.firstRange(of: "(field")?.upperBound,
            let rest = questions.first?[start...].drop(while: { $0 == "s" || $0 == " " })
        else { return nil }
        let name = rest.prefix { $0 != ":" }
        return name.isEmpty ? nil : "--answer \(name)=…"
    }

    /// What follows a question without fields, which asks for consent only.
    private static let consent = " (yes or no)"

    /// Returns a question in words: its text and its fields.
    static func question(_ request: ElicitRequest) -> String {
        questions([
            "q": [
                "params": [
                    "message": .string(request.message), "requestedSchema": request.schema?.json ?? [:],
                ]
            ]
        ])
        .first ?? quoted(request.message)
    }

    /// Returns the questions of an `input_required` result (MCP 2026-07-28, multi round-trip requests).
    static func questions(_ requests: JSONValue?) -> [String] {
        (requests?.objectValue ?? [:]).map { _, request in
            let params = request["params"]
            guard let message = params?["message"]?.stringValue else {
                return "for \(inlineText(request["method"]?.stringValue ?? "input"))"
            }
            let fields = (params?["requestedSchema"]?["properties"]?.objectValue ?? [:]).prefix(6).map {
                field in
                "\(inlineText(field.key)): \(TypeText.signature(SchemaView(field.value)))"
            }
            let isForm = params?["url"] == nil
            let suffix =
                fields.isEmpty
                ? (isForm ? consent : "")
                : " (field\(fields.count == 1 ? "" : "s") \(fields.joined(separator: ", ")))"
            return quoted(message) + suffix
        }
    }
}
