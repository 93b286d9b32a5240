/// A valid body of `POST /register-tools`, by the rules of Stream's endpoint and this library's own limits.
struct StreamChatRegistration {
    /// The channel's plain name: `general` in `messaging:general`.
    let channel: String
    /// The channel as it was sent, trimmed.
    let sentChannel: String
    /// The valid entries in order; several may have the same name.
    let tools: [ClientToolDefinition]
    let refused: [ClientToolReport.Refusal]

    /// - Parameters:
    ///   - isJSON: whether the body is declared as `application/json`; a body of another type counts as
    ///     absent.
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
        var refused: [ClientToolReport.Refusal] = []
        for (index, entry) in entries.enumerated() {
            do throws(RegistrationError) {
                let tool = try Self.tool(entry)
                if isTaken(channel, tool.name) {
                    throw RegistrationError("a tool of the server has this name")
                }
                tools.append(tool)
            } catch {
                refused.append(
                    .init(
                        name: Self.name(of: entry, at: index), reason: "\(error)".cleanedLine(maxBytes: 512)))
            }
        }
        if tools.isEmpty, !entries.isEmpty { throw StreamChatRefusal(refused: refused) }
        self.channel = channel
        self.tools = tools
        self.refused = refused
        sentChannel = sent
    }

    /// The body of the response to the caller.
    var answer: JSONValue {
        var answer: JSONObject = [
            "message": "Client tools registered", "channel_id": .string(channel),
            "count": JSONValue(tools.count),
        ]
        StreamChatRefusal.add(refused, to: &answer)
        return .object(answer)
    }

    /// Returns the members of the body; a body that is absent, of another type or not an object has none.
    static func object(_ body: ByteSlice, isJSON: Bool) throws(StreamChatRefusal) -> JSONObject {
        guard isJSON, !body.isEmpty else { return [:] }
        guard let json = try? JSONValue(parsing: body) else { throw .invalidJSON }
        return json.objectValue ?? [:]
    }

    // MARK: Entries

    private static func tool(_ entry: JSONValue) throws(RegistrationError) -> ClientToolDefinition {
        guard entry.objectValue != nil else { throw RegistrationError("the entry is not an object") }
        guard let name = text(entry["name"]) else {
            throw RegistrationError("name is missing, empty or not a string")
        }
        guard let description = text(entry["description"]) else {
            throw RegistrationError("description is missing, empty or not a string")
        }
        let flag =
            entry["showExternalSourcesIndicator"]?.boolValue
            ?? entry["show_external_sources_indicator"]?.boolValue
        let parameters = entry["parameters"]?.objectValue.map(JSONValue.object)
        var tool = Tool(name, description: description, inputSchema: parameters ?? ["type": "object"])
        // Additions to Stream's form; the definition checks them.
        var meta: JSONObject = [:]
        meta[VendorKey.scopes] = entry["scopes"]
        meta[VendorKey.timeout] = entry["timeoutMs"]
        tool.meta = meta
        return try ClientToolDefinition(
            tool,
            instructions: text(entry["instructions"]), parameters: parameters,
            // Undefined counts as true, as in Stream.
            showsExternalSources: flag ?? true)
    }

    /// Returns the trimmed text; nil if it is blank.
    private static func text(_ value: JSONValue?) -> String? {
        guard let text = value?.stringValue?.trimmedLikeJavaScript(), !text.isEmpty else { return nil }
        return text
    }

    /// Returns the label under which an invalid entry is reported: its name as sent, otherwise its position.
    private static func name(of entry: JSONValue, at index: Int) -> String {
        if let name = entry["name"]?.stringValue { return name }
        return "tool_" + (index < 10 ? "0" : "") + String(index)
    }
}
