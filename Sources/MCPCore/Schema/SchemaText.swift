/// Formatting of values in messages: short, on one line and safe to print on a terminal.
enum SchemaText {
    /// The maximum number of characters shown of a value.
    static let maxLength = 60
    /// The maximum number of values shown of a list.
    static let maxListed = 10

    /// Returns a string in quotes.
    static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(maxLength)
        var result = "\""
        for scalar in shown { append(scalar, to: &result) }
        return result + (shown.endIndex == text.unicodeScalars.endIndex ? "\"" : "…\"")
    }

    /// Returns any value as JSON, truncated when it is long.
    static func brief(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): return quoted(text)
        case .number(let number): return cut(number.text)
        case .array(let elements) where elements.count > maxLength: return "this array"
        case .object(let members) where members.count > maxLength: return "this object"
        default:
            // Avoid writing out a large value only to truncate it.
            var room = 1_000
            value.weigh(against: &room)
            guard room > 0 else { return value.objectValue == nil ? "this array" : "this object" }
            return cut(value.serialized())
        }
    }

    static func list(_ values: [JSONValue]) -> String {
        let shown = values.prefix(maxListed).map(brief).joined(separator: ", ")
        return values.count > maxListed ? "\(shown), … (\(values.count) values)" : shown
    }

    /// Returns a count with its noun: `1 element`, `2 elements`.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Returns the text without characters that could move a terminal's cursor or reorder the line.
    static func plain(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars { append(scalar, to: &result) }
        return result
    }

    private static func cut(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(maxLength)
        let isWhole = shown.endIndex == text.unicodeScalars.endIndex
        return plain(String(String.UnicodeScalarView(shown))) + (isWhole ? "" : "…")
    }

    private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
            text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        default: text.unicodeScalars.append(scalar)
        }
    }
}
