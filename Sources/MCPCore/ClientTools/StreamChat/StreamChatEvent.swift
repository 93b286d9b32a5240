/// The event that notifies the façade's clients about a call: Stream's event, with the call's identifier
/// added.
enum StreamChatEvent {
    /// The conversation that an event belongs to.
    struct Place {
        let members: JSONObject

        /// - Parameter sentName: the channel's name as the client sent it, which may contain its type.
        init(_ channel: String, sentName: String?, _ messageID: String) {
            let sent = sentName ?? channel
            let colon = sent.firstIndex(of: ":")
            members = [
                "cid": .string(colon == nil ? "messaging:\(channel)" : sent),
                "message_id": .string(messageID),
                "channel_id": .string(channel),
                "channel_type": .string(colon.map { String(sent[..<$0]) } ?? "messaging"),
            ]
        }

        fileprivate func event(_ type: String, _ more: JSONObject) -> ByteSlice {
            var event = members
            event["type"] = .string(type)
            for (key, value) in more { event[key] = value }
            return RawJSON(.object(event)).bytes
        }
    }

    /// Returns the event that has clients show that sources outside the conversation are used.
    static func indicator(at place: Place) -> ByteSlice {
        place.event("ai_indicator.update", ["ai_state": "AI_STATE_EXTERNAL_SOURCES"])
    }

    static func data(
        _ tool: ClientToolDefinition, _ arguments: RawJSON, at place: Place, invocationID: String
    ) -> ByteSlice {
        var descriptor: JSONObject = ["name": .string(tool.name)]
        descriptor["description"] = tool.tool.description.map(JSONValue.string)
        descriptor["instructions"] = tool.instructions.map(JSONValue.string)
        descriptor["parameters"] = tool.parameters ?? .null
        return place.event(
            "custom_client_tool_invocation",
            [
                "tool": .object(descriptor), "args": arguments.value,
                "invocation_id": .string(invocationID),
            ])
    }

    /// Returns the result for agents when no client answers calls: Stream's sentence.
    static func dispatched(_ name: String) -> CallToolResult {
        .text("Client tool \"\(name)\" invocation dispatched.")
    }
}
