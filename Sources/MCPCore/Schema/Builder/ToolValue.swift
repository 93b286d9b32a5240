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
