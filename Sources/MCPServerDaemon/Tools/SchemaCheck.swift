import MCPCore

/// Finds what makes a parameter's schema impossible to satisfy or its own examples wrong.
///
/// Such a schema compiles, but the call that it is meant for fails, or runs with a default that no caller
/// could have sent.
struct SchemaCheck {
    let diagnostics: Diagnostics
    /// A function that returns a schema without the keys of this program.
    let published: (ConfigNode) -> JSONValue

    private static let bounds = [
        ("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"),
        ("minProperties", "maxProperties"), ("minContains", "maxContains"),
    ]
    /// The keys whose values are, in this order, a schema, a list of schemas, and schemas by name.
    private static let single = [
        "items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else",
        "unevaluatedItems", "unevaluatedProperties",
    ]
    private static let lists = ["prefixItems", "anyOf", "oneOf", "allOf"]
    private static let named = [
        "properties", "patternProperties", "$defs", "definitions", "dependentSchemas",
    ]

    /// Reports everything that is wrong in a schema and in those inside it; `path` is how messages refer to
    /// it.
    func run(_ path: String, _ schema: ConfigNode) {
        guard schema.members != nil else { return }
        for (low, high) in Self.bounds { compare(low, high, path, schema) }
        compareExclusive(path, schema)
        checkValues(path, schema)
        for key in Self.single { if let inner = schema[key] { run("\(path).\(key)", inner) } }
        for key in Self.lists {
            for (index, inner) in (schema[key]?.elements ?? []).enumerated() {
                run("\(path).\(key)[\(index)]", inner)
            }
        }
        for key in Self.named {
            for member in schema[key]?.members ?? [] { run("\(path).\(key).\(member.key)", member.value) }
        }
    }

    /// Reports keys of path parameters where they have no effect: a path is checked only if the schema of the
    /// value itself says so, since which part of `anyOf` or what a `$ref` names applies is not decided here.
    ///
    /// - Parameters:
    ///   - place: where the keys have an effect.
    ///   - passed: keys of this schema whose values are checked elsewhere.
    func checkPaths(
        _ path: String, _ schema: ConfigNode, at place: SourcePosition, passingOver passed: [String] = []
    ) {
        guard schema.members != nil else { return }
        if schema.position != place {
            for key in ["x-root", "x-open"] {
                guard let found = schema[key] else { continue }
                diagnostics.error(
                    "\(path).\(key) has no effect here, and the path would not be checked: write it into the "
                        + "schema of the parameter, or of the items of an array", at: found.position)
            }
            if let format = schema["format"], format.string == "path", schema["x-root"] == nil {
                diagnostics.error(
                    "\(path): \"format\": \"path\" has no effect here, and the path would not be checked",
                    at: format.position)
            }
        }
        for key in Self.single {
            if let inner = schema[key] { checkPaths("\(path).\(key)", inner, at: place) }
        }
        for key in Self.lists {
            for (index, inner) in (schema[key]?.elements ?? []).enumerated() {
                checkPaths("\(path).\(key)[\(index)]", inner, at: place)
            }
        }
        for key in Self.named where !passed.contains(key) {
            for member in schema[key]?.members ?? [] {
                checkPaths("\(path).\(key).\(member.key)", member.value, at: place)
            }
        }
    }

    private func compare(_ low: String, _ high: String, _ path: String, _ schema: ConfigNode) {
        guard let first = schema[low], let second = schema[high], let least = first.json.doubleValue,
            let most = second.json.doubleValue, least > most
        else { return }
        diagnostics.error(
            "\(path): \(low) is greater than \(high), so no value fits: lower \(low) or raise \(high)",
            at: first.position)
    }

    private func compareExclusive(_ path: String, _ schema: ConfigNode) {
        for (low, high) in [
            ("exclusiveMinimum", "exclusiveMaximum"), ("exclusiveMinimum", "maximum"),
            ("minimum", "exclusiveMaximum"),
        ] {
            guard let first = schema[low], let second = schema[high], let least = first.json.doubleValue,
                let most = second.json.doubleValue, least >= most
            else { continue }
            diagnostics.error(
                "\(path): \(low) is not below \(high), so no value fits: lower \(low) or raise \(high)",
                at: first.position)
        }
    }

    /// Checks that the default and the examples fit the schema that contains them.
    private func checkValues(_ path: String, _ schema: ConfigNode) {
        var values: [(name: String, node: ConfigNode)] = []
        if let value = schema["default"] { values.append(("default", value)) }
        for (index, value) in (schema["examples"]?.elements ?? []).enumerated() {
            values.append(("examples[\(index)]", value))
        }
        if schema["enum"] != nil, let value = schema["const"] { values.append(("const", value)) }
        // A schema that does not compile on its own is reported with the whole, or refers to its
        // surroundings.
        guard !values.isEmpty, let compiled = try? CompiledSchema(published(schema)) else { return }
        for (name, node) in values {
            let violations = compiled.validate(node.json)
            if violations.isEmpty { continue }
            let reasons = violations.map(\.description).joined(separator: "; ")
            diagnostics.error(
                "\(path).\(name) does not match the schema of the parameter (\(reasons)): "
                    + "change it or the schema", at: node.position)
        }
    }
}
