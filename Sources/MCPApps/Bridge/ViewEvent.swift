public import MCPCore

/// What a view, or its sandbox, tells its host (MCP Apps 2026-01-26 "Notifications (View → Host)").
public enum ViewEvent: Sendable, Hashable {
    /// The sandbox is there; it is given the document next. Said again when the page is loaded again.
    case proxyReady
    /// The view is at work, and now hears of its call.
    case initialized
    /// The size that the view wishes for, in CSS pixels, at most what the host allows. A side that the host
    /// has fixed, or that the view does not name, is nil.
    case size(width: Double?, height: Double?)
    /// A message for the log.
    case log(level: LoggingLevel, logger: String?, data: JSONValue)
    /// The view wants to be closed.
    case requestTeardown
    /// The view's own tools changed: at most once a second.
    case toolsChanged
    /// The policy stopped the view, as the sandbox says; each text has at most 500 characters.
    case violation(directive: String, blockedURI: String)
    /// The view's frame loaded something else than its document.
    case navigatedAway
    /// A message was passed over, and why.
    case dropped(reason: String)
    /// The page was loaded, and did not begin to speak in time.
    case silent
}
