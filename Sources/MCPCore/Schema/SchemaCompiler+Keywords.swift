/// The keywords that contain schemas.
extension SchemaCompiler {
    mutating func compileApplicators(
        _ reader: SchemaReader, _ place: SchemaPlace, _ parts: inout SchemaParts
    ) throws(SchemaError) {
        if let nodes = try children("allOf", reader, place) { parts.applicators.append(.allOf(nodes)) }
        if let nodes = try children("anyOf", reader, place) { parts.applicators.append(.anyOf(nodes)) }
        if let nodes = try children("oneOf", reader, place) { parts.applicators.append(.oneOf(nodes)) }
        if let node = try child("not", reader, place) { parts.applicators.append(.not(node)) }
        if let condition = try child("if", reader, place) {
            let then = try child("then", reader, place)
            let otherwise = try child("else", reader, place)
            parts.applicators.append(.conditional(condition: condition, then: then, otherwise: otherwise))
        }
    }

    private mutating func children(
        _ keyword: String, _ reader: SchemaReader, _ place: SchemaPlace
    ) throws(SchemaError) -> [Int]? {
        guard let schemas = try reader.array(keyword) else { return nil }
        guard !schemas.isEmpty else { throw reader.error(keyword, "must have at least one schema") }
        return try children(schemas, keyword, place)
    }

    private mutating func children(
        _ schemas: [JSONValue], _ keyword: String, _ place: SchemaPlace
    ) throws(SchemaError) -> [Int] {
        var nodes: [Int] = []
        for (index, schema) in schemas.enumerated() {
            nodes.append(try child(schema, "/\(keyword)/\(index)", of: place))
        }
        return nodes
    }

    /// Returns the schemas in an object such as `properties`, with their names.
    private mutating func members(
        _ keyword: String, _ reader: SchemaReader, _ place: SchemaPlace
    ) throws(SchemaError) -> [(name: String, node: Int)] {
        var result: [(name: String, node: Int)] = []
        for (name, schema) in try reader.object(keyword) ?? [:] {
            let path = "/\(keyword)/" + JSONPointer.escaped(name)
            result.append((name, try child(schema, path, of: place)))
        }
        return result
    }

    // MARK: Arrays

    mutating func arrayRules(
        _ reader: SchemaReader, _ place: SchemaPlace, _ resource: SchemaResource
    ) throws(SchemaError) -> ArrayRules? {
        var rules = ArrayRules.Parts()
        let before = reader.countOf(Self.arrayKeywords)
        guard before > 0 else { return nil }
        if resource.vocabularies.contains(.validation) {
            rules.minItems = try reader.count("minItems")
            rules.maxItems = try reader.count("maxItems")
            rules.uniqueItems = try reader.bool("uniqueItems") ?? false
            rules.minContains = try reader.count("minContains")
            rules.maxContains = try reader.count("maxContains")
        }
        if resource.vocabularies.contains(.applicator) {
            rules.contains = try child("contains", reader, place)
            if resource.dialect == .draft202012 {
                rules.prefix = try children("prefixItems", reader, place) ?? []
                rules.items = try child("items", reader, place)
            } else if case .array(let schemas)? = reader.members["items"] {
                rules.prefix = try children(schemas, "items", place)
                rules.items = try child("additionalItems", reader, place)
            } else {
                rules.items = try child("items", reader, place)
            }
        }
        if resource.vocabularies.contains(.unevaluated), resource.dialect == .draft202012 {
            rules.unevaluated = try child("unevaluatedItems", reader, place)
        }
        if resource.dialect == .draft07 { (rules.minContains, rules.maxContains) = (nil, nil) }
        return ArrayRules(rules)
    }

    private static let arrayKeywords = [
        "minItems", "maxItems", "uniqueItems", "contains", "prefixItems", "items", "unevaluatedItems",
    ]

    // MARK: Objects

    mutating func objectRules(
        _ reader: SchemaReader, _ place: SchemaPlace, _ resource: SchemaResource
    ) throws(SchemaError) -> ObjectRules? {
        guard reader.countOf(Self.objectKeywords) > 0 else { return nil }
        var rules = ObjectRules.Parts()
        var slots = PropertySlots()
        if resource.vocabularies.contains(.applicator) {
            let properties = try members("properties", reader, place)
            list(names: properties.lazy.map(\.name))
            for (name, node) in properties { rules.set(property: slots.slot(name), node) }
            for (source, node) in try members("patternProperties", reader, place) {
                rules.patterns.append((try reader.pattern(source, "patternProperties"), node))
            }
            rules.additional = try child("additionalProperties", reader, place)
            rules.propertyNames = try child("propertyNames", reader, place)
            for (name, node) in try members("dependentSchemas", reader, place)
            where resource.dialect == .draft202012 {
                rules.dependentSchemas.append((slots.slot(name), node))
            }
        }
        if resource.vocabularies.contains(.validation) {
            rules.minProperties = try reader.count("minProperties")
            rules.maxProperties = try reader.count("maxProperties")
            rules.required = (try reader.names("required") ?? []).map { slots.slot($0) }
            if resource.dialect == .draft202012 {
                for (name, value) in try reader.object("dependentRequired") ?? [:] {
                    let needed = try reader.names(value, "dependentRequired/" + JSONPointer.escaped(name))
                    rules.dependentRequired.append((slots.slot(name), needed.map { slots.slot($0) }))
                }
            }
        }
        if resource.vocabularies.contains(.unevaluated), resource.dialect == .draft202012 {
            rules.unevaluated = try child("unevaluatedProperties", reader, place)
        }
        try compileDependencies(reader, place, &rules, &slots)
        rules.names = slots.names
        rules.properties += [Int?](repeating: nil, count: slots.names.count - rules.properties.count)
        return ObjectRules(rules)
    }

    /// Compiles `dependencies`, a draft-07 keyword. 2020-12 split it in two, but schemas still use it
    /// (2020-12 core 10.2.2.4).
    private mutating func compileDependencies(
        _ reader: SchemaReader, _ place: SchemaPlace, _ rules: inout ObjectRules.Parts,
        _ slots: inout PropertySlots
    ) throws(SchemaError) {
        for (name, value) in try reader.object("dependencies") ?? [:] {
            let path = "dependencies/" + JSONPointer.escaped(name)
            if case .array = value {
                let needed = try reader.names(value, path)
                rules.dependentRequired.append((slots.slot(name), needed.map { slots.slot($0) }))
            } else {
                rules.dependentSchemas.append((slots.slot(name), try child(value, "/" + path, of: place)))
            }
        }
    }

    private static let objectKeywords = [
        "properties", "patternProperties", "additionalProperties", "propertyNames", "dependentSchemas",
        "minProperties", "maxProperties", "required", "dependentRequired", "dependencies",
        "unevaluatedProperties",
    ]
}

extension ObjectRules.Parts {
    mutating func set(property slot: Int, _ node: Int) {
        while properties.count <= slot { properties.append(nil) }
        properties[slot] = node
    }
}

/// Assigns slot numbers to the names that an object's keywords mention.
struct PropertySlots {
    private(set) var names: [String] = []
    private var slots: [JSONKey: Int] = [:]

    mutating func slot(_ name: String) -> Int {
        let key = JSONKey(name: name)
        if let slot = slots[key] { return slot }
        slots[key] = names.count
        names.append(name)
        return names.count - 1
    }
}
