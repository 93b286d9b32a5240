import MCPCore

/// The reason why a resource cannot be shown as a view (MCP Apps 2026-01-26 "UI Resource Format").
public enum UIResourceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The address does not start with `ui://`.
    case invalidURI(String)
    /// The response to `resources/read` has no contents for the address.
    case noContents(String)
    /// The contents have another media type, or none.
    case wrongType(String?, uri: String)
    /// The contents are neither text nor a blob that is base64 of UTF-8.
    case unreadable(String)
    /// The document is longer than `UIResource.maxBytes`.
    case tooLarge(bytes: Int)

    /// The error in words for users, with advice on what to do.
    public var description: String {
        switch self {
        case .invalidURI(let uri):
            "\(Self.shortened(uri)) is not a view address; it must start with ui://. The server has to"
                + " correct it."
        case .noContents(let uri):
            "The server returned no contents for \(Self.shortened(uri)), so there is nothing to show."
        case .wrongType(let type, let uri):
            "\(Self.shortened(uri)) has the type \(type.map(Self.shortened) ?? "nothing"), but a view must"
                + " have the type \(UIExtension.mimeType). It is not shown; the server has to correct it."
        case .unreadable(let uri):
            "\(Self.shortened(uri)) is neither text nor base64 of text, so it cannot be shown."
        case .tooLarge(let bytes):
            "The document has \(bytes) bytes, and views of more than \(UIResource.maxBytes >> 20) MiB are not"
                + " shown."
        }
    }

    /// Returns the text on one line, truncated; names come from the server.
    private static func shortened(_ text: String) -> String {
        let line = text.unicodeScalars.lazy.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(200)
        var shown = ""
        shown.unicodeScalars.append(contentsOf: line)
        return shown.isEmpty ? "(empty)" : shown
    }
}
