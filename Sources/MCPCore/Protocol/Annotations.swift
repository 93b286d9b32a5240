/// Hints about a content block or resource (server/resources "Annotations").
public struct Annotations: RevisionedWireType {
    /// The intended audience: `user`, `assistant`.
    public var audience: [Role]
    /// The priority, from 0 (least important) to 1 (most important).
    public var priority: Double?
    /// The time of the last change, in ISO 8601 format (2025-06-18 and later).
    public var lastModified: String?

    /// Creates annotations.
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

/// The author of a message.
public struct Role: RawRepresentable, Sendable, Hashable, Codable {
    /// The role as sent on the wire.
    public let rawValue: String
    /// Creates a role from its raw value.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The user.
    public static let user = Role(rawValue: "user")
    /// The model.
    public static let assistant = Role(rawValue: "assistant")
}
