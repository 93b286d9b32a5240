/// Who may see and call a tool.
public enum ToolAudience: String, Sendable, Hashable, CaseIterable {
    /// Models.
    case model
    /// Views of the tool's own server.
    case app
}

extension Tool {
    /// Who may see and call the tool: everybody, unless `_meta.ui.visibility` names fewer (MCP Apps
    /// 2026-01-26 "Resource Discovery").
    ///
    /// Words that are not known are passed over. A list without a known word is for nobody, and one that is
    /// no list says nothing.
    public var visibility: Set<ToolAudience> {
        guard let words = meta?["ui"]?["visibility"]?.arrayValue else { return Set(ToolAudience.allCases) }
        return Set(words.compactMap { $0.stringValue.flatMap(ToolAudience.init) })
    }
}
