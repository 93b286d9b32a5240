/// The event that notifies the façade's clients about a call: Stream's event, with the call's identifier
/// added.
enum StreamChatEvent {
    static func data(
        _ tool: ClientToolDefinition, _ arguments: RawJSON, channel: String, sentName: String?,
        messageID: String, invocationID: String
    ) -> ByteSlice {
        let sent = sentName ?? channel
        let colon = sent.firstIndex(of: ":")
        var descriptor: JSONObject = ["name": .string(tool.name)]
        descriptor["description"] = tool.tool.description.map(JSONValue.string)
        descriptor["instructions"] = tool.instructions.map(JSONValue.string)
        descriptor["parameters"] = tool.parameters ?? .null
        let event: JSONValue = [
            "type": "custom_client_tool_invocation",
            "cid": .string(colon == nil ? "messaging:\(channel)" : sent),
            "message_id": .string(messageID),
            "channel_id": .string(channel),
            "channel_type": .string(colon.map { String(sent[..<$0]) } ?? "messaging"),
            "tool": .object(descriptor),
            "args": arguments.value,
            "invocation_id": .string(invocationID),
        ]
        return RawJSON(event).bytes
    }

    /// Returns the result for agents when no client answers calls: Stream's sentence.
    static func dispatched(_ name: String) -> CallToolResult {
        .text("Client tool \"\(name)\" invocation dispatched.")
    }
}
