/// How a view is shown (MCP Apps 2026-01-26 "Display Modes").
public enum DisplayMode: String, Sendable, Hashable, CaseIterable {
    /// In the flow of the conversation.
    case inline
    /// Over everything else.
    case fullscreen
    /// Floating above the conversation ("picture in picture").
    case pip
}
