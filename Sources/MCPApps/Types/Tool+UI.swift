public import MCPCore

extension Tool {
    /// Returns the address of the view that shows the tool's results; nil when it has none (MCP Apps
    /// 2026-01-26 "Resource Discovery").
    ///
    /// `_meta.ui.resourceUri` takes precedence over the older `_meta["ui/resourceUri"]`.
    /// - Throws: `UIResourceError.invalidURI` when the value is not a string that starts with `ui://`.
    public func uiResourceURI() throws(UIResourceError) -> String? {
        guard let value = meta?["ui"]?["resourceUri"] ?? meta?["ui/resourceUri"] else { return nil }
        guard let uri = value.stringValue, UIResource.isViewURI(uri) else {
            throw .invalidURI(value.stringValue ?? value.serialized())
        }
        return uri
    }
}
