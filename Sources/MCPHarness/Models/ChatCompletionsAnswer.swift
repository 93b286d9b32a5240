import MCPCore

/// One answer in progress; the server is read at the pace of the answer's reader.
actor ChatCompletionsAnswer {
    typealias Events = AsyncThrowingStream<SSEEvent, any Error>

    private var reader: ChatCompletionsReader
    private var retries: ModelRetries
    private let open: @Sendable () throws -> Events
    private let rest: @Sendable (Events) async -> [SSEEvent]
    private var events: Events?
    /// Whether a part of the answer has arrived.
    private var hasBegun = false
    /// The pause before the next attempt.
    private var pause: Duration?
    private var isOver = false

    init(
        _ reader: ChatCompletionsReader, _ retries: ModelRetries,
        open: @escaping @Sendable () throws -> Events, rest: @escaping @Sendable (Events) async -> [SSEEvent]
    ) {
        self.reader = reader
        self.retries = retries
        self.open = open
        self.rest = rest
    }

    /// Returns the model events in the server's next event; nil after the last one.
    func next() async throws -> [ModelEvent]? {
        if isOver { return nil }
        if let pause = pause.take() { try await Task.pause(for: pause) }
        do {
            return try await read()
        } catch let error as ClientError {
            events = nil
            if !hasBegun, let pause = retries.pause(after: error) {
                self.pause = pause
                return [.warning(retries.notice(error, pause))]
            }
            isOver = true
            throw retries.failure(error, hasBegun: hasBegun)
        }
    }

    private func read() async throws -> [ModelEvent]? {
        let events = try self.events ?? open()
        self.events = events
        if !reader.isDone, !reader.hasStopped {
            var iterator = events.makeAsyncIterator()
            if let event = try await iterator.next() {
                hasBegun = true
                return try reader.take(event.data)
            }
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
