/// Finds schemas by URI, anchor and pointer in the schema itself, the given documents and the meta-schemas.
struct SchemaIndex {
    private(set) var resources: [SchemaResource] = []
    private var byURI: [String: Int] = [:]
    /// The roots of resources, by document and pointer.
    private var roots: [String: Int] = [:]
    private var documentCount = 0
    private var subschemaCount = 0
    private var nameBytes = 0
    private let options: SchemaOptions

    /// The maximum total length, in bytes, of the places (JSON pointers) of all subschemas and the URIs of
    /// all resources.
    ///
    /// Each pointer contains all names on the path to its subschema, so together they can take far more
    /// memory than the schema.
    static let maxNameBytes = 16 << 20

    init(options: SchemaOptions) { self.options = options }

    // MARK: Finding

    /// Returns the schema that a reference in `place` refers to.
    mutating func resolve(
        _ reference: String, from place: SchemaPlace, at location: String
    ) throws(SchemaError) -> SchemaPlace {
        let target = SchemaURI(reference).resolved(against: resources[place.resource].uri)
        guard let resource = try resource(for: target.withoutFragment) else {
            throw SchemaError(
                at: location,
                "\"\(SchemaText.plain(reference))\" is unknown, and schemas are not fetched from the network")
        }
        guard let encoded = target.fragment, !encoded.isEmpty else { return root(of: resource) }
        guard let fragment = SchemaURI.percentDecoded(encoded) else {
            throw SchemaError(at: location, "\"\(SchemaText.plain(reference))\" is not a URI")
        }
        let found =
            fragment.hasPrefix("/")
            ? follow(fragment, from: root(of: resource)) : resources[resource].anchors[fragment]
        guard let found else {
            throw SchemaError(at: location, "\"\(SchemaText.plain(reference))\" does not refer to a schema")
        }
        return found
    }

    func root(of resource: Int) -> SchemaPlace {
        let found = resources[resource]
        return SchemaPlace(resource: resource, pointer: found.pointer, value: found.value)
    }

    private mutating func resource(for uri: SchemaURI) throws(SchemaError) -> Int? {
        let name = uri.description
        if let known = byURI[name] { return known }
        if let document = options.documents[name] ?? options.documents[name + "#"] {
            return try add(document, uri: uri)
        }
        guard let text = MetaSchemas.text(for: name), let document = try? JSONValue(parsing: text) else {
            return nil
        }
        return try add(document, uri: uri)
    }

    /// Follows a pointer, taking into account that parts along the way may be resources of their own.
    private func follow(_ pointer: String, from start: SchemaPlace) -> SchemaPlace? {
        guard let tokens = JSONPointer.tokens(of: pointer) else { return nil }
        let document = resources[start.resource].document
        var place = start
        for token in tokens {
            let next =
                switch place.value {
                case .object(let members): members[token]
                case .array: JSONPointer.index(token).flatMap { place.value[$0] }
                default: nil as JSONValue?
                }
            guard let next else { return nil }
            let pointer = JSONPointer.appending(token, to: place.pointer)
            let resource = roots[Self.key(document, pointer)] ?? place.resource
            place = SchemaPlace(resource: resource, pointer: pointer, value: next)
        }
        return place
    }

    /// Returns the same place; if it is the root of a resource, as seen from that resource.
    func place(_ place: SchemaPlace) -> SchemaPlace {
        let document = resources[place.resource].document
        guard let resource = roots[Self.key(document, place.pointer)] else { return place }
        return SchemaPlace(resource: resource, pointer: place.pointer, value: place.value)
    }

    private static func key(_ document: Int, _ pointer: String) -> String { "\(document)\(pointer)" }

    // MARK: Adding

