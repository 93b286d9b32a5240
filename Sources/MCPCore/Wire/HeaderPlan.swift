/// Which arguments of a tool a client repeats as `Mcp-Param-*` headers: worked out by a server when the
/// tool is registered, by a client when it is listed (streamable HTTP "Custom Headers from Tool
/// Parameters").
struct HeaderPlan: Sendable {
    /// An annotation that makes the whole tool unusable over HTTP.
    struct Invalid: Error, CustomStringConvertible {
        let description: String
    }

    /// What an annotation may stand at.
    struct Types: Sendable {
        let names: Set<String>
        /// What the specification allows (HDR-17).
        static let strict = Types(names: ["string", "integer", "boolean"])
        /// What a client takes: servers that mirror numbers exist (HDR-32).
        static let lenient = Types(names: ["string", "integer", "boolean", "number"])
    }

    /// One argument and its header.
    private struct Item: Sendable {
        /// The whole name of the field, as the annotation writes it.
        let name: String
        /// The same in lower case.
        let field: [UInt8]
        /// The names that lead to the argument, from the outside in.
        let path: [String]
    }

    private static let annotation = "x-mcp-header"
    private static let prefix = "Mcp-Param-"

    private let items: [Item]

    /// The plan of an input schema; nil when it mirrors nothing.
    ///
    /// - Throws: `Invalid` for an annotation that clients have to refuse (HDR-16 to HDR-19).
    init?(_ inputSchema: JSONValue, at types: Types = .strict) throws(Invalid) {
        var reader = Reader(types: types)
        try reader.read(inputSchema, at: [], isReachable: true, depth: 0)
        guard !reader.items.isEmpty else { return nil }
        items = reader.items
    }

    // MARK: Writing

    /// The header fields of a call, whose values are encoded. Without a value there is none, and what is no
    /// scalar does not fit the schema (HDR-20, HDR-21, HDR-25).
    func fields(for arguments: JSONObject) -> [(name: String, value: String)] {
        items.compactMap { item in
            var argument: JSONValue? = .object(arguments)
            for name in item.path { argument = argument?[name] }
            return argument.flatMap(Self.text).map { (item.name, MCPHeaderValue.encode($0)) }
        }
    }

    private static func text(_ argument: JSONValue) -> String? {
        switch argument {
        case .string(let text): text
        case .bool(let value): value ? "true" : "false"
        // An integer in its decimal form, whichever way it was written.
        case .number(let number): number.int64.map { String($0) } ?? number.text
        case .null, .array, .object: nil
        }
    }

    // MARK: Checking

    /// What is wrong with the headers of a call, or nil (HDR-22 to HDR-27).
    func mismatch(_ claims: HeaderClaims, with arguments: RawJSON) -> String? {
        var values = [ByteSlice?](repeating: nil, count: items.count)
        var repeated: Int?
        claims.forEachField { name, value in
            guard let place = items.firstIndex(where: { ASCII.equalsIgnoringCase($0.field, name) }) else {
                return
            }
            if values[place] != nil { repeated = place }
            values[place] = value
        }
        if let repeated { return "Duplicate \(name(of: items[repeated])) header" }
        for (item, value) in zip(items, values) {
            if let problem = problem(item, value, arguments) { return problem }
        }
        return nil
    }

    private func problem(_ item: Item, _ value: ByteSlice?, _ arguments: RawJSON) -> String? {
        var argument: RawJSON? = arguments
        for name in item.path { argument = argument?[name] }
        // Without a value nothing is expected, and what came all the same means nothing (HDR-22). What is no
        // scalar does not fit the schema, which says so better.
        guard let argument, !argument.isNull, argument.kind != .object, argument.kind != .array else {
            return nil
        }
        let path = item.path.joined(separator: ".")
        guard let value else {
            return "The header \(name(of: item)) is missing; it repeats the argument \(path)"
        }
        guard let text = MCPHeaderValue.decode(value) else {
            return "\(name(of: item)) is not a valid header value"
        }
        return Self.isSame(text, argument) ? nil : "\(name(of: item)) differs from the argument \(path)"
    }

    private static func isSame(_ text: String, _ argument: RawJSON) -> Bool {
        switch argument.kind {
        case .string: argument.string == text
        // Numbers compare by their value: 42.0 is 42 (HDR-24).
        case .number: JSONNumber(text: text).map { $0 == argument.number } ?? false
        case .bool: text == (argument.bool == true ? "true" : "false")
        default: false
        }
    }

    private func name(of item: Item) -> String { String(decoding: item.field, as: UTF8.self) }
}

extension HeaderPlan {
    /// Finds the annotations of a schema and judges where they stand.
    private struct Reader {
        let types: Types
        var items: [Item] = []

        /// Keywords whose value is data, not schemas.
        private static let data: Set<String> = ["const", "enum", "default", "examples"]
        /// Keywords whose value is a map of names to schemas.
        private static let maps: Set<String> = [
            "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies",
        ]

        /// - Parameters:
        ///   - path: the properties that lead here.
        ///   - isReachable: whether only `properties` lead here (HDR-18).
        mutating func read(
            _ schema: JSONValue, at path: [String], isReachable: Bool, depth: Int
        ) throws(Invalid) {
            guard depth < JSONLimits.greatestDepth else { return }
            if case .array(let elements) = schema {
                for element in elements {
                    try read(element, at: path, isReachable: false, depth: depth + 1)
                }
            }
            guard case .object(let members) = schema else { return }
            if let name = members[annotation] {
                guard isReachable else {
                    throw problem(
                        "it stands where \"properties\" alone do not lead, as under items, allOf or $defs"
                    )
                }
                try add(name, members, at: path)
            }
            for (keyword, value) in members where keyword != annotation && !Self.data.contains(keyword) {
                if Self.maps.contains(keyword), case .object(let named) = value {
                    for (name, inner) in named {
                        try read(
                            inner, at: path + [name], isReachable: isReachable && keyword == "properties",
                            depth: depth + 2)
                    }
                } else {
                    try read(value, at: path, isReachable: false, depth: depth + 1)
                }
            }
        }

        private mutating func add(
            _ name: JSONValue, _ schema: JSONObject, at path: [String]
        ) throws(Invalid) {
            guard case .string(let name) = name, !name.isEmpty, name.utf8.allSatisfy(ASCII.isToken) else {
                throw problem("its value must be a name of letters, digits and - _ . (a token of RFC 9110)")
            }
            guard !path.isEmpty, let type = schema["type"]?.stringValue,
                types.names.contains(type)
            else {
                throw problem("\(name) must stand at a property of type string, integer or boolean")
            }
            let field = Array((prefix + name).utf8).map(ASCII.lowercased)
            guard !items.contains(where: { $0.field == field }) else {
                throw problem("duplicate name \(name); case is ignored")
            }
            items.append(Item(name: prefix + name, field: field, path: path))
        }

        private func problem(_ text: String) -> Invalid { Invalid(description: text) }
    }
}
