/// The conversion of a word on the command line to the type that the schema requires.
///
/// Nothing is guessed: a word is a number only where the schema does not allow text.
package enum TypedWord {
    package enum Outcome: Sendable, Hashable {
        case value(JSONValue)
        /// The reason why the word cannot have the required type.
        case problem(String)
    }

    /// Converts a word.
    ///
    /// - Parameter name: the name of the argument in messages.
    package static func value(_ text: String, _ view: SchemaView, name: String) -> Outcome {
        if let choice = choice(text, view.choices) { return .value(choice) }
        // Beside a choice, only what the other alternatives allow.
        let others = view.choices.isEmpty ? [] : view.typesBesideChoices
        let types = others.isEmpty ? view.types : others
        if types.isEmpty || types.contains("string") { return .value(.string(text)) }
        if types.contains("integer") || types.contains("number"), let number = JSONNumber(text: text) {
            return .value(.number(number))
        }
        if types.contains("boolean"), text == "true" || text == "false" {
            return .value(.bool(text == "true"))
        }
        if types.contains("null"), text == "null" { return .value(.null) }
        return .problem(problem(text, types, view, others, name: name))
    }

    private static func choice(_ text: String, _ choices: [JSONValue]) -> JSONValue? {
        if choices.contains(.string(text)) { return .string(text) }
        let number = JSONNumber(text: text)
        return choices.first { value in
            switch value {
            case .number(let choice): choice == number
            case .bool(let bool): text == (bool ? "true" : "false")
            case .null: text == "null"
            default: false
            }
        }
    }

    private static func problem(
        _ text: String, _ types: [String], _ view: SchemaView, _ others: [String], name: String
    ) -> String {
        if !view.choices.isEmpty, types.allSatisfy({ $0 != "object" && $0 != "array" }) {
            let choices = view.choices.prefix(12).map { TerminalText.inline($0.serialized()) }
            let list = "\(TerminalText.quoted(text)) is not one of \(choices.joined(separator: ", "))"
            return ([list] + words(others, name)).joined(separator: " or ")
        }
        if types.contains("object"), types.count == 1 {
            return "is an object: write \(name).member=value or \(name):={…}"
        }
        return "\(TerminalText.quoted(text)) is not \(words(types, name).joined(separator: " or "))"
    }

    private static func words(_ types: [String], _ name: String) -> [String] {
        types.compactMap { type in
            switch type {
            case "integer": "an integer"
            case "number": "a number"
            case "boolean": "true or false"
            case "array": "an array (\(name):=[…])"
            case "object": "an object (\(name):={…})"
            case "null": "null"
            default: nil as String?
            }
        }
    }
}
