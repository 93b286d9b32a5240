public import MCPCore

/// What a host does for a view (MCP Apps 2026-01-26 "Host Capabilities").
///
/// Links, downloads, log messages, messages and the model's context are always taken. The machine answers
/// with -32601 what is not offered.
public struct HostCapabilities: Sendable, Hashable {
    /// Passes calls of tools on to the view's server, and its list of tools.
    public var serverTools = false
    /// Passes reads and lists of resources on to the view's server.
    public var serverResources = false
    /// Passes `prompts/list` on; no member on the wire stands for it.
    public var serverPrompts = true
    /// Asks a model for the view.
    public var sampling = false
    /// Asks it with tools.
    public var samplingTools = false
    /// What the view's sandbox allows; nil when there is none.
    public var sandbox: SandboxGrant?

    /// What needs neither a server nor a model.
    public init() {}

    /// The kinds of content that views may send, all of them.
    private static let kinds: JSONValue = [
        "text": [:], "image": [:], "audio": [:], "resource": [:], "resourceLink": [:],
        "structuredContent": [:],
    ]

    /// `hostCapabilities` of the answer to `ui/initialize`.
    public var json: JSONObject {
        var object: JSONObject = ["openLinks": [:], "downloadFile": [:]]
        if serverTools { object["serverTools"] = ["listChanged": true] }
        if serverResources { object["serverResources"] = ["listChanged": true] }
        object["logging"] = [:]
        if let sandbox { object["sandbox"] = .object(sandbox.json) }
        object["updateModelContext"] = Self.kinds
        object["message"] = Self.kinds
        if sampling { object["sampling"] = samplingTools ? ["tools": [:]] : [:] }
        return object
    }
}
