/// A body of `POST /register-tools` that was understood, by the rules of Stream's endpoint and the limits of
/// ours.
struct StreamChatRegistration {
    /// The channel by its plain name: `general` of `messaging:general`.
    let channel: String
    /// The channel as it was sent, trimmed.
    let sentChannel: String
    /// The valid entries in their order, of equal names each.
    let tools: [ClientToolDefinition]
    let invalid: [String]

    /// - Parameters:
    ///   - isJSON: the body is declared as `application/json`; another one counts as absent.
    ///   - isTaken: whether a name belongs to a tool of the server, which no client can replace.
    init(
        _ body: ByteSlice, isJSON: Bool,
        isTaken: (_ channel: String, _ name: String) -> Bool = { _, _ in false }
    ) throws(StreamChatRefusal) {
        let object = try Self.object(body, isJSON: isJSON)
        guard let sent = object["channel_id"]?.stringValue?.trimmedLikeJavaScript(), !sent.isEmpty else {
            throw .missingChannel
        }
        guard let entries = object["tools"]?.arrayValue else { throw .missingTools }
        guard let channel = ChannelName(registered: sent)?.text else { throw .invalidChannel }
        guard entries.count <= ClientToolLimits.toolsPerClient else { throw .tooManyTools }
        var tools: [ClientToolDefinition] = []
        var invalid: [String] = []
        for (index, entry) in entries.enumerated() {
            if let tool = Self.tool(entry), !isTaken(channel, tool.name) {
                tools.append(tool)
            } else {
                invalid.append(Self.name(of: entry, at: index))
            }
        }
        if tools.isEmpty, !entries.isEmpty { throw StreamChatRefusal(invalidTools: invalid) }
        self.channel = channel
        self.tools = tools
        self.invalid = invalid
        sentChannel = sent
    }

    /// What the caller is told.
    var answer: JSONValue {
        var answer: JSONObject = [
            "message": "Client tools registered", "channel_id": .string(channel),
            "count": JSONValue(tools.count),
        ]
        if !invalid.isEmpty { answer["invalid_tools"] = .array(invalid.map(JSONValue.string)) }
        return .object(answer)
    }

    /// What is absent, declared as something else or no object has no members.
    static func object(_ body: ByteSlice, isJSON: Bool) throws(StreamChatRefusal) -> JSONObject {
        guard isJSON, !body.isEmpty else { return [:] }
        guard let json = try? JSONValue(parsing: body) else { throw .invalidJSON }
        return json.objectValue ?? [:]
    }

    // MARK: Entries

    /// Nil for an entry that is not valid.
    private static func tool(_ entry: JSONValue) -> ClientToolDefinition? {
        guard let name = text(entry["name"]), let description = text(entry["description"]) else {
            return nil
        }
        let flag =
            entry["showExternalSourcesIndicator"]?.boolValue
            ?? entry["show_external_sources_indicator"]?.boolValue
        let parameters = entry["parameters"]?.objectValue.map(JSONValue.object)
        return try? ClientToolDefinition(
            Tool(name, description: description, inputSchema: parameters ?? ["type": "object"]),
            instructions: text(entry["instructions"]), parameters: parameters,
            // Undefined counts as true, as in Stream.
            showsExternalSources: flag ?? true)
    }

    /// A text that is not blank, trimmed.
    private static func text(_ value: JSONValue?) -> String? {
        guard let text = value?.stringValue?.trimmedLikeJavaScript(), !text.isEmpty else { return nil }
        return text
    }

    /// By what an entry that is not valid is reported: its name as it was sent, else its place.
    private static func name(of entry: JSONValue, at index: Int) -> String {
        if let name = entry["name"]?.stringValue { return name }
        return "tool_" + (index < 10 ? "0" : "") + String(index)
    }
}
