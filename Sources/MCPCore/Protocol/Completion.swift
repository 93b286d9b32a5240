/// The prompt or resource template whose argument is completed (server/utilities/completion "Reference
/// Types").
public struct CompletionReference: WireType {
    /// The kind of a reference, as sent on the wire.
    public enum Kind: String, Sendable, Hashable {
        /// A prompt, identified by its name.
        case prompt = "ref/prompt"
        /// A resource template, identified by its URI template.
        case resource = "ref/resource"
    }

    /// The kind.
    public let kind: Kind
    /// The prompt's name, or the URI template.
    public let name: String

    /// Creates a reference to a prompt, to complete one of its arguments.
    public static func prompt(_ name: String) -> CompletionReference {
        CompletionReference(kind: .prompt, name: name)
    }

    /// Creates a reference to a resource template, to complete one of its variables.
    public static func resource(_ uriTemplate: String) -> CompletionReference {
        CompletionReference(kind: .resource, name: uriTemplate)
    }

    private init(kind: Kind, name: String) {
        self.kind = kind
        self.name = name
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "CompletionReference")
        guard let kind = Kind(rawValue: try members.string("type")) else {
            throw JSONError(
                .typeMismatch(expected: "\"ref/prompt\" or \"ref/resource\"", found: .string), path: "/type")
        }
        self.kind = kind
        name = try members.string(kind == .prompt ? "name" : "uri")
    }

    /// The reference as JSON.
    public var json: JSONValue {
        ["type": .string(kind.rawValue), kind == .prompt ? "name" : "uri": .string(name)]
    }
}

/// The possible completions of an argument (server/utilities/completion "Completion Results").
public struct CompletionResult: WireType {
    /// The maximum number of values in one result (COMP-04).
    public static let maxValues = 100

    /// The values, most likely first.
    public var values: [String]
    /// The total number of values, if known.
    public var total: Int?
    /// Whether there are more than `values`.
    public var hasMore: Bool?

    /// Creates a result; of more than 100 values, only the first 100 are sent and `hasMore` is true.
    public init(_ values: [String], total: Int? = nil, hasMore: Bool? = nil) {
        self.values = Array(values.prefix(Self.maxValues))
        let isCut = values.count > Self.maxValues
        self.total = total ?? (isCut ? values.count : nil)
        self.hasMore = isCut ? true : hasMore
    }

    /// Reads the value of the result's member `completion`.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "completion")
        guard members["values"] != nil else { throw JSONError(.missingMember("values"), path: "") }
        values = try members.strings("values")
        total = try members.optionalInt("total")
        hasMore = try members.optionalBool("hasMore")
    }

    /// The value of the result's member `completion`.
    public var json: JSONValue {
        var object: JSONObject = ["values": .array(values.prefix(Self.maxValues).map(JSONValue.string))]
        if let total { object["total"] = JSONValue(total) }
        if let hasMore { object["hasMore"] = .bool(hasMore) }
        return .object(object)
    }
}
