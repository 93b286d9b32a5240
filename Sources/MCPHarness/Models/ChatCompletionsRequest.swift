import MCPCore

/// The form of a conversation in chat completions.
enum ChatCompletionsRequest {
    static func json(_ request: ModelRequest, model: String, _ parameters: JSONObject) -> JSONObject {
        var messages: [JSONValue] = []
        if let system = request.system { messages.append(["role": "system", "content": .string(system)]) }
        for message in request.messages { messages += json(message) }
        var object = parameters
        object["model"] = .string(model)
        object["messages"] = .array(messages)
        if !request.tools.isEmpty { object["tools"] = .array(request.tools.map(json)) }
        object["stream"] = true
        object["stream_options"] = ["include_usage": true]
        return object
    }

    private static func json(_ tool: Tool) -> JSONValue {
        var function: JSONObject = ["name": .string(tool.name)]
        if let description = tool.description { function["description"] = .string(description) }
        function["parameters"] = tool.inputSchema
        return ["type": "function", "function": .object(function)]
    }

    /// The arguments that a model wrote, or `{}` for those that are no object: servers of models parse them,
    /// and would refuse every later request. The model reads the error in the result.
    private static func arguments(of call: ModelToolCall) -> String {
        (try? JSONValue(parsing: call.arguments))?.objectValue == nil ? "{}" : call.arguments
    }

    private static func json(_ message: ModelMessage) -> [JSONValue] {
        switch message {
        case .user(let text): return [["role": "user", "content": .string(text)]]
        case .assistant(let text, let calls):
            var object: JSONObject = ["role": "assistant", "content": text.isEmpty ? .null : .string(text)]
            if !calls.isEmpty {
                object["tool_calls"] = .array(
                    calls.map { call in
                        [
                            "id": .string(call.callID), "type": "function",
                            "function": [
                                "name": .string(call.name), "arguments": .string(arguments(of: call)),
                            ],
                        ]
                    })
            }
            return [.object(object)]
        case .toolResults(let results):
            return results.map { result in
                ["role": "tool", "tool_call_id": .string(result.callID), "content": .string(result.text)]
            }
        }
    }
}
