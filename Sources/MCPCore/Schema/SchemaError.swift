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
