/// What a server offers (basic/versioning, server/discover).
///
/// The object is open: unknown keys are kept in `json` (CAP-03).
public struct ServerCapabilities: WireType {
    /// The capabilities as they came.
    public var json: JSONValue

    /// Takes the object as it is.
    public init(json: JSONValue) throws(JSONError) {
        _ = try MemberReader(json, as: "ServerCapabilities")
        self.json = json
    }

    /// Offers nothing.
    public init() { json = [:] }

    /// Has `tools/list` and `tools/call`.
    public var hasTools: Bool { json["tools"] != nil }
    /// Has `resources/list` and `resources/read`.
    public var hasResources: Bool { json["resources"] != nil }
    /// Has `prompts/list` and `prompts/get`.
    public var hasPrompts: Bool { json["prompts"] != nil }
    /// Has `completion/complete`.
    public var hasCompletions: Bool { json["completions"] != nil }
    /// Sends log messages.
    public var hasLogging: Bool { json["logging"] != nil }
    /// The extensions offered, by identifier.
    public var extensions: JSONObject { json["extensions"]?.objectValue ?? [:] }
}