    /// Adds a document that was retrieved under `uri`, with all resources and anchors in it.
    mutating func add(_ document: JSONValue, uri: SchemaURI) throws(SchemaError) -> Int {
        let number = documentCount
        documentCount += 1
        let (dialect, vocabularies) = try dialect(of: document, known: nil, at: uri.description + "#")
        let retrieved = SchemaResource(
            uri: uri, document: number, pointer: "", value: document, dialect: dialect,
            vocabularies: vocabularies)
        let root = try append(retrieved)
        var pending = [SchemaPlace(resource: root, pointer: "", value: document)]
        while let place = pending.popLast() {
            guard case .object(let members) = place.value else { continue }
            subschemaCount += 1
            guard subschemaCount <= options.limits.maxSubschemas else {
                throw SchemaError(at: "#", "more than \(options.limits.maxSubschemas) subschemas")
            }
            let resource = try register(members, at: place)
            try SchemaIndex.forEachSubschema(of: members) { (path, value) throws(SchemaError) in
                try count(nameBytes: place.pointer.utf8.count + path.utf8.count)
                pending.append(SchemaPlace(resource: resource, pointer: place.pointer + path, value: value))
            }
        }
        // A document's own `$id` takes precedence over the URI under which it was found.
        return byURI[uri.description] ?? root
    }

    private mutating func count(nameBytes count: Int) throws(SchemaError) {
        nameBytes += count
        guard nameBytes <= Self.maxNameBytes else {
            throw SchemaError(
                at: "#", "the paths to its subschemas take up more than \(Self.maxNameBytes) bytes")
        }
    }

    private mutating func append(_ resource: SchemaResource) throws(SchemaError) -> Int {
        let name = resource.uri.description
        try count(nameBytes: name.utf8.count)
        resources.append(resource)
        let number = resources.count - 1
        if byURI[name] == nil { byURI[name] = number }
        roots[Self.key(resource.document, resource.pointer)] = number
        return number
    }

    /// Records the names that a schema gives itself and returns the resource it belongs to.
    private mutating func register(_ members: JSONObject, at place: SchemaPlace) throws(SchemaError) -> Int {
        var resource = place.resource
        let location = location(of: place)
        let isDraft07 = resources[resource].dialect == .draft07
        // draft-07 core 8.3: all siblings of a $ref are ignored.
        if let id = members["$id"], !(isDraft07 && members["$ref"] != nil) {
            guard case .string(let text) = id else {
                throw SchemaError(at: location + "/$id", "must be a string")
            }
            let uri = SchemaURI(text).resolved(against: resources[resource].uri)
            if isDraft07, text.hasPrefix("#") {
                resources[resource].anchors[String(text.dropFirst())] = place
            } else if uri.fragment ?? "" != "" {
                throw SchemaError(at: location + "/$id", "must not have a fragment")
            } else {
                resource = try enter(uri.withoutFragment, at: place, location)
            }
        }
        guard !isDraft07 else { return resource }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            guard let value = members[keyword] else { continue }
            guard case .string(let name) = value, Self.isAnchor(name) else {
                throw SchemaError(
                    at: "\(location)/\(keyword)", "must be a name of letters, digits, \".\" and \"-\"")
            }
            let target = SchemaPlace(resource: resource, pointer: place.pointer, value: place.value)
            resources[resource].anchors[name] = target
            if keyword == "$dynamicAnchor" { resources[resource].dynamicAnchors[name] = target }
        }
        return resource
    }

    /// Turns the schema at `place` into a resource with `uri`.
    private mutating func enter(
        _ uri: SchemaURI, at place: SchemaPlace, _ location: String
    ) throws(SchemaError) -> Int {
        let parent = resources[place.resource]
        if place.pointer.isEmpty, parent.uri == uri { return place.resource }
        let (dialect, vocabularies) = try dialect(
            of: place.value, known: (parent.dialect, parent.vocabularies), at: location)
        let number = try append(
            SchemaResource(
                uri: uri, document: parent.document, pointer: place.pointer, value: place.value,
                dialect: dialect, vocabularies: vocabularies))
        if place.pointer.isEmpty {
            // The document was found under one URI but names another: both lead to the resource with the
            // `$id`.
            byURI[parent.uri.description] = number
        }
        return number
    }

    private static func isAnchor(_ name: String) -> Bool {
        guard let first = name.utf8.first, first == 0x5F || ASCII.isLetterOrDigit(first),
            Unicode.Scalar(first).decimalDigit == nil
        else { return false }
        return name.utf8.allSatisfy { ASCII.isLetterOrDigit($0) || "-._".utf8.contains($0) }
    }

    /// Returns the location of a place, as shown in errors and violations.
    func location(of place: SchemaPlace) -> String {
        let resource = resources[place.resource]
        if resource.document == 0 { return "#" + place.pointer }
        return "\(resource.uri)#\(place.pointer.dropFirst(resource.pointer.count))"
    }

    // MARK: Dialects

    private mutating func dialect(
        of schema: JSONValue, known: (SchemaDialect, SchemaVocabularies)?, at location: String
    ) throws(SchemaError) -> (SchemaDialect, SchemaVocabularies) {
        var standard = SchemaVocabularies.standard
        if options.assertFormat { standard.insert(.formatAssertion) }
        var name = schema["$schema"]
        var found = standard
        for _ in 0 ..< 8 {
            guard let value = name else { return known ?? (options.defaultDialect, standard) }
            guard case .string(let uri) = value else {
                throw SchemaError(at: location + "/$schema", "must be a string")
            }
            if let dialect = SchemaDialect(uri: uri) { return (dialect, found) }
            let plain = SchemaURI(uri).withoutFragment.description
            guard let meta = options.documents[plain] else {
                throw SchemaError(
                    at: location + "/$schema",
                    "the dialect \"\(SchemaText.plain(uri))\" is not supported, "
                        + "only JSON Schema 2020-12 and draft-07"
                )
            }
            if found == standard, let listed = meta["$vocabulary"]?.objectValue {
                found = try vocabularies(listed, at: location)
            }
            name = meta["$schema"]
        }
        throw SchemaError(at: location + "/$schema", "the meta-schemas refer to each other in a cycle")
    }

    private func vocabularies(
        _ listed: JSONObject, at location: String
    ) throws(SchemaError) -> SchemaVocabularies {
        var found: SchemaVocabularies = []
        for (uri, isRequired) in listed {
            if let vocabulary = SchemaVocabularies(uri: uri) {
                found.formUnion(vocabulary)
            } else if isRequired.boolValue == true {
                throw SchemaError(
                    at: location + "/$schema",
                    "requires the vocabulary \"\(SchemaText.plain(uri))\", which is unknown")
            }
        }
        return found
    }
}

