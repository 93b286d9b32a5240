/// A location in which the client lets a server work (client/roots).
public struct Root: RevisionedWireType {
    /// The location; a `file://` URI (ROOT-02).
    public var uri: String
    /// A human-readable name.
    public var name: String?
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates a description of a root.
    public init(_ uri: String, name: String? = nil, meta: JSONObject? = nil) {
        self.uri = uri
        self.name = name
        self.meta = meta
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "Root")
        uri = try members.string("uri")
        name = try members.optionalString("name")
        meta = try members.optionalObject("_meta")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("uri", uri)
        writer.member("name", name)
        writer.meta(meta, for: revision)
        writer.endObject()
    }
}
