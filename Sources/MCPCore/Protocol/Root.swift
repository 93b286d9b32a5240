/// A place that the client lets a server work in (client/roots).
public struct Root: RevisionedWireType {
    /// Where it is; a `file://` URI (ROOT-02).
    public var uri: String
    /// A name for people.
    public var name: String?
    /// Foreign data.
    public var meta: JSONObject?

    /// Describes a root.
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
