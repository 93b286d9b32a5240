public import MCPCore

/// What a view declared in `ui/initialize` (MCP Apps 2026-01-26 "App Capabilities").
public struct AppCapabilities: Sendable, Hashable {
    /// What a view says of its own tools.
    public struct Tools: Sendable, Hashable {
        /// It tells when they change.
        public var listChanged: Bool
    }

    /// The object as it came.
    public let json: JSONObject
    /// The view offers tools; nil when it does not.
    public let tools: Tools?
    /// The modes that it can be shown in; it is shown in no other. Words that are not known are left out.
    public let availableDisplayModes: [DisplayMode]

    /// Reads the object; what does not fit counts as not declared.
    public init(json: JSONObject) {
        self.json = json
        tools = json["tools"]?.objectValue.map { Tools(listChanged: $0["listChanged"]?.boolValue ?? false) }
        let words = json["availableDisplayModes"]?.arrayValue?.compactMap(\.stringValue) ?? []
        availableDisplayModes = DisplayMode.allCases.filter { words.contains($0.rawValue) }
    }
}

/// How a view is shown (MCP Apps 2026-01-26 "Display Modes").
public enum DisplayMode: String, Sendable, Hashable, CaseIterable {
    /// In the flow of the conversation.
    case inline
    /// Over everything else.
    case fullscreen
    /// Floating above the conversation ("picture in picture").
    case pip
}
