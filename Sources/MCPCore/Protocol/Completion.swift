/// What an argument belongs to that is completed (server/utilities/completion "Reference Types").
public struct CompletionReference: WireType {
    /// The kind of a reference, as on the wire.
    public enum Kind: String, Sendable, Hashable {
        /// A prompt, by its name.
        case prompt = "ref/prompt"
        /// A resource template, by its text.
        case resource = "ref/resource"
    }

    /// The kind.
    public let kind: Kind
    /// The prompt's name, or the template's text.
    public let name: String

    /// An argument of a prompt.
    public static func prompt(_ name: String) -> CompletionReference {
        CompletionReference(kind: .prompt, name: name)
    }

    /// A variable of a resource template.
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

    /// The value.
    public var json: JSONValue {
        ["type": .string(kind.rawValue), kind == .prompt ? "name" : "uri": .string(name)]
    }
}

/// What an argument can be completed to (server/utilities/completion "Completion Results").
public struct CompletionResult: WireType {
    /// The most values that one result holds (COMP-04).
    public static let maxValues = 100

    /// The values, the most likely first.
    public var values: [String]
    /// How many there are in all, if that is known.
    public var total: Int?
    /// Whether there are more than `values`.
    public var hasMore: Bool?

    /// A result; of more than 100 values the first 100 are sent, and `hasMore` is true.
    public init(_ values: [String], total: Int? = nil, hasMore: Bool? = nil) {
        self.values = Array(values.prefix(Self.maxValues))
        let isCut = values.count > Self.maxValues
        self.total = total ?? (isCut ? values.count : nil)
        self.hasMore = isCut ? true : hasMore
    }

    /// Reads the value, the member `completion` of the result.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "completion")
        guard members["values"] != nil else { throw JSONError(.missingMember("values"), path: "") }
        values = try members.strings("values")
        total = try members.optionalInt("total")
        hasMore = try members.optionalBool("hasMore")
    }

    /// The value, the member `completion` of the result.
    public var json: JSONValue {
        var object: JSONObject = ["values": .array(values.prefix(Self.maxValues).map(JSONValue.string))]
        if let total { object["total"] = JSONValue(total) }
        if let hasMore { object["hasMore"] = .bool(hasMore) }
        return .object(object)
    }
}