/// A schema with its own URI: a whole document, or a part that has an `$id` (2020-12 core 4.3.5).
struct SchemaResource {
    /// The absolute URI without a fragment; empty for a document that has none.
    let uri: SchemaURI
    /// The document that contains it, and its position there.
    let document: Int
    let pointer: String
    let value: JSONValue
    let dialect: SchemaDialect
    let vocabularies: SchemaVocabularies
    /// Names of `$anchor` and `$dynamicAnchor`.
    var anchors: [String: SchemaPlace] = [:]
    /// Names of `$dynamicAnchor` alone.
    var dynamicAnchors: [String: SchemaPlace] = [:]
}

/// A schema inside a document.
struct SchemaPlace {
    let resource: Int
    /// The path from the root of the document.
    let pointer: String
    let value: JSONValue
}

extension SchemaIndex {
    /// Calls `body` with each member of `schema` that is a schema by its keyword, and the pointer to it.
    ///
    /// A value under any other keyword (`enum`, `const`, unknown ones) is not a schema, even if it looks like
    /// one.
    static func forEachSubschema(
        of schema: JSONObject, _ body: (_ path: String, JSONValue) throws(SchemaError) -> Void
    ) throws(SchemaError) {
        for (keyword, value) in schema {
            switch keyword {
            case "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not",
                "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties":
                try body("/" + keyword, value)
            case "allOf", "anyOf", "items", "oneOf", "prefixItems":
                guard case .array(let elements) = value else {
                    if keyword == "items" { try body("/items", value) }
                    continue
                }
                for (index, element) in elements.enumerated() { try body("/\(keyword)/\(index)", element) }
            case "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties",
                "properties":
                guard case .object(let members) = value else { continue }
                for (name, member) in members {
                    try body("/\(keyword)/" + JSONPointer.escaped(name), member)
                }
            default: continue
            }
        }
    }
}
