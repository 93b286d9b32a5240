/// The parts of a JSON Schema that argument forms and signatures need.
///
/// It is a flat view that looks through local references and `allOf`, `anyOf`, `oneOf`. It is used to type
/// words and to print; whether a value is valid is the validator's decision.
package struct SchemaView: Sendable {
    /// The schemas that apply to the value.
    package let nodes: [JSONObject]
    /// The number of leading `nodes` that apply in every case; the rest are alternatives.
    private let firmCount: Int
    /// Whether some part cannot be looked through: conditions, references to other documents.
    package let isOpaque: Bool
    private let root: JSONValue

    package init(_ schema: JSONValue) { self.init([schema], root: schema) }

    private init(_ schemas: [JSONValue], root: JSONValue) {
        var collector = Collector(root: root)
        for schema in schemas { collector.add(schema, isFirm: true, depth: 0) }
        nodes = collector.firm + collector.alternatives
        firmCount = collector.firm.count
        isOpaque = collector.isOpaque
        self.root = root
    }

    /// A collector that flattens a schema within bounds: it comes from the server and may refer to itself.
    private struct Collector {
        let root: JSONValue
        var firm: [JSONObject] = []
        var alternatives: [JSONObject] = []
        var isOpaque = false
        private static let maxNodes = 256
        private static let maxDepth = 16
        private static let conditions = ["if", "dependentSchemas", "propertyNames", "$dynamicRef", "not"]

        mutating func add(_ schema: JSONValue, isFirm: Bool, depth: Int) {
            guard case .object(let object) = schema else { return }
            guard depth < Self.maxDepth, firm.count + alternatives.count < Self.maxNodes else {
                isOpaque = true
                return
            }
            if isFirm { firm.append(object) } else { alternatives.append(object) }
            if Self.conditions.contains(where: { object[$0] != nil }) { isOpaque = true }
            if let reference = object["$ref"]?.stringValue {
                if let target = resolve(reference) {
                    add(target, isFirm: isFirm, depth: depth + 1)
                } else {
                    isOpaque = true
                }
            }
            for part in object["allOf"]?.arrayValue ?? [] { add(part, isFirm: isFirm, depth: depth + 1) }
            for keyword in ["anyOf", "oneOf"] {
                for part in object[keyword]?.arrayValue ?? [] { add(part, isFirm: false, depth: depth + 1) }
            }
        }

        /// Resolves `#` and `#/a/b` (RFC 6901).
        private func resolve(_ reference: String) -> JSONValue? {
            guard reference.hasPrefix("#") else { return nil }
            let pointer = reference.dropFirst()
            if pointer.isEmpty { return root }
            guard pointer.hasPrefix("/") else { return nil }
            var current = root
            for token in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
                let name = Self.unescape(token)
                if let member = current[name] {
                    current = member
                    // Small: reading a text never traps.
                } else if let index = Int(name), let element = current[index] {
                    current = element
                } else {
                    return nil
                }
            }
            return current
        }

        private static func unescape(_ token: Substring) -> String {
            guard token.contains("~") else { return String(token) }
            var out = ""
            var afterTilde = false
            for character in token {
                if afterTilde {
                    out += character == "1" ? "/" : "~"
                    afterTilde = false
                } else if character == "~" {
                    afterTilde = true
                } else {
                    out.append(character)
                }
            }
            return out
        }
    }

    // MARK: Objects

    /// The listed properties in the order of the schema.
    package var propertyNames: [String] {
        var names: [String] = []
        var seen: Set<String> = []
        for node in nodes {
            for (name, _) in node["properties"]?.objectValue ?? [:] where seen.insert(name).inserted {
                names.append(name)
            }
        }
        return names
    }

    /// The names that each object must have. Of alternatives, only those count that allow an object.
    package var required: [String] {
        var left = Self.maxAlternatives
        return required(&left)
    }

    private func required(_ left: inout Int) -> [String] {
        var names: [String] = []
        var seen: Set<String> = []
        for node in nodes.prefix(firmCount) {
            for name in node["required"]?.arrayValue ?? [] {
                if let name = name.stringValue, seen.insert(name).inserted { names.append(name) }
            }
        }
        for alternatives in unions(&left) {
            let objects = alternatives.filter { $0.admits("object") }
            guard let first = objects.first else { continue }
            var common = first.required(&left)
            for other in objects.dropFirst() where !common.isEmpty {
                let needed = Set(other.required(&left))
                common.removeAll { !needed.contains($0) }
            }
            for name in common where seen.insert(name).inserted { names.append(name) }
        }
        return names
    }

    /// The number of alternatives that are looked at one by one; the rest of a schema that has more, or that
    /// refers to itself, is taken to require nothing.
    private static let maxAlternatives = 64

    /// Returns the alternatives of each `anyOf` and `oneOf`, as far as `left` goes.
    private func unions(_ left: inout Int) -> [[SchemaView]] {
        var unions: [[SchemaView]] = []
        for node in nodes.prefix(firmCount) {
            for keyword in ["anyOf", "oneOf"] {
                guard let parts = node[keyword]?.arrayValue, parts.count <= left else { continue }
                left -= parts.count
                unions.append(parts.map { SchemaView([$0], root: root) })
            }
        }
        return unions
    }

    /// Returns the listed property, or nil.
    package func property(_ name: String) -> SchemaView? {
        let found = nodes.compactMap { $0["properties"]?[name] }
        return found.isEmpty ? nil : SchemaView(found, root: root)
    }

    /// The schema of members that are not listed as properties, or nil when such members are not allowed.
    package var otherMembers: SchemaView? {
        if isOpaque { return SchemaView([], root: root) }
        var listsProperties = false
        for node in nodes {
            if case .object? = node["patternProperties"] { return SchemaView([], root: root) }
            switch node["additionalProperties"] ?? node["unevaluatedProperties"] {
            case .bool(true): return SchemaView([], root: root)
            case .bool(false): listsProperties = true
            case .some(let schema): return SchemaView([schema], root: root)
            case nil: break
            }
            if node["properties"] != nil { listsProperties = true }
        }
        return listsProperties ? nil : SchemaView([], root: root)
    }

    // MARK: Values

    /// The possible types; empty when the schema does not specify any.
    package var types: [String] {
        var types: [String] = []
        var seen: Set<String> = []
        func add(_ type: String) { if seen.insert(type).inserted { types.append(type) } }
        for node in nodes {
            switch node["type"] {
            case .string(let type): add(type)
            case .array(let list): list.compactMap(\.stringValue).forEach(add)
            default:
                if node["properties"] != nil {
                    add("object")
                } else if node["items"] != nil || node["prefixItems"] != nil {
                    add("array")
                } else {
                    for value in Self.choices(of: node) { add(Self.type(of: value)) }
                }
            }
        }
        return types
    }

    /// The values of `enum` and `const`.
    package var choices: [JSONValue] {
        var values: [JSONValue] = []
        var seen: Set<JSONValue> = []
        for node in nodes {
            for value in Self.choices(of: node) where seen.insert(value).inserted { values.append(value) }
        }
        return values
    }

    /// The types of the alternatives that list no `choices`, beside those that do.
    package var typesBesideChoices: [String] {
        var left = Self.maxAlternatives
        let types = typesBesideChoices(&left)
        let listed = Set(choices.map(Self.type))
        var seen: Set<String> = []
        return types.filter { !($0 == "null" && listed.contains($0)) && seen.insert($0).inserted }
    }

    private func typesBesideChoices(_ left: inout Int) -> [String] {
        // What holds in every case leaves nothing else.
        if nodes.prefix(firmCount).contains(where: { !Self.choices(of: $0).isEmpty }) { return [] }
        var types: [String] = []
        for alternatives in unions(&left) where alternatives.contains(where: { !$0.choices.isEmpty }) {
            for part in alternatives {
                types += part.choices.isEmpty ? part.types : part.typesBesideChoices(&left)
            }
        }
        return types
    }

    private static func choices(of node: JSONObject) -> [JSONValue] {
        if let constant = node["const"] { return [constant] }
        return Array((node["enum"]?.arrayValue ?? []).prefix(500))
    }

    package static func type(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .number(let number): number.int64 == nil ? "number" : "integer"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// The schema of array elements.
    package var items: SchemaView {
        let found = nodes.compactMap { $0["items"] ?? $0["prefixItems"]?[0] }
        return SchemaView(found, root: root)
    }

    /// Returns the first value of a keyword.
    package func keyword(_ name: String) -> JSONValue? {
        for node in nodes { if let value = node[name] { return value } }
        return nil
    }

    package func admits(_ type: String) -> Bool { types.isEmpty || types.contains(type) }
}
