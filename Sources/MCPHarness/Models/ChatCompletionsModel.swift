public import MCPCore
import Synchronization

/// A model behind the chat completions interface, which most model servers provide.
///
/// Local servers are reached over http, others over https.
public struct ChatCompletionsModel: LanguageModel {
    /// The maximum time without data from the server: 2 min.
    public var silence: Duration = .seconds(120)
    /// Additional members of the request, such as `temperature`.
    public var parameters: JSONObject = [:]
    /// The maximum time to wait for the end mark once the model has given its stop reason.
    var afterwards: Duration = .seconds(2)
    private static let maxEventsAfterwards = 16
    private let url: String
    private let model: String
    private let options: ClientOptions

    /// Creates a model that is hosted by a server.
    ///
    /// - Parameters:
    ///   - url: the address of the interface, up to `/v1`; `/chat/completions` is appended.
    ///   - key: sent as `Authorization: Bearer`; read it from the environment, never from an argument. It
    ///     does not appear in any log.
    public init(_ url: String, model: String, key: String? = nil, options: ClientOptions = ClientOptions()) {
        var options = options
        if let key { options.headers.append(("Authorization", "Bearer \(key)")) }
        self.url = (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/chat/completions"
        self.model = model
        self.options = options
    }

    /// Sends the request to the server and assembles the streamed answer.
    public func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
        let names = ChatCompletionsNames(request)
        let body = RawJSON(
            .object(ChatCompletionsRequest.json(names.sent(request), model: model, parameters))
        )
        .bytes
        let answer = ChatCompletionsAnswer(ChatCompletionsReader(names)) { [self] in
            try HTTPEventPost.send(body, to: url, options: options, silence: silence)
        } rest: { [self] events in
            await rest(of: events)
        }
        return ModelAnswer.stream { try await answer.next() }
    }

    /// Reads the events after the end of the text: the usage and the end mark. Not every server sends them,
    /// or closes the connection; the answer is complete without them.
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

/// One answer in progress; the server is read at the pace of the answer's reader.
private actor ChatCompletionsAnswer {
    typealias Events = AsyncThrowingStream<SSEEvent, any Error>

    private var reader: ChatCompletionsReader
    private let open: @Sendable () throws -> Events
    private let rest: @Sendable (Events) async -> [SSEEvent]
    private var events: Events?
    private var isOver = false

    init(
        _ reader: ChatCompletionsReader, open: @escaping @Sendable () throws -> Events,
        rest: @escaping @Sendable (Events) async -> [SSEEvent]
    ) {
        self.reader = reader
        self.open = open
        self.rest = rest
    }

    /// Returns the model events in the server's next event; nil after the last one.
    func next() async throws -> [ModelEvent]? {
        if isOver { return nil }
        let events = try self.events ?? open()
        self.events = events
        if !reader.isDone, !reader.hasStopped {
            var iterator = events.makeAsyncIterator()
            if let event = try await iterator.next() { return try reader.take(event.data) }
        }
        isOver = true
        var last: [ModelEvent] = []
        if !reader.isDone {
            for event in await rest(events) { last += try reader.take(event.data) }
        }
        self.events = nil
        return last + (try reader.finish())
    }
}

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
