/// The names and fixed values of the MCP Apps extension.
public enum UIExtension {
    /// The identifier of the extension, a key of `capabilities.extensions` on both sides.
    public static let identifier = "io.modelcontextprotocol/ui"
    /// The media type of a view's document.
    public static let mimeType = "text/html;profile=mcp-app"
    /// The version of the protocol between host and view, which is independent of the revisions of MCP.
    public static let version = "2026-01-26"
    /// The value that a client that shows views declares for `identifier` (MCP Apps 2026-01-26
    /// "Client<>Server Capability Negotiation").
    public static let clientCapability: JSONObject = ["mimeTypes": [.string(mimeType)]]

    /// Whether a media type is that of a view: case-insensitive, spaces allowed around the semicolon (RFC
    /// 9110 8.3.1).
    package static func isViewType(_ type: String) -> Bool {
        let parts = type.lowercased().split(separator: ";").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard parts.first == "text/html" else { return false }
        return parts.dropFirst().contains { $0 == "profile=mcp-app" || $0 == "profile=\"mcp-app\"" }
    }
}

extension ClientCapabilities {
    /// Whether the client shows views: it declares the extension and the media type of views (MCP Apps
    /// 2026-01-26 "Client<>Server Capability Negotiation").
    public var hasUI: Bool {
        let types = extensions[UIExtension.identifier]?["mimeTypes"]?.arrayValue ?? []
        return types.contains { $0.stringValue.map(UIExtension.isViewType) ?? false }
    }
}
