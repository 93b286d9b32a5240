/// One way in which a value does not fit its schema.
public struct SchemaViolation: Sendable, Hashable, CustomStringConvertible {
    /// The part of the value that does not fit, as a JSON pointer (RFC 6901); `""` is the whole value.
    public let instancePath: String
    /// The keyword that is violated, such as `minimum`; `false` for a schema that allows nothing.
    public let keyword: String
    /// The expectation that was not met, in words for a person, on one line and without control characters.
    public let message: String
    /// The location of the keyword in the schema, such as `#/properties/limit/minimum`.
    public let schemaPath: String
    /// The name of the member that is missing or not allowed, for violations that concern one.
    public let member: String?

    init(
        instancePath: String, keyword: String, message: String, schemaPath: String, member: String? = nil
    ) {
        self.instancePath = instancePath
        self.keyword = keyword
        self.message = message
        self.schemaPath = schemaPath
        self.member = member
    }

    /// Whether the value was not compared to its end, because a limit was reached; no keyword is violated.
    var isStop: Bool { keyword.isEmpty }

    /// The size of its strings in bytes.
    var byteCount: Int {
        instancePath.utf8.count + message.utf8.count + schemaPath.utf8.count + (member?.utf8.count ?? 0)
    }

    /// The path, unless it is the whole value, and the message: `/limit: 0 is less than the minimum 1`.
    public var description: String { instancePath.isEmpty ? message : "\(instancePath): \(message)" }
}

/// An error that explains why a schema cannot be used.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The location in the schema: a JSON pointer as a URI fragment, such as `#/properties/limit/minimum`.
    public let location: String
    /// A human-readable description of the problem.
    public let message: String

    init(at location: String, _ message: String) {
        self.location = location
        self.message = message
    }

    /// The location and the description, on one line.
    public var description: String { "schema \(location): \(message)" }
}
