/// What a daemon and the tools of a provider say to each other until the tools have answered with a result.
struct ProviderOpening: Sendable {
    /// Whether the daemon has used the probe of 2026-07-28, which is its first message.
    private(set) var wasProbed = false
    /// Whether the tools have answered anything.
    private(set) var hasAnswered = false
    /// Whether they have answered with a result; nothing is read after that.
    private(set) var hasResult = false
    /// Whether they have answered as only a server of 2026-07-28 does.
    private(set) var isModern = false
    /// The error with which they have refused `initialize`.
    private(set) var refusal: MCPError?
    private var isNew = true
    private var probe: JSONValue?

    /// Reads a message of the daemon; returns the id of the probe, if this is it.
    mutating func read(fromDaemon message: ByteSlice) -> JSONValue? {
        guard isNew else { return nil }
        isNew = false
        guard let json = try? JSONValue(parsing: message), json["method"] == "server/discover" else {
            return nil
        }
        wasProbed = true
        probe = json["id"]
        return probe
    }

    /// Reads a message of the tools.
    mutating func read(fromTools message: ByteSlice) {
        guard wasProbed, !hasResult, let json = try? JSONValue(parsing: message), json["method"] == nil,
            let id = json["id"]
        else { return }
        hasAnswered = true
        if let result = json["result"] {
            hasResult = true
            isModern = id == probe && Self.namesModern(result["supportedVersions"])
        } else if id != probe, id != .null, let error = json["error"] {
            // The only other request before the first result.
            let refusal = MCPError(
                code: error["code"]?.intValue ?? 0,
                message: error["message"]?.stringValue?.cleanedLine(maxBytes: 256) ?? "no message")
            self.refusal = refusal
            // A server that does not know `initialize`, or names its revisions (VER-12).
            isModern =
                [MCPError.unsupportedProtocolVersionCode, MCPError.methodNotFoundCode].contains(refusal.code)
                || Self.namesModern(error["data"]?["supported"])
        }
    }

    private static func namesModern(_ versions: JSONValue?) -> Bool {
        versions?.arrayValue?.contains { $0.stringValue.flatMap { Revision.named($0) }?.isModern == true }
            ?? false
    }
}
