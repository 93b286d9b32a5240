public import MCPCore

/// The services that a host provides to a view (MCP Apps 2026-01-26 "Host Capabilities").
///
/// Links, downloads, log messages, messages and updates of the model's context are always accepted. The
/// machine answers anything that is not offered with -32601.
public struct HostCapabilities: Sendable, Hashable {
    /// Whether tool calls and the tool list are forwarded to the view's server.
    public var serverTools = false
    /// Whether reads and lists of resources are forwarded to the view's server.
    public var serverResources = false
    /// Whether `prompts/list` is forwarded; the protocol has no member for this.
    public var serverPrompts = true
    /// Whether a model is sampled for the view.
    public var sampling = false
    /// Whether sampling supports tools.
    public var samplingTools = false
    /// The grant of the view's sandbox; nil when there is none.
    public var sandbox: SandboxGrant?

    /// Creates capabilities that need neither a server nor a model.
    public init() {}

    /// The kinds of content that views may send, all of them.
    private static let kinds: JSONValue = [
        "text": [:], "image": [:], "audio": [:], "resource": [:], "resourceLink": [:],
        "structuredContent": [:],
    ]

    /// The `hostCapabilities` member of the response to `ui/initialize`.
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
