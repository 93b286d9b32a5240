/// The contents returned by reading a resource: text or bytes (server/resources "Resource Contents").
public struct ResourceContents: RevisionedWireType {
    /// The URI of these contents; reading a directory may return contents with several URIs.
    public var uri: String
    /// The media type.
    public var mimeType: String?
    /// The text, if the contents are text.
    public var text: String?
    /// The base64-encoded bytes, if the contents are not text.
    public var blob: String?
    /// Additional metadata (`_meta`).
    public var meta: JSONObject?

    /// Creates contents; provide either `text` or `blob`.
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

    /// Creates contents that are text.
    public static func text(_ text: String, uri: String, mimeType: String? = "text/plain") -> ResourceContents
    {
        ResourceContents(uri: uri, mimeType: mimeType, text: text)
    }

    /// Creates contents that are bytes.
    public static func blob(
        _ bytes: [UInt8], uri: String, mimeType: String? = "application/octet-stream"
    ) -> ResourceContents {
        ResourceContents(uri: uri, mimeType: mimeType, blob: Base64.encode(bytes))
    }

    /// The bytes of the blob or of the text; nil when the base64 data is invalid.
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
