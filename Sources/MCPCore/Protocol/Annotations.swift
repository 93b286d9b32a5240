/// Hints about a content block or resource (server/resources "Annotations").
public struct Annotations: RevisionedWireType {
    /// Who it is for: `user`, `assistant`.
    public var audience: [Role]
    /// 0 (least) to 1 (most important).
    public var priority: Double?
    /// When it changed, ISO 8601 (2025-06-18 and later).
    public var lastModified: String?

    /// Makes annotations.
    public init(audience: [Role] = [], priority: Double? = nil, lastModified: String? = nil) {
        self.audience = audience
        self.priority = priority
        self.lastModified = lastModified
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "Annotations")
        audience = try members.strings("audience").map(Role.init(rawValue:))
        priority = try members.optionalDouble("priority")
        lastModified = try members.optionalString("lastModified")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        if !audience.isEmpty {
            writer.key("audience")
            writer.beginArray()
            for role in audience { writer.string(role.rawValue) }
            writer.endArray()
        }
        writer.member("priority", priority)
        if revision.has(.structured) { writer.member("lastModified", lastModified) }
        writer.endObject()
    }
}

/// Whose words a message holds.
public struct Role: RawRepresentable, Sendable, Hashable, Codable {
    /// The role as on the wire.
    public let rawValue: String
    /// Names a role.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The person.
    public static let user = Role(rawValue: "user")
    /// The model.
    public static let assistant = Role(rawValue: "assistant")
}
