/// Reads the keywords of one schema and rejects values that the meta-schema does not allow (MCP SCH-04).
struct SchemaReader {
    let members: JSONObject
    private let place: String

    init(members: JSONObject, location: String) {
        self.members = members
        place = location
    }

    func location(_ keyword: String) -> String { "\(place)/\(keyword)" }

    func error(_ keyword: String, _ message: String) -> SchemaError {
        SchemaError(at: location(keyword), message)
    }

    func countOf(_ keywords: [String]) -> Int { keywords.lazy.filter { members[$0] != nil }.count }

    // MARK: Typed access

    func string(_ keyword: String) throws(SchemaError) -> String? {
        guard let value = members[keyword] else { return nil }
        guard case .string(let text) = value else { throw error(keyword, "must be a string") }
        return text
    }

    func bool(_ keyword: String) throws(SchemaError) -> Bool? {
        guard let value = members[keyword] else { return nil }
        guard case .bool(let flag) = value else { throw error(keyword, "must be true or false") }
        return flag
    }

    func array(_ keyword: String) throws(SchemaError) -> [JSONValue]? {
        guard let value = members[keyword] else { return nil }
        guard case .array(let elements) = value else { throw error(keyword, "must be an array") }
        return elements
    }

    func object(_ keyword: String) throws(SchemaError) -> JSONObject? {
        guard let value = members[keyword] else { return nil }
        guard case .object(let object) = value else { throw error(keyword, "must be an object") }
        return object
    }

    func number(_ keyword: String) throws(SchemaError) -> SchemaDecimal? {
        guard let value = members[keyword] else { return nil }
        guard case .number(let number) = value else { throw error(keyword, "must be a number") }
        return SchemaDecimal(number)
    }

    /// Reads a count: a non-negative integer. A number that is too large is read as the greatest possible
    /// count.
    func count(_ keyword: String) throws(SchemaError) -> Int? {
        guard let number = try number(keyword) else { return nil }
        guard number.isInteger, !number.text.hasPrefix("-") || number.int64 == 0 else {
            throw error(keyword, "must be a non-negative integer")
        }
        return number.int64.flatMap { Int(exactly: $0) } ?? .max
    }

    func names(_ keyword: String) throws(SchemaError) -> [String]? {
        guard let value = members[keyword] else { return nil }
        return try names(value, keyword)
    }

    func names(_ value: JSONValue, _ path: String) throws(SchemaError) -> [String] {
        guard case .array(let elements) = value else { throw error(path, "must be an array of names") }
        var result: [String] = []
        for element in elements {
            guard case .string(let name) = element else { throw error(path, "must be an array of names") }
            result.append(name)
        }
        return result
    }

    func pattern(_ source: String, _ keyword: String) throws(SchemaError) -> Pattern {
        do {
            return try Pattern(source)
        } catch {
            throw self.error(
                keyword,
                "the regular expression \(SchemaText.quoted(source)) cannot be used: \(error) "
                    + "(at character \(error.offset))"
            )
        }
    }

    // MARK: The validation vocabulary

    func readAssertions(into parts: inout SchemaParts) throws(SchemaError) {
        try readTypes(into: &parts)
        if let values = try array("enum") { parts.enumeration = values }
        parts.constant = members["const"]
        try readNumberRules(into: &parts)
        try readStringRules(into: &parts)
    }

    private func readTypes(into parts: inout SchemaParts) throws(SchemaError) {
        guard let value = members["type"] else { return }
        var types: SchemaTypes = []
        let listed = if case .array(let elements) = value { elements } else { [value] }
        for element in listed {
            guard case .string(let name) = element,
                let type = SchemaTypes.names.first(where: { $0.name == name })
            else { throw error("type", "\(SchemaText.brief(element)) is not a JSON Schema type") }
            types.formUnion(type.types)
        }
        guard !types.isEmpty else { throw error("type", "must name at least one type") }
        parts.types = types
    }

    private func readNumberRules(into parts: inout SchemaParts) throws(SchemaError) {
        let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
        guard countOf(keywords) > 0 else { return }
        var rules = NumberRules()
        rules.minimum = try number("minimum")
        rules.maximum = try number("maximum")
        rules.exclusiveMinimum = try number("exclusiveMinimum")
        rules.exclusiveMaximum = try number("exclusiveMaximum")
        rules.multipleOf = try number("multipleOf")
        if let divisor = rules.multipleOf, !divisor.isUsableAsDivisor {
            let digits = SchemaDecimal.maxDivisorDigits
            throw error("multipleOf", "must be greater than 0 and have at most \(digits) significant digits")
        }
        parts.number = rules
    }

    private func readStringRules(into parts: inout SchemaParts) throws(SchemaError) {
        guard countOf(["minLength", "maxLength", "pattern"]) > 0 else { return }
        var rules = StringRules()
        rules.minLength = try count("minLength")
        rules.maxLength = try count("maxLength")
        if let source = try string("pattern") { rules.pattern = try pattern(source, "pattern") }
        parts.string = rules
    }
}
