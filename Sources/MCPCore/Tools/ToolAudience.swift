/// An audience that may see and call a tool.
public enum ToolAudience: String, Sendable, Hashable, CaseIterable {
    /// Models.
    case model
    /// Views that belong to the tool's own server.
    case app
}

extension Tool {
    /// The audiences that may see and call the tool: all of them, unless `_meta.ui.visibility` names fewer
    /// (MCP Apps 2026-01-26 "Resource Discovery").
    ///
    /// Unknown words are ignored. A list without a known word makes the tool visible to no audience. A value
    /// that is not a list is treated as absent.
    public var visibility: Set<ToolAudience> {
        guard let words = meta?["ui"]?["visibility"]?.arrayValue else { return Set(ToolAudience.allCases) }
        return Set(words.compactMap { $0.stringValue.flatMap(ToolAudience.init) })
    }
}
