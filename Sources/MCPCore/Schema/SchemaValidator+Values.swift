/// The keywords that apply to a single value.
extension SchemaValidator {
    mutating func checkValue(_ value: JSONValue, _ node: SchemaNode) -> Bool {
        var isValid = true
        if case .number(let number) = value, !node.types.isSuperset(of: .number) {
            work -= number.text.utf8.count >> 2
            guard work > 0 else { return false }
        }
        if node.types != .all, !Self.value(value, is: node.types) {
            let message =
                if case .number(let number) = value, node.types.contains(.integer) {
                    "\(SchemaText.brief(.number(number))) is not an integer"
                } else {
                    "expected \(node.types.description), found \(Self.typeName(of: value))"
                }
            isValid = report("type", message, node)
        }
        if let values = node.enumeration {
            // With a set, the value is hashed once; without one, it is compared with each element.
            for _ in 0 ..< (node.enumerationSet == nil ? values.count : 1) { value.weigh(against: &work) }
            guard work > 0 else { return false }
            let isListed = node.enumerationSet?.contains(value) ?? values.contains(value)
            if !isListed {
                isValid = report("enum", Self.enumMessage(value, values), node)
            }
        }
        if let constant = node.constant {
            value.weigh(against: &work)
            guard work > 0 else { return false }
            if constant != value {
                isValid = report(
                    "const", "\(SchemaText.brief(value)) is not \(SchemaText.brief(constant))", node)
            }
        }
        return isValid
    }

    private static func enumMessage(_ value: JSONValue, _ values: [JSONValue]) -> String {
        values.count == 1
            ? "\(SchemaText.brief(value)) is not \(SchemaText.brief(values[0]))"
            : "\(SchemaText.brief(value)) is not one of \(SchemaText.list(values))"
    }

    static func value(_ value: JSONValue, is types: SchemaTypes) -> Bool {
        switch value {
        case .null: types.contains(.null)
        case .bool: types.contains(.boolean)
        case .number(let number):
            types.isSuperset(of: .number) || (types.contains(.integer) && SchemaDecimal(number).isInteger)
        case .string: types.contains(.string)
        case .array: types.contains(.array)
        case .object: types.contains(.object)
        }
    }

    static func typeName(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    // MARK: Numbers and strings

    mutating func check(_ number: JSONNumber, _ rules: NumberRules, _ node: SchemaNode) -> Bool {
        work -= number.text.utf8.count
        guard work > 0 else { return false }
        let value = SchemaDecimal(number)
        let shown = SchemaText.brief(.number(number))
        var isValid = true
        if let limit = rules.minimum, value < limit {
            isValid = report("minimum", "\(shown) is less than the minimum \(limit.text)", node)
        }
        if let limit = rules.maximum, limit < value {
            isValid = report("maximum", "\(shown) is greater than the maximum \(limit.text)", node)
        }
        if let limit = rules.exclusiveMinimum, !(limit < value) {
            isValid = report("exclusiveMinimum", "\(shown) is not greater than \(limit.text)", node)
        }
        if let limit = rules.exclusiveMaximum, !(value < limit) {
            isValid = report("exclusiveMaximum", "\(shown) is not less than \(limit.text)", node)
        }
        if let divisor = rules.multipleOf, !value.isMultiple(of: divisor) {
            isValid = report("multipleOf", "\(shown) is not a multiple of \(divisor.text)", node)
        }
        return isValid
    }

    mutating func check(_ text: String, _ rules: StringRules, _ node: SchemaNode) -> Bool {
        var isValid = true
        if rules.limitsLength {
            let length = text.unicodeScalars.count
            work -= length >> 4
            if let limit = rules.minLength, length < limit {
                let found = length == 0 ? "the text is empty" : "\(SchemaText.quoted(text)) is too short"
                isValid = report(
                    "minLength", "\(found): at least \(SchemaText.count(limit, "character"))", node)
            }
            if let limit = rules.maxLength, length > limit {
                let message =
                    "the text has \(SchemaText.count(length, "character")), at most \(limit) are allowed"
                isValid = report("maxLength", message, node)
            }
        }
        if let pattern = rules.pattern, pattern.isFound(in: text, budget: &work) != true {
            isValid = report(
                "pattern",
                "\(SchemaText.quoted(text)) does not match the pattern \(SchemaText.plain(pattern.source))",
                node)
        }
        if let format = rules.format {
            work -= text.utf8.count + (format == .regex ? PatternProgram.maxSize : 0)
            guard work > 0 else { return false }
            if !format.accepts(text) {
                isValid = report(
                    "format", "\(SchemaText.quoted(text)) is not a valid \(format.rawValue)", node)
            }
        }
        return isValid
    }
}

extension JSONValue {
    /// Subtracts from `budget` the cost of hashing, comparing or writing this value: one step for each part
    /// and for every 16 bytes of text.
    ///
    /// Stops when the budget is exhausted.
    func weigh(against budget: inout Int) {
        budget -= 1
        switch self {
        case .null, .bool: return
        case .number(let number): budget -= number.text.utf8.count >> 4
        case .string(let text): budget -= text.utf8.count >> 4
        case .array(let elements):
            for element in elements {
                guard budget > 0 else { return }
                element.weigh(against: &budget)
            }
        case .object(let members):
            for member in members.members {
                guard budget > 0 else { return }
                budget -= member.key.utf8.count >> 4
                member.value.weigh(against: &budget)
            }
        }
    }
}
