import MCPCore

/// One field of a form, filled in by a person or a flag.
struct FormField {
    let name: String
    private let schema: JSONValue
    private let view: SchemaView

    init(_ name: String, _ schema: JSONValue) {
        self.name = name
        self.schema = schema
        view = SchemaView(schema)
    }

    var title: String { inlineText(schema["title"]?.stringValue ?? name) }
    var explanation: String? { schema["description"]?.stringValue.map { inlineText($0) } }
    var initial: JSONValue? { schema["default"] }

    /// Whether the field is for a secret, to judge by its names and its format.
    var asksForSecret: Bool {
        guard schema["type"]?.stringValue ?? "string" == "string" else { return false }
        return schema["format"]?.stringValue == "password" || names.contains(where: SecretWords.asks)
    }

    /// Whether what is entered may be a secret, so that it is not stored.
    var mayBeSecret: Bool {
        schema["format"]?.stringValue == "password" || schema["writeOnly"] == true
            || names.contains { SecretWords.name($0) || SecretWords.asks($0) }
    }

    private var names: [String] { [name, schema["title"]?.stringValue ?? ""] }

    /// Whether the field takes several values.
    var isList: Bool { schema["type"]?.stringValue == "array" }

    /// The available choices: their values, and the titles under which they are shown.
    var choices: [(value: String, title: String)] {
        let source = isList ? schema["items"] : schema
        let titled = source?["oneOf"]?.arrayValue ?? source?["anyOf"]?.arrayValue
        if let titled {
            return titled.compactMap { choice in
                choice["const"]?.stringValue.map { ($0, choice["title"]?.stringValue ?? $0) }
            }
        }
        let values = source?["enum"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let names = source?["enumNames"]?.arrayValue?.compactMap(\.stringValue) ?? []
        return values.enumerated().map { ($1, names.count == values.count ? names[$0] : $1) }
    }

    /// The kind of answer that is expected, in a word or two.
    var kind: String {
        if isList { return "one or more, separated by commas" }
        return switch schema["type"]?.stringValue {
        case "boolean": "yes or no"
        case "integer": "whole number"
        case "number": "number"
        default: schema["format"]?.stringValue.map { inlineText($0) } ?? "text"
        }
    }

    /// What precedes `kind` in a sentence.
    var article: String {
        !isList && ["integer", "number"].contains(schema["type"]?.stringValue ?? "") ? "a " : ""
    }

    /// Returns the value of an answer given as text or as JSON; nil when it has the wrong type.
    func value(_ given: JSONValue) -> JSONValue? {
        switch given {
        case .string(let text): return value(text)
        case .array(let elements) where isList && !choices.isEmpty:
            return .array(elements.flatMap { $0.stringValue.map(chosenOnes) ?? [$0] })
        default: return given
        }
    }

    /// Returns the choices that a text names: one, or several with commas between them.
    private func chosenOnes(_ text: String) -> [JSONValue] {
        let one = chosen(text)
        if choices.contains(where: { $0.value == one }) { return [.string(one)] }
        return text.split(separator: ",").map { .string(chosen(String($0).trimmingSpaces())) }
    }

    func value(_ text: String) -> JSONValue? {
        if isList {
            let parts = text.split(separator: ",").map { chosen(String($0).trimmingSpaces()) }
            return .array(parts.map(JSONValue.string))
        }
        if schema["type"]?.stringValue == "boolean" {
            switch text.lowercased() {
            case "y", "yes", "true": return true
            case "n", "no", "false": return false
            default: return nil
            }
        }
        if !choices.isEmpty { return .string(chosen(text)) }
        guard case .value(let value) = TypedWord.value(text, view, name: name) else { return nil }
        return value
    }

    /// Returns a choice by its value, its title or its number in the list.
    private func chosen(_ text: String) -> String {
        let choices = choices
        if choices.contains(where: { $0.value == text }) { return text }
        if let match = choices.first(where: { $0.title == text }) { return match.value }
        if let number = Int(text), choices.indices.contains(number - 1) { return choices[number - 1].value }
        return text
    }

    /// Returns the reason why a value does not fit; nil when it does.
    func problem(with value: JSONValue) -> String? {
        guard let compiled = try? CompiledSchema(schema, options: SchemaOptions(assertFormat: true)) else {
            return nil
        }
        return compiled.validate(value).first.map { inlineText($0.message) }
    }
}
