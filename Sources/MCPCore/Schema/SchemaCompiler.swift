/// Compiles a schema and everything it refers to into nodes, one by one from a work list, without recursion.
struct SchemaCompiler {
    private var index: SchemaIndex
    private let options: SchemaOptions
    private var nodes: [SchemaNode?] = []
    private var places: [SchemaPlace] = []
    /// The node numbers, by document and pointer.
    private var known: [String: Int] = [:]
    private var anchorNumbers: [String: Int] = [:]
    private var dynamicAnchors: [[Int: Int]] = []
    private var usesDynamicScope = false
    private var listedNames: Set<JSONKey> = []

    private init(options: SchemaOptions) {
        self.options = options
        index = SchemaIndex(options: options)
    }

    static func compile(
        _ schema: JSONValue, options: SchemaOptions
    ) throws(SchemaError) -> (SchemaProgram, SchemaDialect) {
        var compiler = SchemaCompiler(options: options)
        return try compiler.run(schema)
    }

    private mutating func run(_ schema: JSONValue) throws(SchemaError) -> (SchemaProgram, SchemaDialect) {
        let resource = try index.add(schema, uri: SchemaURI(""))
        let first = index.root(of: resource)
        let dialect = index.resources[first.resource].dialect
        let root = try node(for: first, from: first.resource)
        var next = 0
        var resources = 0
        repeat {
            while next < places.count {
                nodes[next] = try compile(places[next])
                next += 1
            }
            // Any dynamic anchor of a resource may become the target of a $dynamicRef elsewhere.
            while usesDynamicScope, resources < index.resources.count {
                try compileDynamicAnchors(of: resources)
                resources += 1
            }
        } while next < places.count
        let program = SchemaProgram(
            nodes: nodes.compactMap { $0 }, root: root, rootResource: first.resource,
            dynamicAnchors: dynamicAnchors, usesDynamicScope: usesDynamicScope, listedNames: listedNames)
        return (program, dialect)
    }

    private mutating func compileDynamicAnchors(of resource: Int) throws(SchemaError) {
        var table: [Int: Int] = [:]
        for (name, place) in index.resources[resource].dynamicAnchors {
            table[anchorNumber(name)] = try node(for: place, from: resource)
        }
        dynamicAnchors.append(table)
    }

    private mutating func anchorNumber(_ name: String) -> Int {
        if let number = anchorNumbers[name] { return number }
        anchorNumbers[name] = anchorNumbers.count
        return anchorNumbers.count - 1
    }

    // MARK: Nodes

    /// Returns the number of the node for a schema; the node itself is compiled later.
    ///
    /// A schema that is only a `$ref` needs no node, unless it belongs to a different resource than the one
    /// where it is applied and passing through that resource changes the dynamic scope.
    private mutating func node(for place: SchemaPlace, from resource: Int) throws(SchemaError) -> Int {
        var place = place
        var hops = 0
        while let reference = soleReference(place),
            place.resource == resource || index.resources[place.resource].dynamicAnchors.isEmpty
        {
            let location = index.location(of: place) + "/$ref"
            hops += 1
            guard hops <= 64 else { throw SchemaError(at: location, "the references form a cycle") }
            place = try index.resolve(reference, from: place, at: location)
        }
        let key = "\(index.resources[place.resource].document)\(place.pointer)"
        if let number = known[key] { return number }
        guard places.count < options.limits.maxSubschemas else {
            throw SchemaError(at: "#", "more than \(options.limits.maxSubschemas) subschemas")
        }
        known[key] = places.count
        places.append(place)
        nodes.append(nil)
        return places.count - 1
    }

    /// Returns the `$ref` of a schema that has no other constraint.
    private func soleReference(_ place: SchemaPlace) -> String? {
        guard case .object(let members) = place.value, case .string(let reference)? = members["$ref"] else {
            return nil
        }
        if index.resources[place.resource].dialect == .draft07 { return reference }
        let isAlone = members.keys.allSatisfy { Self.withoutEffect.contains($0) }
        return isAlone ? reference : nil
    }

    private static let withoutEffect: Set<String> = [
        "$ref", "$comment", "$defs", "default", "definitions", "deprecated", "description", "examples",
        "readOnly",
        "title", "writeOnly",
    ]

    private mutating func compile(_ place: SchemaPlace) throws(SchemaError) -> SchemaNode {
        let location = index.location(of: place)
        switch place.value {
        case .bool(let verdict):
            return SchemaNode(verdict: verdict, location: location, resource: place.resource)
        case .object(let members):
            let reader = SchemaReader(members: members, location: location)
            let parts = try compile(reader, place)
            return SchemaNode(parts, location: location, resource: place.resource)
        default: throw SchemaError(at: location, "a schema must be an object, true or false")
        }
    }

    private mutating func compile(
        _ reader: SchemaReader, _ place: SchemaPlace
    ) throws(SchemaError) -> SchemaParts {
        let resource = index.resources[place.resource]
        var parts = SchemaParts()
        if let reference = try reader.string("$ref") {
            let target = try index.resolve(reference, from: place, at: reader.location("$ref"))
            parts.applicators.append(.reference(try node(for: target, from: place.resource)))
            if resource.dialect == .draft07 { return parts }
        }
        if resource.dialect == .draft202012, let reference = try reader.string("$dynamicRef") {
            parts.applicators.append(try dynamicReference(reference, reader, place))
        }
        if resource.vocabularies.contains(.validation) {
            try reader.readAssertions(into: &parts)
        }
        if resource.vocabularies.contains(.formatAssertion), let name = try reader.string("format"),
            let format = StringFormat(rawValue: name)
        {
            parts.string = parts.string ?? StringRules()
            parts.string?.format = format
        }
        if resource.vocabularies.contains(.applicator) {
            try compileApplicators(reader, place, &parts)
        }
        parts.array = try arrayRules(reader, place, resource)
        parts.object = try objectRules(reader, place, resource)
        return parts
    }

    private mutating func dynamicReference(
        _ reference: String, _ reader: SchemaReader, _ place: SchemaPlace
    ) throws(SchemaError) -> SchemaApplicator {
        let target = try index.resolve(reference, from: place, at: reader.location("$dynamicRef"))
        let number = try node(for: target, from: place.resource)
        let name = SchemaURI(reference).fragment.flatMap(SchemaURI.percentDecoded) ?? ""
        // If the first target has no $dynamicAnchor, this is a plain $ref.
        guard index.resources[target.resource].dynamicAnchors[name]?.pointer == target.pointer else {
            return .reference(number)
        }
        usesDynamicScope = true
        return .dynamicReference(anchor: anchorNumber(name), fallback: number)
    }

    /// Returns the node of a schema inside `place`.
    mutating func child(
        _ value: JSONValue, _ path: String, of place: SchemaPlace
    ) throws(SchemaError) -> Int {
        let inner = SchemaPlace(resource: place.resource, pointer: place.pointer + path, value: value)
        return try node(for: index.place(inner), from: place.resource)
    }

    mutating func child(
        _ keyword: String, _ reader: SchemaReader, _ place: SchemaPlace
    ) throws(SchemaError) -> Int? {
        guard let value = reader.members[keyword] else { return nil }
        return try child(value, "/" + keyword, of: place)
    }

    mutating func list(names: some Sequence<String>) {
        for name in names { listedNames.insert(JSONKey(name: name)) }
    }
}
