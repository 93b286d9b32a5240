/// Derives a JSON Schema from a type by observing what its `init(from:)` requests.
///
/// It recognizes members, nested types, arrays, dictionaries, optionals (which are not required) and
/// `CaseIterable` enums of strings or integers. A type that rejects its sample values (a string that must be
/// a date, an enum with payloads) should conform to ``ToolValue``. Otherwise the derivation stops there and
/// leaves the rest of the object open.
enum SchemaBuilder {
    /// Returns the schema of `type`.
    ///
    /// - Parameter describe: descriptions of members, keyed by name; `a.b` is the member `b` of the member
    ///   `a`.
    static func schema<T: Decodable>(for type: T.Type, describe: [String: String] = [:]) -> JSONValue {
        let node = ProbeNode()
        let probe = Probe(root: ObjectIdentifier(type))
        _ = try? probe.value(type, node)
        let schema = node.schema(path: "", describe: describe)
        return schema.objectValue?.isEmpty == true && node.isUnknown ? ["type": "object"] : schema
    }
}

/// A type that provides its own JSON Schema, for types whose `init(from:)` accepts only certain values.
///
/// If the schema has `examples`, `default`, `const` or `enum`, it should contain a value that the type can
/// decode. That value is used to discover what follows it in a larger type.
///
/// ```swift
/// extension Color: ToolValue {
///     static var schema: JSONValue { ["type": "string", "pattern": "^#[0-9a-f]{6}$", "examples":
///   ["#000000"]] }
/// }
/// ```
public protocol ToolValue {
    /// The JSON Schema (2020-12) of the values that this type decodes from.
    static var schema: JSONValue { get }
}
