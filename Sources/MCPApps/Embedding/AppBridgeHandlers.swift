public import MCPCore

/// What became of something that a view asked for.
public enum HandlerResult: Sendable, Hashable {
    /// It was done: `{}`.
    case done
    /// It was tried and failed: `{"isError": true}`.
    case failed
    /// The host or the user did not want it: the error -32000 with this text.
    case denied(String)

    var result: Result<JSONValue, MCPError> {
        switch self {
        case .done: .success([:])
        case .failed: .success(["isError": true])
        case .denied(let reason): .failure(AppBridgeMachine.refusal(reason))
        }
    }
}

/// What a view says in the user's name (`ui/message`).
public struct AppMessage: Sendable, Hashable {
    /// `user`.
    public let role: Role
    /// What it says.
    public let content: [ContentBlock]
}

/// What the model is to know of a view at its next turn (`ui/update-model-context`). It replaces what the
/// view said before.
public struct AppModelContext: Sendable, Hashable {
    /// Content.
    public let content: [ContentBlock]
    /// Data.
    public let structuredContent: JSONObject?
}

/// The size that a view wishes for, in CSS pixels; nil for a side that it does not decide.
public struct ViewSize: Sendable, Hashable {
    /// Across.
    public let width: Double?
    /// Down.
    public let height: Double?
}

/// What an embedding program does for a view. What is nil is answered with -32601, or passed over.
///
/// An error that a handler throws is answered with its code when it is an `MCPError`, else with -32000 and
/// its text.
public struct AppBridgeHandlers: Sendable {
    /// The view is at work.
    public var onInitialized: (@Sendable () async -> Void)?
    /// The view says something in the user's name.
    public var onMessage: (@Sendable (AppMessage) async -> HandlerResult)?
    /// The view wants an `http` or `https` address opened.
    public var onOpenLink: (@Sendable (_ url: String) async -> HandlerResult)?
    /// The view writes to the log.
    public var onLoggingMessage: (@Sendable (LogMessage) async -> Void)?
    /// The view wishes for a size.
    public var onSizeChange: (@Sendable (ViewSize) async -> Void)?
    /// The view calls a tool of its server.
    public var onToolCall:
        (@Sendable (_ name: String, _ arguments: JSONObject) async throws -> CallToolResult)?
    /// The view reads a resource of its server.
    public var onResourceRead: (@Sendable (_ uri: String) async throws -> [ResourceContents])?

    /// The view tells what the model is to know.
    public var onUpdateModelContext: (@Sendable (AppModelContext) async -> HandlerResult)?
    /// The view wants to be shown in a mode that it and the context declare. The answer is the mode that
    /// holds then; tell it by `AppBridge.setContext` too.
    public var onRequestDisplayMode: (@Sendable (DisplayMode) async -> DisplayMode)?
    /// The view wants resources, embedded or linked, to be saved.
    public var onDownloadFile: (@Sendable ([ContentBlock]) async -> HandlerResult)?
    /// The view asks for a list of its server: `tools/list`, `resources/list`, `resources/templates/list` or
    /// `prompts/list`. Without `onResourceRead`, `resources/read` comes here too.
    public var onForward: (@Sendable (_ method: String, _ params: JSONObject) async throws -> JSONValue)?
    /// The view asks the model (`sampling/createMessage`).
    public var onCreateMessage: (@Sendable (_ params: JSONObject) async throws -> JSONValue)?
    /// The view wants to be closed; `AppBridge.close` does it.
    public var onRequestTeardown: (@Sendable () async -> Void)?
    /// The view's own tools changed.
    public var onToolsChanged: (@Sendable () async -> Void)?
    /// Everything else that happens: violations of the policy, messages that were passed over, silence.
    public var onEvent: (@Sendable (ViewEvent) async -> Void)?

    /// Does nothing.
    public init() {}
}
