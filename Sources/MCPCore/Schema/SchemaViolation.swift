/// One way in which a value does not fit its schema.
public struct SchemaViolation: Sendable, Hashable, CustomStringConvertible {
    /// Which part of the value does not fit, as a JSON pointer (RFC 6901); `""` is the whole value.
    public let instancePath: String
    /// The keyword that is not fulfilled, such as `minimum`; `false` for a schema that allows nothing.
    public let keyword: String
    /// What was expected, in words for a person, in one line and without control characters.
    public let message: String
    /// Where the keyword stands, such as `#/properties/limit/minimum`.
    public let schemaPath: String
    /// The name of the member that is missing or not allowed, for violations that are about one.
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

    /// How much memory its texts take.
    var byteCount: Int {
        instancePath.utf8.count + message.utf8.count + schemaPath.utf8.count + (member?.utf8.count ?? 0)
    }

    /// The path, where it is not the whole value, and the message: `/limit: 0 is less than the minimum 1`.
    public var description: String { instancePath.isEmpty ? message : "\(instancePath): \(message)" }
}

/// Why a schema cannot be used.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the schema: a JSON pointer as a URI fragment, such as `#/properties/limit/minimum`.
    public let location: String
    /// What is wrong, in words.
    public let message: String

    init(at location: String, _ message: String) {
        self.location = location
        self.message = message
    }

    /// The place and what is wrong, in one line.
    public var description: String { "schema \(location): \(message)" }
}
