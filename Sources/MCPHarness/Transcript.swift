public import MCPCore

/// Saves and restores conversations as JSON: `{"version": 1, "messages": […]}`.
///
/// The messages are in the form that `CommandModel` writes to its program, with the content of results as the
/// blocks of MCP: `{"role": "tool", "results": [{"id", "name", "content", "isError"}]}`.
public enum Transcript {
    /// The maximum size of a saved conversation: 64 MiB.
    public static let maxBytes = 64 << 20

    /// Returns a conversation as JSON.
    public static func json(_ messages: [ModelMessage]) -> JSONValue {
        ["version": 1, "messages": .array(messages.map(\.json))]
    }

    /// Reads a conversation that was saved.
    ///
    /// - Throws: `HarnessError.invalidTranscript`, with what is wrong and where.
    public static func messages(in json: JSONValue) throws(HarnessError) -> [ModelMessage] {
        guard json["version"] == 1, let entries = json["messages"]?.arrayValue else {
            throw .invalidTranscript("it is not a conversation of version 1")
        }
        var messages: [ModelMessage] = []
        for (index, entry) in entries.enumerated() {
            do {
                messages.append(try ModelMessage(json: entry))
            } catch HarnessError.invalidTranscript(let reason) {
                throw .invalidTranscript("message \(index + 1): \(reason)")
            } catch {
                throw .invalidTranscript("message \(index + 1): \(error)")
            }
        }
        try check(messages)
        return messages
    }

    /// Reads a conversation that was saved as JSON text.
    ///
    /// - Throws: `HarnessError.invalidTranscript`.
    public static func messages(in bytes: [UInt8]) throws(HarnessError) -> [ModelMessage] {
        guard bytes.count <= maxBytes else {
            throw .invalidTranscript("it has more than \(maxBytes >> 20) MiB")
        }
        guard let json = try? JSONValue(parsing: ByteSlice(bytes)) else {
            throw .invalidTranscript("it is not JSON")
        }
        return try messages(in: json)
    }

    /// Checks that a model can continue the conversation: each call is followed by its result.
    static func check(_ messages: [ModelMessage]) throws(HarnessError) {
        var open: [String] = []
        for (index, message) in messages.enumerated() {
            if case .toolResults(let results) = message {
                guard !open.isEmpty, results.map(\.callID) == open else {
                    throw .invalidTranscript(
                        "message \(index + 1): the results do not match the calls before them")
                }
                open = []
                continue
            }
            guard open.isEmpty else {
                throw .invalidTranscript(
                    "message \(index + 1): the results of the calls before it are missing")
            }
            if case .assistant(_, let calls) = message { open = calls.map(\.callID) }
        }
        if !open.isEmpty { throw .invalidTranscript("the results of the last calls are missing") }
    }
}

extension ModelMessage: Codable {
    /// The message as JSON: `{"role": "user", "text"}`, `{"role": "assistant", "text", "toolCalls"}`, or
    /// `{"role": "tool", "results"}`.
    public var json: JSONValue {
        switch self {
        case .user(let text): ["role": "user", "text": .string(text)]
        case .assistant(let text, let calls):
            ["role": "assistant", "text": .string(text), "toolCalls": .array(calls.map(Self.json))]
        case .toolResults(let results):
            ["role": "tool", "results": .array(results.map(Self.json))]
        }
    }

    private static func json(_ call: ModelToolCall) -> JSONValue {
        var object: JSONObject = [
            "id": .string(call.callID), "name": .string(call.name), "arguments": .string(call.arguments),
        ]
        object["itemID"] = call.itemID.map(JSONValue.string)
        return .object(object)
    }

    private static func json(_ result: ModelToolResult) -> JSONValue {
        [
            "id": .string(result.callID), "name": .string(result.name),
            "content": .array(result.content.map(\.json)), "isError": .bool(result.isError),
        ]
    }

    /// Creates a message from JSON.
    ///
    /// - Throws: `HarnessError.invalidTranscript`; `JSONError` for a block of content that is not valid.
    public init(json: JSONValue) throws {
        func text(_ json: JSONValue, _ name: String) throws(HarnessError) -> String {
            guard let text = json[name]?.stringValue else {
                throw .invalidTranscript("\(name) is missing or not a text")
            }
            return text
        }
        switch json["role"]?.stringValue {
        case "user": self = .user(try text(json, "text"))
        case "assistant":
            let calls = try (json["toolCalls"]?.arrayValue ?? []).map { call in
                ModelToolCall(
                    callID: try text(call, "id"), itemID: call["itemID"]?.stringValue,
                    name: try text(call, "name"), arguments: try text(call, "arguments"))
            }
            self = .assistant(try text(json, "text"), calls)
        case "tool":
            let results = try (json["results"]?.arrayValue ?? []).map { result in
                ModelToolResult(
                    callID: try text(result, "id"), name: try text(result, "name"),
                    content: try (result["content"]?.arrayValue ?? []).map { try ContentBlock(json: $0) },
                    isError: result["isError"]?.boolValue ?? false)
            }
            self = .toolResults(results)
        default: throw HarnessError.invalidTranscript("role is not user, assistant or tool")
        }
    }

    /// Decodes a message by way of its JSON.
    public init(from decoder: any Decoder) throws { try self.init(json: JSONValue(from: decoder)) }

    /// Encodes the message by way of its JSON.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
