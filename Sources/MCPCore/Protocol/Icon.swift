/// An icon for an implementation, tool, prompt or resource (2025-11-25 and later, basic/index "icons").
public struct Icon: RevisionedWireType {
    /// An `https:` or `data:` URL; do not display any other (META-22).
    public var source: String
    /// The media type of the image.
    public var mimeType: String?
    /// The sizes, such as `48x48` or `any`.
    public var sizes: [String]
    /// The background that the icon is designed for: `light` or `dark`.
    public var theme: String?

    /// Creates an icon.
    public init(_ source: String, mimeType: String? = nil, sizes: [String] = [], theme: String? = nil) {
        self.source = source
        self.mimeType = mimeType
        self.sizes = sizes
        self.theme = theme
    }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "Icon")
        source = try members.string("src")
        mimeType = try members.optionalString("mimeType")
        sizes = try members.strings("sizes")
        theme = try members.optionalString("theme")
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("src", source)
        writer.member("mimeType", mimeType)
        if !sizes.isEmpty {
            writer.key("sizes")
            writer.beginArray()
            for size in sizes { writer.string(size) }
            writer.endArray()
        }
        writer.member("theme", theme)
        writer.endObject()
    }
}

extension JSONWriter {
    mutating func icons(_ icons: [Icon], for revision: Revision) {
        guard revision.has(.icons), !icons.isEmpty else { return }
        key("icons")
        array(icons, for: revision)
    }

    mutating func array<T: RevisionedWireType>(_ items: [T], for revision: Revision) {
        beginArray()
        for item in items { item.write(to: &self, for: revision) }
        endArray()
    }

    /// Writes the `_meta` of a type, if the revision supports it (META-18).
    mutating func meta(_ meta: JSONObject?, for revision: Revision) {
        guard revision.has(.structured), let meta else { return }
        member("_meta", JSONValue.object(meta))
    }
}
