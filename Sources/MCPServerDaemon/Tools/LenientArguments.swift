import MCPCore

/// Reads arguments as models mean them: the text `"2000"` for an integer, `"true"` for a boolean, `"[1]"` for
/// an array, and a number for a text.
///
/// Only values that the schema refuses are looked at, and the result is checked as a whole again.
struct LenientArguments: Sendable {
    private let view: SchemaView

    init(_ schema: JSONValue) { view = SchemaView(schema) }

    /// Returns the arguments with other types, and the names of those that were changed; nil for none.
    func mended(_ arguments: RawJSON) -> (arguments: RawJSON, names: [String])? {
        guard var object = arguments.value.objectValue else { return nil }
        var names: [String] = []
        for (name, value) in object {
            guard let property = view.property(name), let mended = Self.mended(value, property) else {
                continue
            }
            object[name] = mended
            names.append(name)
        }
        return names.isEmpty ? nil : (RawJSON(.object(object)), names)
    }

    /// Returns the value with a type that the schema allows; nil if it has one already, or none fits.
    private static func mended(_ value: JSONValue, _ view: SchemaView) -> JSONValue? {
        let types = view.types
        if types.isEmpty { return nil }
        switch value {
        case .string(let text):
            if types.contains("string") { return nil }
            guard let parsed = try? JSONValue(parsing: text), fits(parsed, types) else { return nil }
            return parsed
        case .number, .bool:
            if fits(value, types) || !types.contains("string") { return nil }
            return .string(value.serialized())
        case .array(let elements):
            guard types.contains("array") else { return nil }
            let items = view.items
            var result = elements
            var isChanged = false
            for (index, element) in elements.enumerated() {
                guard let mended = mended(element, items) else { continue }
                result[index] = mended
                isChanged = true
            }
            return isChanged ? .array(result) : nil
        case .null, .object: return nil
        }
    }

    private static func fits(_ value: JSONValue, _ types: [String]) -> Bool {
        switch value {
        case .number: types.contains("number") || types.contains("integer")
        case .bool: types.contains("boolean")
        case .array: types.contains("array")
        case .object: types.contains("object")
        case .null, .string: false
        }
    }
}
