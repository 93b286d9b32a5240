/// A resource as listed by `resources/list` (server/resources "Resource").
public struct Resource: RevisionedWireType {
    /// Its URI (RFC 3986).
    public var uri: String
    /// The name of the resource.
    public var name: String
    /// A human-readable name (2025-06-18 and later).
    public var title: String?
    /// A description of the resource, for the model.
    public var description: String?
    /// The media type of the resource.
    public var mimeType: String?
    /// The size of the resource in bytes.
    public var size: Int?
    /// Annotations.
    public var annotations: Annotations?
    /// Icons (2025-11-25 and later).
    public var icons: [Icon]
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates a description of a resource.
    public init(
        _ uri: String, name: String, title: String? = nil, description: String? = nil,
        mimeType: String? = nil, size: Int? = nil, annotations: Annotations? = nil, icons: [Icon] = [],
        meta: JSONObject? = nil
    ) {
        self.uri = uri
        self.name = name
        self.title = title
        self.description = description
        self.mimeType = mimeType
        self.size = size
        self.annotations = annotations
        self.icons = icons
        self.meta = meta
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "Resource")
        uri = try members.string("uri")
        name = try members.string("name")
        title = try members.optionalString("title")
        description = try members.optionalString("description")
        mimeType = try members.optionalString("mimeType")
        size = try members.optionalInt("size")
        annotations = try members.optional("annotations")
        icons = try members.array("icons")
        meta = try members.optionalObject("_meta") ?? members.misspelledMeta
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writeMembers(to: &writer, for: revision)
        writer.endObject()
    }

    /// Writes the members without the braces; a resource link contains them too.
    func writeMembers(to writer: inout JSONWriter, for revision: Revision) {
        writer.member("uri", uri)
        writer.member("name", name)
        if revision.has(.structured) { writer.member("title", title) }
        writer.member("description", description)
        writer.member("mimeType", mimeType)
        writer.member("size", size)
        if let annotations {
            writer.key("annotations")
            annotations.write(to: &writer, for: revision)
        }
        writer.icons(icons, for: revision)
        writer.meta(meta, for: revision)
    }
}

/// A family of resources whose URIs follow a template (server/resources "Resource Templates").
public struct ResourceTemplate: RevisionedWireType {
    /// The URI template (RFC 6570), for example `file:///{path}`.
    public var uriTemplate: String
    /// The name of the template.
    public var name: String
    /// A human-readable name (2025-06-18 and later).
    public var title: String?
    /// A description of the resources, for the model.
    public var description: String?
    /// The media type that all resources of the template share.
    public var mimeType: String?
    /// Annotations.
    public var annotations: Annotations?
    /// Icons (2025-11-25 and later).
    public var icons: [Icon]
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates a description of a template.
    public init(
        _ uriTemplate: String, name: String, title: String? = nil, description: String? = nil,
        mimeType: String? = nil, annotations: Annotations? = nil, icons: [Icon] = [],
        meta: JSONObject? = nil
    ) {
        self.uriTemplate = uriTemplate
        self.name = name
        self.title = title
        self.description = description
        self.mimeType = mimeType
        self.annotations = annotations
        self.icons = icons
        self.meta = meta
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "ResourceTemplate")
        uriTemplate = try members.string("uriTemplate")
        name = try members.string("name")
        title = try members.optionalString("title")
        description = try members.optionalString("description")
        mimeType = try members.optionalString("mimeType")
        annotations = try members.optional("annotations")
        icons = try members.array("icons")
        meta = try members.optionalObject("_meta")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("uriTemplate", uriTemplate)
        writer.member("name", name)
        if revision.has(.structured) { writer.member("title", title) }
        writer.member("description", description)
        writer.member("mimeType", mimeType)
        if let annotations {
            writer.key("annotations")
            annotations.write(to: &writer, for: revision)
        }
        writer.icons(icons, for: revision)
        writer.meta(meta, for: revision)
        writer.endObject()
    }
}
