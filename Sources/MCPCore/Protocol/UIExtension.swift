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
    package static func isViewType(_ type: String) -> Bool { has(type, profiles: ["mcp-app"]) }

    /// Whether a media type is that of a view, or was so in the drafts of 2025: `text/html+mcp` and
    /// `text/html;profile=mcp`, which servers of that time still send.
    package static func isReadableViewType(_ type: String) -> Bool {
        has(type, profiles: ["mcp-app", "mcp"]) || has(type, "text/html+mcp", profiles: nil)
    }

    /// - Parameter profiles: the profiles, one of which the type must have; nil for any type.
    private static func has(_ type: String, _ name: String = "text/html", profiles: [String]?) -> Bool {
        let parts = type.lowercased().split(separator: ";").map { String($0).trimmed }
        guard parts.first == name else { return false }
        guard let profiles else { return true }
        return parts.dropFirst().contains { part in
            profiles.contains { part == "profile=\($0)" || part == "profile=\"\($0)\"" }
        }
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
