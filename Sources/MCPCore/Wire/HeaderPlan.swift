/// The arguments of a tool that a client repeats as `Mcp-Param-*` headers (streamable HTTP "Custom Headers
/// from Tool Parameters").
///
/// A server creates the plan when the tool is registered, a client when the tool is listed.
struct HeaderPlan: Sendable {
    /// An error for an annotation that makes the whole tool unusable over HTTP.
    struct Invalid: Error, CustomStringConvertible {
        let description: String
    }

    /// The types of properties that may have an annotation.
    struct Types: Sendable {
        let names: Set<String>
        /// The types that the specification allows (HDR-17).
        static let strict = Types(names: ["string", "integer", "boolean"])
        /// The types that a client accepts: servers that mirror numbers exist (HDR-32).
        static let lenient = Types(names: ["string", "integer", "boolean", "number"])
    }

    /// An argument and its header.
    private struct Item: Sendable {
        /// The full name of the field, in the annotation's spelling.
        let name: String
        /// The same name in lower case.
        let field: [UInt8]
        /// The names of the properties that lead to the argument, from the outermost to the innermost.
        let path: [String]
    }

    private static let annotation = "x-mcp-header"
    private static let prefix = "Mcp-Param-"

    private let items: [Item]

    /// Creates the plan of an input schema; nil when the schema mirrors nothing.
    ///
    /// - Throws: `Invalid` for an annotation that clients must refuse (HDR-16 to HDR-19).
    init?(_ inputSchema: JSONValue, at types: Types = .strict) throws(Invalid) {
        var reader = Reader(types: types)
        try reader.read(inputSchema, at: [], isReachable: true, depth: 0)
        guard !reader.items.isEmpty else { return nil }
        items = reader.items
    }

    // MARK: Writing

    /// Returns the header fields of a call, with encoded values. An argument without a value has no field,
    /// and one that is not a scalar does not fit the schema (HDR-20, HDR-21, HDR-25).
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
        // An integer in its decimal form, however it was written.
        case .number(let number): number.int64.map { String($0) } ?? number.text
        case .null, .array, .object: nil
        }
    }

    // MARK: Checking

    /// Returns a description of what is wrong with the headers of a call, or nil (HDR-22 to HDR-27).
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
        // Without a value, no header is expected, and one that was sent all the same is ignored (HDR-22). A
        // value that is not a scalar does not fit the schema, whose validation gives a better error.
        guard let argument, !argument.isNull, argument.kind != .object, argument.kind != .array else {
            return nil
        }
        let path = item.path.joined(separator: ".")
        guard let value else {
            return "The header \(name(of: item)) is missing; it must repeat the argument \(path)"
        }
        guard let text = MCPHeaderValue.decode(value) else {
            return "\(name(of: item)) is not a valid header value"
        }
        return Self.isSame(text, argument) ? nil : "\(name(of: item)) differs from the argument \(path)"
    }

    private static func isSame(_ text: String, _ argument: RawJSON) -> Bool {
        switch argument.kind {
        case .string: argument.string == text
        // Numbers are compared by value: 42.0 equals 42 (HDR-24).
        case .number: JSONNumber(text: text).map { $0 == argument.number } ?? false
        case .bool: text == (argument.bool == true ? "true" : "false")
        default: false
        }
    }

    private func name(of item: Item) -> String { String(decoding: item.field, as: UTF8.self) }
}

extension HeaderPlan {
    /// A reader that finds the annotations of a schema and checks where they appear.
    private struct Reader {
        let types: Types
        var items: [Item] = []

        /// The keywords whose values are data, not schemas.
        private static let data: Set<String> = ["const", "enum", "default", "examples"]
        /// The keywords whose values are maps of names to schemas.
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
                        "it must be reachable through \"properties\" alone, not through items, allOf or $defs"
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
                throw problem("\(name) must annotate a property of type string, integer or boolean")
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
