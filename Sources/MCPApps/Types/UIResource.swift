public import MCPCore

/// The document of a view with its metadata, as returned by `resources/read` (MCP Apps 2026-01-26 "UI
/// Resource Format").
public struct UIResource: Sendable, Hashable {
    /// The maximum size of a document: 8 MiB. A longer one is not loaded.
    public static let maxBytes = 8 << 20

    /// The address, `ui://…`.
    public let uri: String
    /// The HTML document.
    public let html: String
    /// The metadata of the view, with its requests.
    public let meta: UIResourceMeta
    /// The SHA-256 of the document's UTF-8, in lower-case hexadecimal digits: to detect changes.
    public let hash: String

    /// Creates a view from a document.
    /// - Throws: `UIResourceError.invalidURI`, `.tooLarge`.
    public init(uri: String, html: String, meta: UIResourceMeta = UIResourceMeta()) throws(UIResourceError) {
        guard Self.isViewURI(uri) else { throw .invalidURI(uri) }
        let bytes = html.utf8.count
        guard bytes <= Self.maxBytes else { throw .tooLarge(bytes: bytes) }
        self.uri = uri
        self.html = html
        self.meta = meta
        hash = Hex.encode(SHA256.hash(html.utf8).bytes)
    }

    /// Extracts the document from a server's response.
    ///
    /// The media types of the drafts of 2025 are accepted as well: `text/html+mcp`, `text/html;profile=mcp`.
    /// Of several contents, the one with this address is used. Metadata of the content takes precedence, as a
    /// whole, over that of the entry in `resources/list`.
    /// - Parameter listed: the entry of `resources/list`, if known.
    /// - Throws: `UIResourceError`.
    public static func load(
        _ uri: String, read result: [ResourceContents], listed: Resource?
    ) throws(UIResourceError) -> UIResource {
        guard isViewURI(uri) else { throw .invalidURI(uri) }
        guard let contents = result.first(where: { $0.uri == uri }) ?? result.first else {
            throw .noContents(uri)
        }
        guard let type = contents.mimeType, UIExtension.isReadableViewType(type) else {
            throw .wrongType(contents.mimeType, uri: uri)
        }
        // Base64 is a third longer: data that is far too long is not even decoded.
        let textBytes = contents.text?.utf8.count
        let size: Int = textBytes ?? (contents.blob?.utf8.count ?? 0) / 4 * 3
        guard size <= maxBytes + 2 else { throw .tooLarge(bytes: size) }
        guard let html = contents.text ?? contents.blob.flatMap(Self.text) else { throw .unreadable(uri) }
        let meta = contents.meta?["ui"] ?? listed?.meta?["ui"]
        return try UIResource(uri: uri, html: html, meta: UIResourceMeta(json: meta ?? [:]))
    }

    private static func text(base64: String) -> String? {
        Base64.decode(base64).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Returns whether an address can be that of a view: `ui://` followed by at least one character, without
    /// spaces and control characters.
    static func isViewURI(_ uri: String) -> Bool {
        uri.hasPrefix("ui://") && uri.utf8.count > 5 && uri.utf8.count <= 2_048
            && uri.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}
