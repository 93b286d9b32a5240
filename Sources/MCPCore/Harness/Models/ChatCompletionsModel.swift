import Synchronization

/// A model behind the chat completions interface, which most model servers have: local ones by http, others
/// by https.
public struct ChatCompletionsModel: LanguageModel {
    /// How long the server may be silent: 2 min.
    public var silence: Duration = .seconds(120)
    /// Further members of the request, such as `temperature`.
    public var parameters: JSONObject = [:]
    /// How long the end mark may take once the model has said why it stopped.
    var afterwards: Duration = .seconds(2)
    private static let maxEventsAfterwards = 16
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
        let names = ChatCompletionsNames(request)
        let body = RawJSON(
            .object(ChatCompletionsRequest.json(names.sent(request), model: model, parameters))
        )
        .bytes
        return AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    var reader = ChatCompletionsReader(names)
                    let events = try HTTPEventPost.send(body, to: url, options: options, silence: silence)
                    for try await event in events {
                        for event in try reader.take(event.data) { continuation.yield(event) }
                        if reader.isDone || reader.hasStopped { break }
                    }
                    if !reader.isDone {
                        for event in await rest(of: events) {
                            for event in try reader.take(event.data) { continuation.yield(event) }
                        }
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

    /// What follows the end of the text, which is the usage and the end mark. Not every server sends it, or
    /// closes the connection: the answer is whole without.
    private func rest(
        of events: AsyncThrowingStream<SSEEvent, any Error>
    ) async -> [SSEEvent] {
        let rest = Mutex<[SSEEvent]>([])
        try? await Race.run(within: afterwards) {
            for try await event in events {
                let count = rest.withLock { rest in
                    rest.append(event)
                    return rest.count
                }
                if count == Self.maxEventsAfterwards || ChatCompletionsReader.isEnd(event.data) { return }
            }
        }
        return rest.withLock { $0 }
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
