public import MCPCore

/// An event that a view or its sandbox reports to its host (MCP Apps 2026-01-26 "Notifications (View →
/// Host)").
public enum ViewEvent: Sendable, Hashable {
    /// The sandbox is ready; it receives the document next. Reported again when the page is reloaded.
    case proxyReady
    /// The view is active, and is now notified about its tool call.
    case initialized
    /// The size that the view requests, in CSS pixels, at most what the host allows. A side is nil if the
    /// host has fixed it or the view does not name it.
    case size(width: Double?, height: Double?)
    /// A message for the log.
    case log(level: LoggingLevel, logger: String?, data: JSONValue)
    /// The view wants to be closed.
    case requestTeardown
    /// The view's own tools changed: at most once a second.
    case toolsChanged
    /// The policy blocked the view, as reported by the sandbox; each text has at most 500 characters.
    case violation(directive: String, blockedURI: String)
    /// The view's frame loaded something other than its document.
    case navigatedAway
    /// A script, a style sheet, an image or another part of the document could not be loaded, or its script
    /// failed: the address, or the text of the error, of at most 500 characters.
    case failedToLoad(String)
    /// The view uses WebRTC, which no policy limits: it can send data to any address.
    case usesWebRTC
    /// The user pressed Escape in the view, and the view did nothing with it.
    case escape
    /// A message was ignored, for this reason.
    case dropped(reason: String)
    /// The page was loaded but sent no message in time.
    case silent
}

/// The identifier of a view's request in its machine.
public struct ViewRequestID: Sendable, Hashable {
    let number: Int
}

/// A validated request from a view to its host (MCP Apps 2026-01-26 "Requests (View → Host)").
///
/// Each is answered by `AppBridgeMachine.answer`.
public enum ViewRequest: Sendable, Hashable {
    /// Open an `http` or `https` address outside the view: `ui/open-link`, answered with `{}`.
    case openLink(url: String)
    /// Post a message in the user's name: `ui/message`, answered with `{}`.
    case message(content: [ContentBlock])
    /// Replace what the model will know about this view: `ui/update-model-context`, answered with `{}`.
    case updateModelContext(content: [ContentBlock], structured: JSONObject?)
    /// Show the view in another mode that both the view and the host have declared:
    /// `ui/request-display-mode`, answered with `{"mode": …}`, the mode that is then in effect.
    case displayMode(DisplayMode)
    /// Save embedded and linked resources: `ui/download-file`, answered with `{}`.
    case download([ContentBlock])
    /// Call a tool of the view's own server: `tools/call`, answered with a `CallToolResult`.
    case callTool(name: String, arguments: JSONObject, meta: JSONObject?)
    /// Forward a request to the view's own server and return its result: `tools/list`, `resources/list`,
    /// `resources/read`, `resources/templates/list`, `prompts/list`.
    case forward(method: String, params: JSONObject)
    /// Sample the model: `sampling/createMessage`.
    case sample(params: JSONObject)
}
