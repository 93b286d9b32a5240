/// Values as they appear in messages: short, in one line, and harmless on a terminal.
enum SchemaText {
    /// How many characters of a value are shown.
    static let maxLength = 60
    /// How many values of a list are shown.
    static let maxListed = 10

    /// A string in quotes.
    static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(maxLength)
        var result = "\""
        for scalar in shown { append(scalar, to: &result) }
        return result + (shown.endIndex == text.unicodeScalars.endIndex ? "\"" : "…\"")
    }

    /// Any value as JSON, cut when it is long.
    static func brief(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): return quoted(text)
        case .number(let number): return cut(number.text)
        case .array(let elements) where elements.count > maxLength: return "this array"
        case .object(let members) where members.count > maxLength: return "this object"
        default:
            // Not written out only to be cut.
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

    /// A count with its noun: `1 element`, `2 elements`.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Text without characters that could move a terminal's cursor or reorder the line.
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
