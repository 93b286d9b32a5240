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

/// Names a request of a view at its machine.
public struct ViewRequestID: Sendable, Hashable {
    let number: Int
}

/// What a view asks of its host, checked in form (MCP Apps 2026-01-26 "Requests (View → Host)").
///
/// Each is answered by `AppBridgeMachine.answer`.
public enum ViewRequest: Sendable, Hashable {
    /// Open an `http` or `https` address outside the view: `ui/open-link`, answered with `{}`.
    case openLink(url: String)
    /// Say something in the user's name: `ui/message`, answered with `{}`.
    case message(content: [ContentBlock])
    /// Replace what the model will know of this view: `ui/update-model-context`, answered with `{}`.
    case updateModelContext(content: [ContentBlock], structured: JSONObject?)
    /// Show the view in another way, which view and host have declared: `ui/request-display-mode`, answered
    /// with
    /// `{"mode": …}`, the mode that holds then.
    case displayMode(DisplayMode)
    /// Save embedded and linked resources: `ui/download-file`, answered with `{}`.
    case download([ContentBlock])
    /// Call a tool of the view's own server: `tools/call`, answered with a `CallToolResult`.
    case callTool(name: String, arguments: JSONObject, meta: JSONObject?)
    /// Pass a request on to the view's own server, and its result back: `tools/list`, `resources/list`,
    /// `resources/read`, `resources/templates/list`, `prompts/list`.
    case forward(method: String, params: JSONObject)
    /// Ask the model: `sampling/createMessage`.
    case sample(params: JSONObject)
}
