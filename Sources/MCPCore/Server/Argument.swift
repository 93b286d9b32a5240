/// One argument of a tool that is declared by a closure.
///
/// The type comes from the closure's parameter; an argument with an optional type may be omitted.
public struct Argument<Value: Decodable & Sendable>: Sendable {
    /// The argument's name.
    public let name: String
    /// The meaning of the argument, for the model.
    public let description: String?

    /// Creates an argument with this name.
    public init(_ name: String, _ description: String? = nil) {
        self.name = name
        self.description = description
    }

    /// Returns the argument's value; a missing argument is null, which only optional types accept.
    func value(in arguments: RawJSON) throws -> Value {
        do {
            return try (arguments[name] ?? .null).decode(Value.self)
        } catch let error as JSONError {
            throw error.prefixed(by: "/\(name)")
        }
    }

    /// Adds the argument's schema.
    func describe(in properties: inout JSONObject, required: inout [JSONValue]) {
        var schema = SchemaBuilder.schema(for: Value.self)
        if let description, case .object(var object) = schema {
            object["description"] = .string(description)
            schema = .object(object)
        }
        properties[name] = schema
        if !(Value.self is any OptionalArgument.Type) { required.append(.string(name)) }
    }
}

/// An argument that may be omitted.
private protocol OptionalArgument {}
extension Optional: OptionalArgument {}

// A duplicate name, or a type without a schema, is a programming error: these forms stop the program with a
// clear message. For tools that come from configuration, files or peers, use `register`.
