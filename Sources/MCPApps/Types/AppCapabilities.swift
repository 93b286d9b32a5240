public import MCPCore

/// The capabilities that a view declared in `ui/initialize` (MCP Apps 2026-01-26 "App Capabilities").
public struct AppCapabilities: Sendable, Hashable {
    /// The capabilities of a view's own tools.
    public struct Tools: Sendable, Hashable {
        /// Whether the view reports changes to its tools.
        public var listChanged: Bool
    }

    /// The object as received.
    public let json: JSONObject
    /// The capabilities of the view's tools; nil when it offers none.
    public let tools: Tools?
    /// The modes that the view can be shown in; it is shown in no other one. Unknown values are omitted.
    public let availableDisplayModes: [DisplayMode]

    /// Reads the object; a value of the wrong type counts as not declared.
    public init(json: JSONObject) {
        self.json = json
        tools = json["tools"]?.objectValue.map { Tools(listChanged: $0["listChanged"]?.boolValue ?? false) }
        let words = json["availableDisplayModes"]?.arrayValue?.compactMap(\.stringValue) ?? []
        availableDisplayModes = DisplayMode.allCases.filter { words.contains($0.rawValue) }
    }
}

/// The way a view is shown (MCP Apps 2026-01-26 "Display Modes").
public enum DisplayMode: String, Sendable, Hashable, CaseIterable {
    /// In the flow of the conversation.
    case inline
    /// Over everything else.
    case fullscreen
    /// Floating above the conversation ("picture in picture").
    case pip
}
