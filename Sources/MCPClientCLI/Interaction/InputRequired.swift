import MCPCore

/// The failure when a server asks a question that no one can answer.
enum InputRequired {
    /// A question in words.
    struct Question: Sendable {
        /// Its text and its fields.
        let text: String
        /// The names of the fields that need an answer.
        var fields: [String] = []
        /// Whether it asks for consent only.
        var isConsent = false
    }

    static func failure(_ questions: [Question], subject: String) -> Failure {
        let asks = questions.first.map { " asks \($0.text)" } ?? " asks a question"
        return Failure(
            code: .inputRequired, kind: .inputRequired,
            message: "input required: \(inlineText(subject))\(asks)",
            details: questions.dropFirst().prefix(4).map { "and \($0.text)" }, hint: hint(questions),
            hasPrefix: false)
    }

    /// Returns a hint on how to answer the first question.
    private static func hint(_ questions: [Question]) -> String? {
        guard let first = questions.first else { return nil }
        if first.isConsent {
            return "--answers FILE with {} in FILE accepts; nothing declines without a terminal"
        }
        let flags = first.fields.prefix(6).map { "--answer \(inlineText(ShellWord.quote($0)))=…" }
        return flags.isEmpty ? nil : flags.joined(separator: " ")
    }

    /// Returns the whole message of a server in quotation marks, or the beginning of a long one and the size
    /// of the rest: a script may agree to it.
    static func shown(_ message: String) -> String {
        let hidden = message.unicodeScalars.count - Prompter.shownCharacters
        guard hidden > 0 else { return "\"\(VisibleText.line(message))\"" }
        let start = String(message.unicodeScalars.prefix(Prompter.shownCharacters))
        return "\"\(VisibleText.line(start))…\" and \(hidden) characters that are not shown here"
    }

    /// Returns a question in words.
    static func question(_ request: ElicitRequest) -> Question {
        questions([
            "q": [
                "params": [
                    "message": .string(request.message), "requestedSchema": request.schema?.json ?? [:],
                ]
            ]
        ])
        .first ?? Question(text: shown(request.message))
    }

    /// Returns the questions of an `input_required` result (MCP 2026-07-28, multi round-trip requests).
    static func questions(_ requests: JSONValue?) -> [Question] {
        (requests?.objectValue ?? [:]).map { _, request in
            let params = request["params"]
            guard let message = params?["message"]?.stringValue else {
                return Question(text: "for \(inlineText(request["method"]?.stringValue ?? "input"))")
            }
            let schema = params?["requestedSchema"]
            let properties = schema?["properties"]?.objectValue ?? [:]
            if properties.isEmpty {
                let isConsent = params?["url"] == nil
                return Question(
                    text: shown(message) + (isConsent ? " (yes or no)" : ""), isConsent: isConsent)
            }
            var fields = properties.prefix(6).map { field in
                "\(inlineText(field.key)): \(TypeText.signature(SchemaView(field.value)))"
            }
            if properties.count > 6 { fields.append("… \(properties.count - 6) more") }
            let required = schema?["required"]?.arrayValue?.compactMap(\.stringValue) ?? []
            let needed = properties.filter { required.contains($0.key) && $0.value["default"] == nil }
            return Question(
                text: shown(message)
                    + " (field\(fields.count == 1 ? "" : "s") \(fields.joined(separator: ", ")))",
                fields: needed.isEmpty ? properties.prefix(1).map(\.key) : needed.map(\.key))
        }
    }
}
