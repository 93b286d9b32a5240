public import MCPCore

/// The outcome of a request of a view.
public enum HandlerResult: Sendable, Hashable {
    /// The request succeeded: `{}`.
    case done
    /// The request was attempted and failed: `{"isError": true}`.
    case failed
    /// The host or the user refused the request: the error -32000 with this text.
    case denied(String)

    var result: Result<JSONValue, MCPError> {
        switch self {
        case .done: .success([:])
        case .failed: .success(["isError": true])
        case .denied(let reason): .failure(AppBridgeMachine.refusal(reason))
        }
    }
}

/// A message that a view posts in the user's name (`ui/message`).
public struct AppMessage: Sendable, Hashable {
    /// The role, `user`.
    public let role: Role
    /// The content of the message.
    public let content: [ContentBlock]
}

/// The context that a view provides to the model for its next turn (`ui/update-model-context`). It replaces
/// the view's earlier context.
public struct AppModelContext: Sendable, Hashable {
    /// The content blocks.
    public let content: [ContentBlock]
    /// The structured data.
    public let structuredContent: JSONObject?
}

/// The size that a view requests, in CSS pixels; nil for a side that it does not control.
public struct ViewSize: Sendable, Hashable {
    /// The width.
    public let width: Double?
    /// The height.
    public let height: Double?
}

/// The handlers of an embedding program for a view. A request without a handler is answered with -32601, and
/// a notification without one is ignored.
///
/// An error that a handler throws is returned with its code if it is an `MCPError`, otherwise with -32000 and
/// its text.
public struct AppBridgeHandlers: Sendable {
    /// Called when the view becomes active.
    public var onInitialized: (@Sendable () async -> Void)?
    /// Posts a message of the view in the user's name.
    public var onMessage: (@Sendable (AppMessage) async -> HandlerResult)?
    /// Opens an `http` or `https` address for the view.
    public var onOpenLink: (@Sendable (_ url: String) async -> HandlerResult)?
    /// Receives a log message of the view.
    public var onLoggingMessage: (@Sendable (LogMessage) async -> Void)?
    /// Receives the size that the view requests.
    public var onSizeChange: (@Sendable (ViewSize) async -> Void)?
    /// Calls a tool of the view's server.
    public var onToolCall:
        (@Sendable (_ name: String, _ arguments: JSONObject) async throws -> CallToolResult)?
    /// Reads a resource of the view's server.
    public var onResourceRead: (@Sendable (_ uri: String) async throws -> [ResourceContents])?

    /// Replaces the context that the view provides to the model.
    public var onUpdateModelContext: (@Sendable (AppModelContext) async -> HandlerResult)?
    /// Shows the view in a mode that both it and the context declare. The result is the mode that is then in
    /// effect; also pass that to `AppBridge.setContext`.
    public var onRequestDisplayMode: (@Sendable (DisplayMode) async -> DisplayMode)?
    /// Saves embedded or linked resources for the view.
    public var onDownloadFile: (@Sendable ([ContentBlock]) async -> HandlerResult)?
    /// Forwards a list request of the view to its server: `tools/list`, `resources/list`,
    /// `resources/templates/list` or `prompts/list`. Without `onResourceRead`, `resources/read` is passed
    /// here too.
    public var onForward: (@Sendable (_ method: String, _ params: JSONObject) async throws -> JSONValue)?
    /// Samples the model for the view (`sampling/createMessage`).
    public var onCreateMessage: (@Sendable (_ params: JSONObject) async throws -> JSONValue)?
    /// Called when the view requests to be closed; `AppBridge.close` closes it.
    public var onRequestTeardown: (@Sendable () async -> Void)?
    /// Called when the view's own tools changed.
    public var onToolsChanged: (@Sendable () async -> Void)?
    /// Receives all other events: violations of the policy, messages that were ignored, silence.
    public var onEvent: (@Sendable (ViewEvent) async -> Void)?

    /// Creates handlers that do nothing.
    public init() {}
}
