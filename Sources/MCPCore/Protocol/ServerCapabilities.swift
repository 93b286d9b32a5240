/// The capabilities that a server offers (basic/versioning, server/discover).
///
/// The object is open: unknown keys are preserved in `json` (CAP-03).
public struct ServerCapabilities: WireType {
    /// The capabilities as received.
    public var json: JSONValue

    /// Creates capabilities from an object, which is kept unchanged.
    public init(json: JSONValue) throws(JSONError) {
        _ = try MemberReader(json, as: "ServerCapabilities")
        self.json = json
    }

    /// Creates empty capabilities.
    public init() { json = [:] }

    /// Whether the server supports `tools/list` and `tools/call`.
    public var hasTools: Bool { json["tools"] != nil }
    /// Whether the server supports `resources/list` and `resources/read`.
    public var hasResources: Bool { json["resources"] != nil }
    /// Whether the server supports `prompts/list` and `prompts/get`.
    public var hasPrompts: Bool { json["prompts"] != nil }
    /// Whether the server supports `completion/complete`.
    public var hasCompletions: Bool { json["completions"] != nil }
    /// Whether the server sends log messages.
    public var hasLogging: Bool { json["logging"] != nil }
    /// The offered extensions, by identifier.
    public var extensions: JSONObject { json["extensions"]?.objectValue ?? [:] }
}
