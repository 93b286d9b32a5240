import MCPCore

/// One answer in progress; the server is read at the pace of the answer's reader.
actor ChatCompletionsAnswer {
    typealias Events = AsyncThrowingStream<SSEEvent, any Error>

    private var reader: ChatCompletionsReader
    private var retries: ModelRetries
    private let open: @Sendable () throws -> Events
    private let rest: @Sendable (Events) async -> [SSEEvent]
    /// The maximum time without a part of the answer.
    private let silence: Duration
    /// The time at which the last part arrived.
    private var advancedAt: ContinuousClock.Instant?
    /// The number of chunks without content since then.
    private var emptyChunks = 0
    /// A few of them are usual, however late they are read.
    private static let maxEmptyChunks = 16
    private var events: Events?
    /// Whether a part of the answer has arrived.
    private var hasBegun = false
    /// The pause before the next attempt.
    private var pause: Duration?
    private var isOver = false

    init(
        _ reader: ChatCompletionsReader, _ retries: ModelRetries, silence: Duration,
        open: @escaping @Sendable () throws -> Events, rest: @escaping @Sendable (Events) async -> [SSEEvent]
    ) {
        self.reader = reader
        self.retries = retries
        self.silence = silence
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
                let parts = try reader.take(event.data)
                try checkAdvance()
                return parts
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

    /// Chunks without content count as silence: a server could send them for ever.
    private func checkAdvance() throws(HarnessError) {
        let now = ContinuousClock.now
        guard !reader.hasAdvanced, let last = advancedAt else {
            (advancedAt, emptyChunks) = (now, 0)
            return
        }
        emptyChunks += 1
        guard emptyChunks > Self.maxEmptyChunks, last.duration(to: now) >= silence else { return }
        (isOver, events) = (true, nil)
        throw .model("the model's server sent no part of an answer for \(silence)")
    }
}
