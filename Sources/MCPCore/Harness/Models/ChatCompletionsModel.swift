/// A model behind the chat completions interface, which most model servers have: local ones by http, others
/// by https.
public struct ChatCompletionsModel: LanguageModel {
    /// How long the server may be silent: 2 min.
    public var silence: Duration = .seconds(120)
    /// Further members of the request, such as `temperature`.
    public var parameters: JSONObject = [:]
    private let url: String
    private let model: String
    private let options: ClientOptions

    /// A model of a server.
    /// - Parameters:
    ///   - url: the address of the interface, up to `/v1`: `/chat/completions` is added.
    ///   - key: sent as `Authorization: Bearer`; take it from the environment, never from an argument. It is
    ///     in no log.
    public init(_ url: String, model: String, key: String? = nil, options: ClientOptions = ClientOptions()) {
        var options = options
        if let key { options.headers.append(("Authorization", "Bearer \(key)")) }
        self.url = (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/chat/completions"
        self.model = model
        self.options = options
    }

    /// Asks the server, and joins what it streams.
    public func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
        let body = RawJSON(.object(ChatCompletionsRequest.json(request, model: model, parameters))).bytes
        return AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    var reader = ChatCompletionsReader()
                    let events = try HTTPEventPost.send(body, to: url, options: options, silence: silence)
                    for try await event in events {
                        for event in try reader.take(event.data) { continuation.yield(event) }
                        if reader.isDone { break }
                    }
                    for event in try reader.finish() { continuation.yield(event) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

/// A conversation in the words of chat completions.
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
                            "function": ["name": .string(call.name), "arguments": .string(call.arguments)],
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

/// Joins the pieces of a streamed answer: calls by their index, arguments byte for byte.
struct ChatCompletionsReader {
    private struct Call {
        var id = ""
        var name = ""
        var arguments = ""
    }

    /// One answer may begin so many calls; more is no answer that can be used.
    private static let maxCalls = 1_024

    private var calls: [Int: Call] = [:]
    private var stop: String?
    private(set) var isDone = false

    /// The events of one chunk.
    /// - Throws: `HarnessError.model` for an error that the server streams, and for what cannot be read.
    mutating func take(_ data: ByteSlice) throws -> [ModelEvent] {
        if data.elementsEqual("[DONE]".utf8) {
            isDone = true
            return []
        }
        guard let chunk = try? JSONValue(parsing: data) else {
            throw HarnessError.model("the model's server sent a piece that is no JSON")
        }
        if let error = chunk["error"] {
            let text = error["message"]?.stringValue ?? error.serialized()
            throw HarnessError.model("the model's server reports an error: \(text)")
        }
        var events: [ModelEvent] = []
        let choice = chunk["choices"]?[0]
        if let text = choice?["delta"]?["content"]?.stringValue, !text.isEmpty {
            events.append(.textDelta(text))
        }
        for call in choice?["delta"]?["tool_calls"]?.arrayValue ?? [] {
            if let event = try take(call: call) { events.append(event) }
        }
        if let reason = choice?["finish_reason"]?.stringValue { stop = reason }
        if let usage = chunk["usage"], let input = usage["prompt_tokens"]?.intValue {
            let output = usage["completion_tokens"]?.intValue ?? 0
            events.append(.usage(ModelUsage(inputTokens: input, outputTokens: output)))
        }
        return events
    }

    private mutating func take(call json: JSONValue) throws -> ModelEvent? {
        let index = json["index"]?.intValue ?? calls.count
        var call = calls[index] ?? Call()
        guard calls[index] != nil || calls.count < Self.maxCalls else {
            throw HarnessError.model("the model made more than \(Self.maxCalls) calls in one answer")
        }
        if let id = json["id"]?.stringValue, !id.isEmpty { call.id = id }
        let name = json["function"]?["name"]?.stringValue
        if let name { call.name += name }
        let piece = json["function"]?["arguments"]?.stringValue ?? ""
        call.arguments += piece
        calls[index] = call
        return .toolCallDelta(callID: call.id, name: name, partialArguments: piece)
    }

    /// The calls as a whole, and the end.
    /// - Throws: `HarnessError.model` when the stream broke off.
    mutating func finish() throws -> [ModelEvent] {
        guard isDone || stop != nil else {
            throw HarnessError.model("the model's server ended in the middle of an answer")
        }
        let whole = calls.sorted { $0.key < $1.key }.map { _, call in
            ModelEvent.toolCall(ModelToolCall(callID: call.id, name: call.name, arguments: call.arguments))
        }
        return whole + [.stop(stop ?? "stop")]
    }
}
