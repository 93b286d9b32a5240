import MCPCore

/// The encoding of requests and decoding of events as lines.
enum CommandModelWire {
    static func line(_ request: ModelRequest) -> [UInt8] {
        var object: JSONObject = [:]
        if let system = request.system { object["system"] = .string(system) }
        object["messages"] = .array(request.messages.map(json))
        object["tools"] = .array(
            request.tools.map { tool in
                [
                    "name": .string(tool.name), "description": .string(tool.description ?? ""),
                    "inputSchema": tool.inputSchema,
                ]
            })
        return Array(JSONValue.object(object).serialized().utf8) + [0x0A]
    }

    private static func json(_ message: ModelMessage) -> JSONValue {
        switch message {
        case .user(let text): ["role": "user", "text": .string(text)]
        case .assistant(let text, let calls):
            [
                "role": "assistant", "text": .string(text),
                "toolCalls": .array(
                    calls.map { call in
                        [
                            "id": .string(call.callID), "name": .string(call.name),
                            "arguments": .string(call.arguments),
                        ]
                    }),
            ]
        case .toolResults(let results):
            [
                "role": "tool",
                "results": .array(
                    results.map { result in
                        [
                            "id": .string(result.callID), "name": .string(result.name),
                            "text": .string(result.text), "isError": .bool(result.isError),
                        ]
                    }),
            ]
        }
    }

    static func event(_ line: ByteSlice, _ name: String) throws(HarnessError) -> ModelEvent {
        guard let json = try? JSONValue(parsing: line), let type = json["type"]?.stringValue else {
            let shown = String(decoding: line.prefix(100), as: UTF8.self).cleaned(maxBytes: 100)
            throw .model(
                "\(name) wrote a line that is not an event: \(shown); an event is, for example, "
                    + #"{"type":"text","delta":"Hello"}"#)
        }
        switch type {
        case "text": return .textDelta(json["delta"]?.stringValue ?? "")
        case "tool_call":
            guard let tool = json["name"]?.stringValue else {
                throw .model("\(name) called a tool without giving its name")
            }
            let arguments = json["arguments"]
            return .toolCall(
                ModelToolCall(
                    callID: json["id"]?.stringValue ?? "", itemID: json["itemID"]?.stringValue, name: tool,
                    arguments: arguments?.stringValue ?? arguments?.serialized() ?? ""))
        case "tool_call_delta":
            guard let id = json["id"]?.stringValue else {
                throw .model("\(name) wrote a piece of a call without an id")
            }
            return .toolCallDelta(
                callID: id, name: json["name"]?.stringValue,
                partialArguments: json["arguments"]?.stringValue ?? "")
        case "usage":
            return .usage(
                ModelUsage(
                    inputTokens: json["inputTokens"]?.intValue ?? 0,
                    outputTokens: json["outputTokens"]?.intValue ?? 0))
        case "error":
            throw .model("\(name): \(HarnessError.words(json["message"]?.stringValue ?? "an error"))")
        case "stop": return .stop(json["reason"]?.stringValue ?? "stop")
        default: throw .model("\(name) wrote an event of unknown type \(HarnessError.words(type))")
        }
    }
}
