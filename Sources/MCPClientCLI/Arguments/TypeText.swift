import MCPCore

/// Short descriptions of a schema's types: `int 1…200`, `"web"|"worker"`, `[string]`.
enum TypeText {
    private static let maxChoices = 12

    /// Returns the type for a signature.
    static func signature(_ view: SchemaView, depth: Int = 0) -> String {
        if !view.choices.isEmpty { return choices(view, quotes: true, depth: depth) }
        return types(view.types, view, depth: depth)
    }

    /// Returns the type for a usage line, where a choice is typed without quotation marks.
    static func usage(_ view: SchemaView) -> String {
        if !view.choices.isEmpty { return choices(view, quotes: false, depth: 1) }
        return types(view.types, view, depth: 1)
    }

    private static func choices(_ view: SchemaView, quotes: Bool, depth: Int) -> String {
        let all = view.choices
        var words = all.prefix(maxChoices).map { value in
            if !quotes, let text = value.stringValue { return inlineText(text) }
            return inlineText(value.serialized())
        }
        if all.count > maxChoices { words.append("…") }
        let others = view.typesBesideChoices
        if !others.isEmpty { words.append(types(others, view, depth: depth)) }
        return words.joined(separator: "|")
    }

    private static func types(_ types: [String], _ view: SchemaView, depth: Int) -> String {
        if types.isEmpty { return "any" }
        return types.map { name in
            switch name {
            case "string": format(view) ?? "string"
            case "integer": "int" + range(view)
            case "number": "number" + range(view)
            case "boolean": "bool"
            case "array": depth > 3 ? "[…]" : "[" + signature(view.items, depth: depth + 1) + "]"
            case "object": object(view, depth: depth)
            default: inlineText(name)
            }
        }.joined(separator: "|")
    }

    private static func object(_ view: SchemaView, depth: Int) -> String {
        let names = view.propertyNames
        if names.isEmpty || names.count > 4 || depth > 1 { return "object" }
        return "{" + parameters(view, depth: depth + 1).joined(separator: ", ") + "}"
    }

    private static func format(_ view: SchemaView) -> String? {
        guard let format = view.keyword("format")?.stringValue, (1 ... 24).contains(format.utf8.count),
            format.utf8.allSatisfy({ $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") })
        else { return nil }
        return format
    }

    private static func range(_ view: SchemaView) -> String {
        func number(_ keyword: String) -> String? {
            guard case .number? = view.keyword(keyword) else { return nil }
            return view.keyword(keyword)?.serialized()
        }
        let low = number("minimum").map { ("≥", $0) } ?? number("exclusiveMinimum").map { (">", $0) }
        let high = number("maximum").map { ("≤", $0) } ?? number("exclusiveMaximum").map { ("<", $0) }
        switch (low, high) {
        case (nil, nil): return ""
        case (("≥", let low)?, ("≤", let high)?): return " \(low)…\(high)"
        default: return " " + [low, high].compactMap { $0 }.map { $0.0 + $0.1 }.joined(separator: " ")
        }
    }

    /// Returns the parameters, such as `repo: path`, `limit: int 1…200 = 20`, `author?: string`.
    static func parameters(_ view: SchemaView, depth: Int = 0) -> [String] {
        let required = Set(view.required)
        let names = view.propertyNames
        // Those that are needed come first.
        return (names.filter(required.contains) + names.filter { !required.contains($0) }).map { name in
            guard let property = view.property(name) else { return inlineText(name) }
            let fallback = property.keyword("default").map { " = " + shortened($0.serialized()) } ?? ""
            let mark = required.contains(name) || !fallback.isEmpty ? "" : "?"
            return "\(inlineText(name))\(mark): \(signature(property, depth: depth + 1))\(fallback)"
        }
    }

    private static func shortened(_ text: String) -> String { TerminalText.inline(text, limit: 40) }
}
