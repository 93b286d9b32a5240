/// Builds the memory layout of a compiled schema for `FlatSchema`.
struct FlatSchemaBuilder {
    private let program: SchemaProgram
    private(set) var nodes: [FlatSchema.Node] = []
    private(set) var names: [FlatSchema.Name] = []
    private(set) var text: [UInt8] = []

    private static let maxDepth = 8
    private static let maxNodes = 256
    private static let maxMembers = 64
    private static let maxTexts = 64

    init(_ program: SchemaProgram) { self.program = program }

    /// Builds the layout and returns whether it can decide anything.
    mutating func build() -> Bool {
        let root = add(program.root, depth: 0)
        return root == 0 && nodes[0].unknown != .all
    }

    /// Adds a node and its descendants, at most `maxDepth` deep, which also ends cycles.
    private mutating func add(_ number: Int, depth: Int) -> Int {
        let place = nodes.count
        let source = program.nodes[number]
        if let verdict = source.verdict, verdict, depth > 0 { return FlatSchema.any }
        nodes.append(FlatSchema.Node())
        guard depth < Self.maxDepth, place < Self.maxNodes else {
            nodes[place].unknown = .all
            return place
        }
        var node = FlatSchema.Node()
        if source.verdict == false { node.types = [] }
        node.types.formIntersection(source.types)
        if !addApplicators(source, &node) { node.unknown = .all }
        addTexts(source, &node)
        if let rules = source.number { add(rules, &node) }
        if let rules = source.string { add(rules, &node) }
        if node.unknown != .all {
            if let rules = source.array?.parts { add(rules, &node, depth) }
            if let rules = source.object { add(rules, &node, depth) }
        }
        nodes[place] = node
        return place
    }

    /// Adds alternatives of types, such as "a string or null"; no other applicators can be flattened.
    private func addApplicators(_ source: SchemaNode, _ node: inout FlatSchema.Node) -> Bool {
        for applicator in source.applicators {
            guard case .anyOf(let branches) = applicator else { return false }
            var union: SchemaTypes = []
            for branch in branches {
                let alternative = program.nodes[branch]
                guard alternative.verdict == nil, alternative.constant == nil, alternative.enumeration == nil,
                    alternative.number == nil, alternative.string == nil, alternative.array == nil,
                    alternative.object == nil, alternative.applicators.isEmpty
                else { return false }
                union.formUnion(alternative.types)
            }
            node.types.formIntersection(union)
        }
        return true
    }

    private mutating func addTexts(_ source: SchemaNode, _ node: inout FlatSchema.Node) {
        var values = source.enumeration
        if let constant = source.constant {
            if values != nil { node.unknown = .all }
            values = [constant]
        }
        guard let values else { return }
        var possible: SchemaTypes = .string
        let start = names.count
        for value in values {
            switch value {
            case .string(let string): names.append(name(string, node: FlatSchema.any))
            case .null: possible.formUnion(.null)
            case .bool:
                possible.formUnion(.boolean)
                node.unknown.formUnion(.boolean)
            case .number:
                possible.formUnion(.number)
                node.unknown.formUnion(.number)
            case .array:
                possible.formUnion(.array)
                node.unknown.formUnion(.array)
            case .object:
                possible.formUnion(.object)
                node.unknown.formUnion(.object)
            }
        }
        node.hasTexts = true
        node.texts = start ..< names.count
        if node.texts.count > Self.maxTexts { node.unknown.formUnion(.string) }
        // Kinds of value that no listed value has are rejected like a wrong type.
        node.types.formIntersection(possible)
    }

    private mutating func name(_ string: String, node: Int) -> FlatSchema.Name {
        let start = text.count
        text += string.utf8
        return FlatSchema.Name(start: start, count: text.count - start, node: node)
    }

    private func add(_ rules: NumberRules, _ node: inout FlatSchema.Node) {
        if rules.multipleOf != nil { node.unknown.formUnion(.number) }
        node.limitsNumber = true
        for (limit, isUpper, step) in [
            (rules.minimum, false, Int64(0)), (rules.exclusiveMinimum, false, 1), (rules.maximum, true, 0),
            (rules.exclusiveMaximum, true, 1),
        ] {
            guard let limit else { continue }
            guard let value = limit.int64, value > .min + 1, value < .max - 1 else {
                node.unknown.formUnion(.number)
                continue
            }
            if isUpper {
                node.maximum = min(node.maximum, value - step)
            } else {
                node.minimum = max(node.minimum, value + step)
            }
        }
    }

    private func add(_ rules: StringRules, _ node: inout FlatSchema.Node) {
        if rules.pattern != nil || rules.format != nil { node.unknown.formUnion(.string) }
        node.limitsLength = rules.limitsLength
        node.minLength = rules.minLength ?? 0
        node.maxLength = rules.maxLength ?? .max
    }

    private mutating func add(_ rules: ArrayRules.Parts, _ node: inout FlatSchema.Node, _ depth: Int) {
        guard rules.prefix.isEmpty, rules.contains == nil, !rules.uniqueItems, rules.unevaluated == nil else {
            node.unknown.formUnion(.array)
            return
        }
        node.minItems = rules.minItems ?? 0
        node.maxItems = rules.maxItems ?? .max
        if let items = rules.items { node.items = add(items, depth: depth + 1) }
    }

    private mutating func add(_ rules: ObjectRules, _ node: inout FlatSchema.Node, _ depth: Int) {
        let parts = rules.parts
        guard parts.patterns.isEmpty, parts.propertyNames == nil, parts.dependentRequired.isEmpty,
            parts.dependentSchemas.isEmpty, parts.unevaluated == nil, parts.names.count <= Self.maxMembers
        else {
            node.unknown.formUnion(.object)
            return
        }
        node.minMembers = parts.minProperties ?? 0
        node.maxMembers = parts.maxProperties ?? .max
        var targets: [Int] = []
        for property in parts.properties {
            targets.append(property.map { add($0, depth: depth + 1) } ?? FlatSchema.unlisted)
        }
        if let additional = parts.additional {
            node.additional =
                program.nodes[additional].verdict == false
                ? FlatSchema.none : add(additional, depth: depth + 1)
        }
        let start = names.count
        for (slot, target) in targets.enumerated() { names.append(name(parts.names[slot], node: target)) }
        node.members = start ..< names.count
        // Small: a slot below 64; a shift never traps.
        for slot in parts.required { node.required |= 1 << UInt64(slot) }
    }
}
