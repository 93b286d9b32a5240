import MCPCore

/// The values that the words stand for: typed text, JSON, files, stdin.
extension ArgumentBuilder {
    mutating func value(of group: Group) throws(Failure) -> JSONValue? {
        let isArray = group.view.types.contains("array")
        // If the type also allows a plain value, a single word is that value.
        let isOnlyArray = isArray && !group.view.types.contains { !["array", "null"].contains($0) }
        // No element is written like this, unless it is text.
        if isOnlyArray, group.values == [.text("null")], group.view.types.contains("null"),
            !group.view.items.isText
        {
            return .null
        }
        let takesList = group.values.count == 1 ? isOnlyArray : isArray
        if takesList, group.view.isListOfObjects, group.values.contains(where: \.isText) {
            problems.append(ArgumentProblem(name: group.key, message: Self.listOfObjects(group.key)))
            return nil
        }
        if group.values.count == 1, let only = group.values.first {
            if only.isText, isOnlyArray {
                return try element(only, group.view.items, group.key).map { .array([$0]) }
            }
            return try element(only, group.view, group.key)
        }
        guard isArray || group.view.types.isEmpty else {
            problems.append(
                ArgumentProblem(
                    name: group.key, message: "is given \(group.values.count) times but accepts one value"))
            return nil
        }
        var elements: [JSONValue] = []
        for value in group.values {
            guard let element = try element(value, group.view.items, group.key) else { return nil }
            elements.append(element)
        }
        return .array(elements)
    }

    /// Returns how a list of objects is written, whose members have no names of their own.
    static func listOfObjects(_ key: String) -> String {
        "is a list of objects: write \(inlineText(key)):=[{…}]"
    }

    private mutating func element(
        _ value: ArgumentWord.Value, _ view: SchemaView, _ key: String
    ) throws(Failure) -> JSONValue? {
        switch value {
        case .flag: return .bool(true)
        case .json(let text): return try json(Array(text.utf8), from: "\(inlineText(key)):=…")
        case .jsonFile(let path): return try json(bytes(path, key, isJSON: true), from: source(path))
        case .text(let text): return typed(text, view, key)
        case .textFile(let path):
            guard let text = String(validating: try bytes(path, key, isJSON: false), as: UTF8.self) else {
                throw .usage(
                    "\(source(path)) is not UTF-8 text", details: ["for the argument \(inlineText(key))"])
            }
            // Even a file that contains a single number or word ends with a line end.
            return typed(view.isText && view.choices.isEmpty ? text : text.trimmingWhitespace(), view, key)
        }
    }

    private mutating func typed(_ text: String, _ view: SchemaView, _ key: String) -> JSONValue? {
        switch TypedWord.value(text, view, name: inlineText(key)) {
        case .value(let value): return value
        case .problem(let message):
            problems.append(
                ArgumentProblem(
                    name: key, message: message, suggestion: Self.nearestChoice(.string(text), view)))
            return nil
        }
    }

    /// Returns the choice that was probably meant, as JSON.
    static func nearestChoice(_ value: JSONValue, _ view: SchemaView) -> String? {
        guard case .string(let text) = value else { return nil }
        return Suggestion.best(for: text, among: view.choices.compactMap(\.stringValue)).map { quoted($0) }
    }

    private mutating func bytes(_ path: String, _ key: String, isJSON: Bool) throws(Failure) -> [UInt8] {
        if path == "-" { return try stdin() }
        do {
            return try input.file(path)
        } catch {
            var failure = error
            let literal = "\(key):=\(JSONValue.string("@\(path)").serialized())"
            failure.hint =
                isJSON
                ? "@ reads a file; JSON itself follows :=, as in \(inlineText(key)):=[1,2]"
                : "@ reads a file; the text itself is \(ShellWord.quote(literal))"
            throw failure
        }
    }

    private func source(_ path: String) -> String { path == "-" ? "stdin" : inlineText(path) }

    private mutating func stdin() throws(Failure) -> [UInt8] {
        if usesStdin { throw .usage("stdin is used twice", hint: "only one argument can be @-") }
        usesStdin = true
        return try input.stdin()
    }

    // MARK: Whole object

    mutating func pipedObject() throws(Failure) -> JSONObject? {
        let readsStdin = groups.contains { group in
            group.values.contains { $0 == .textFile("-") || $0 == .jsonFile("-") }
        }
        // A tool without arguments needs no object, and a pipe may be meant for another program.
        let takesMembers = !view.propertyNames.isEmpty || view.otherMembers != nil
        guard input.isStdinPiped, !readsStdin, takesMembers else { return nil }
        let bytes = try stdin()
        guard bytes.contains(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return nil }
        return try object(bytes, from: "stdin")
    }

    private func json(_ bytes: [UInt8], from source: String) throws(Failure) -> JSONValue {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw .usage("\(source) is not JSON", details: ["\(error)"])
        }
        try checkNames(bytes, source)
        return value
    }

    /// Refuses an object that has a name twice: which of the values was meant is not known.
    private func checkNames(_ bytes: [UInt8], _ source: String) throws(Failure) {
        guard let name = DuplicateNames.first(in: bytes) else { return }
        throw .usage("\(source) has the name \(quoted(name)) twice", details: ["nothing was sent"])
    }

    func object(_ bytes: [UInt8], from source: String) throws(Failure) -> JSONObject {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            var failure = Failure.usage("\(source) is not a JSON object", details: ["\(error)"])
            if source == "stdin" {
                failure.hint = "stdin is read as the JSON arguments; add </dev/null to skip it"
            }
            throw failure
        }
        guard case .object(let object) = value else {
            throw .usage("\(source) is not a JSON object", details: ["it is \(Self.article(value))"])
        }
        try checkNames(bytes, source)
        return object
    }

    private static func article(_ value: JSONValue) -> String {
        switch SchemaView.type(of: value) {
        case "array": "an array"
        case "integer", "number": "a number"
        case "null": "null"
        case let type: "a \(type)"
        }
    }

    /// Sets a member of a nested object and keeps its other members.
    static func set(_ value: JSONValue, at path: ArraySlice<String>, in object: inout JSONObject) {
        guard let first = path.first else { return }
        let rest = path.dropFirst()
        if rest.isEmpty {
            object[first] = value
            return
        }
        var inner = object[first]?.objectValue ?? [:]
        set(value, at: rest, in: &inner)
        object[first] = .object(inner)
    }
}

extension SchemaView {
    /// Whether any text is a value.
    fileprivate var isText: Bool { types.isEmpty || types.contains("string") }

    /// Whether the value is an array, and each element an object.
    var isListOfObjects: Bool {
        let elements = items.types
        return types.contains("array") && elements.contains("object")
            && elements.allSatisfy { $0 == "object" || $0 == "null" }
    }
}

extension ArgumentWord.Value {
    /// Whether it is not JSON.
    var isText: Bool {
        switch self {
        case .text, .textFile: true
        case .json, .jsonFile, .flag: false
        }
    }
}
