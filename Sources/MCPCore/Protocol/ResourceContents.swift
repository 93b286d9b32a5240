/// What reading a resource gives: text or bytes (server/resources "Resource Contents").
public struct ResourceContents: RevisionedWireType {
    /// The address of what is here; a directory may answer with several.
    public var uri: String
    /// The media type.
    public var mimeType: String?
    /// The text, for text.
    public var text: String?
    /// The base64 text of the bytes, for everything else.
    public var blob: String?
    /// Foreign data.
    public var meta: JSONObject?

    /// Makes contents; give `text` or `blob`.
    public init(
        uri: String, mimeType: String? = nil, text: String? = nil, blob: String? = nil,
        meta: JSONObject? = nil
    ) {
        self.uri = uri
        self.mimeType = mimeType
        self.text = text
        self.blob = blob
        self.meta = meta
    }

    /// Contents that are text.
    public static func text(_ text: String, uri: String, mimeType: String? = "text/plain") -> ResourceContents
    {
        ResourceContents(uri: uri, mimeType: mimeType, text: text)
    }

    /// Contents that are bytes.
    public static func blob(
        _ bytes: [UInt8], uri: String, mimeType: String? = "application/octet-stream"
    ) -> ResourceContents {
        ResourceContents(uri: uri, mimeType: mimeType, blob: Base64.encode(bytes))
    }

    /// The bytes of a blob, or of the text; nil when the base64 is broken.
    public var bytes: [UInt8]? { text.map { Array($0.utf8) } ?? blob.flatMap { Base64.decode($0) } }

    /// Reads the value.
    public init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "ResourceContents")
        uri = try members.string("uri")
        mimeType = try members.optionalString("mimeType")
        text = try members.optionalString("text")
        blob = try members.optionalString("blob")
        meta = try members.optionalObject("_meta") ?? members.misspelledMeta
    }

    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("uri", uri)
        writer.member("mimeType", mimeType)
        if let blob { writer.member("blob", blob) } else { writer.member("text", text ?? "") }
        writer.meta(meta, for: revision)
        writer.endObject()
    }
}
