public import MCPCore

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
