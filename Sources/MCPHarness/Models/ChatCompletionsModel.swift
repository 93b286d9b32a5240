public import MCPCore
import Synchronization

/// A model behind the chat completions interface, which most model servers provide.
///
/// Local servers are reached over http, others over https. A server that is busy (429), fails (5xx) or breaks
/// the connection before it answers is asked again, with a `warning` each time.
public struct ChatCompletionsModel: LanguageModel {
    /// The maximum time without data from the server, and without a part of the answer in what it sends:
    /// 2 min.
    public var silence: Duration = .seconds(120)
    /// The maximum number of further attempts after a failure that may pass: 3.
    ///
    /// The pauses are 0.5 s, 1 s and 2 s, or what the server asks for with `Retry-After`. An answer of which
    /// a part has arrived is never requested again.
    public var maxRetries = 3
    /// The maximum pause that a server may ask for: 60 s. When it asks for more, the answer fails at once.
    public var longestPause: Duration = .seconds(60)
    /// The first pause; each further one is twice as long.
    var firstPause: Duration = .milliseconds(500)
    /// Additional members of the request, such as `temperature`.
    public var parameters: JSONObject = [:]
    /// The maximum time to wait for the end mark once the model has given its stop reason.
    var afterwards: Duration = .seconds(2)
    private static let maxEventsAfterwards = 16
    private let url: String
    private let model: String
    private let secrets: KnownSecrets
    private let options: ClientOptions

    /// Creates a model that is hosted by a server.
    ///
    /// - Parameters:
    ///   - url: the address of the interface, up to `/v1`; `/chat/completions` is appended.
    ///   - key: sent as `Authorization: Bearer`; read it from the environment, never from an argument. It
    ///     does not appear in any log or error.
    public init(_ url: String, model: String, key: String? = nil, options: ClientOptions = ClientOptions()) {
        var options = options
        if let key { options.headers.append(("Authorization", "Bearer \(key)")) }
        self.url = (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/chat/completions"
        self.model = model
        secrets = KnownSecrets(key.map { [$0] } ?? [])
        self.options = options
    }

    /// Sends the request to the server and assembles the streamed answer. The stream throws
    /// `ModelServerError` when the server cannot be reached or refuses the request.
    public func respond(to request: ModelRequest) -> AsyncThrowingStream<ModelEvent, any Error> {
        let names = ChatCompletionsNames(request)
        let body = RawJSON(
            .object(ChatCompletionsRequest.json(names.sent(request), model: model, parameters))
        )
        .bytes
        let retries = ModelRetries(
            model: model, url: url, maximum: maxRetries, firstPause: firstPause, longestPause: longestPause)
        let reader = ChatCompletionsReader(names, secrets: secrets)
        let answer = ChatCompletionsAnswer(reader, retries, silence: silence) { [self] in
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
