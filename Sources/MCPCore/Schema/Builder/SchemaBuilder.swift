/// Derives a JSON Schema from a type, by watching what its `init(from:)` asks for.
///
/// It sees members, nested types, arrays, dictionaries, optionals (which are not required) and `CaseIterable`
/// enums of texts or integers. A type that refuses the sample values it is given (a text that must be a date,
/// an enum with payloads) should be a ``ToolValue``; else the derivation ends there and leaves the rest of
/// the object open.
enum SchemaBuilder {
    /// The schema of `type`.
    ///
    /// - Parameter describe: descriptions of members by their names; `a.b` is the member `b` of the member
    ///   `a`.
    static func schema<T: Decodable>(for type: T.Type, describe: [String: String] = [:]) -> JSONValue {
        let node = ProbeNode()
        let probe = Probe(root: ObjectIdentifier(type))
        _ = try? probe.value(type, node)
        let schema = node.schema(path: "", describe: describe)
        return schema.objectValue?.isEmpty == true && node.isUnknown ? ["type": "object"] : schema
    }
}

/// A type that states its own JSON Schema, for types whose `init(from:)` accepts only certain values.
///
/// A schema with `examples`, `default`, `const` or `enum` should give a value there that the type decodes
/// from: it is used to see what follows the value in a larger type.
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
