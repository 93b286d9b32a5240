/// The names and fixed values of the extension MCP Apps.
public enum UIExtension {
    /// The identifier of the extension, a key of `capabilities.extensions` on both sides.
    public static let identifier = "io.modelcontextprotocol/ui"
    /// The media type of a view's document.
    public static let mimeType = "text/html;profile=mcp-app"
    /// The version of the protocol between host and view. It does not follow the revisions of MCP.
    public static let version = "2026-01-26"
    /// What a client that shows views declares for `identifier` (MCP Apps 2026-01-26 "Client<>Server
    /// Capability Negotiation").
    public static let clientCapability: JSONObject = ["mimeTypes": [.string(mimeType)]]
}

extension ClientCapabilities {
    /// Whether the client shows views: it declares the extension, and the media type of views.
    public var hasUI: Bool {
        let types = extensions[UIExtension.identifier]?["mimeTypes"]?.arrayValue ?? []
        return types.contains { $0.stringValue.map(UIResource.isViewType) ?? false }
    }
}

extension Tool {
    /// The address of the view that shows the tool's results; nil when it has none (MCP Apps 2026-01-26
    /// "Resource Discovery").
    ///
    /// `_meta.ui.resourceUri` wins over the older `_meta["ui/resourceUri"]`.
    /// - Throws: `UIResourceError.invalidURI` when it is something else than a text that starts with `ui://`.
    public func uiResourceURI() throws(UIResourceError) -> String? {
        guard let value = meta?["ui"]?["resourceUri"] ?? meta?["ui/resourceUri"] else { return nil }
        guard let uri = value.stringValue, UIResource.isViewURI(uri) else {
            throw .invalidURI(value.stringValue ?? value.serialized())
        }
        return uri
    }
}
