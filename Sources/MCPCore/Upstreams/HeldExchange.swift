import Synchronization

/// A request at a server before 2026-07-28 that may ask while it runs.
///
/// It runs on its own, because the caller's request may end with the question and continue with another one.
final class HeldExchange: Sendable {
    /// A question of the server.
    struct Question: Sendable {
        let key: String
        let request: InputRequest
        let answer: OneShot<Result<JSONValue, any Error>>
    }

    enum Event: Sendable {
        case question(Question)
        case end(Result<RawJSON, any Error>)
    }

    private struct State {
        var open: [Question] = []
        var end: Result<RawJSON, any Error>?
        var changed = OneTimeEvent()
        var count = 0
        var task: Task<Void, Never>?
        var isHeld = false
    }

    private let state = Mutex(State())
    /// The most questions of one call.
    static let maxQuestions = 64

    init(_ body: @escaping @Sendable (HeldExchange) async throws -> RawJSON) {
        let task = Task {
            let result: Result<RawJSON, any Error>
            do {
                result = .success(try await body(self))
            } catch {
                result = .failure(error)
            }
            state.withLock { state -> OneTimeEvent in
                state.end = result
                return state.changed
            }.happen()
        }
        state.withLock { $0.task = task }
    }

    /// Asks, and waits for the answer.
    func ask(_ request: InputRequest) async throws -> JSONValue {
        let (question, changed) = try state.withLock { state -> (Question, OneTimeEvent) in
            state.count += 1
            guard state.count <= Self.maxQuestions else {
                throw MCPError.internalError("A call may ask at most \(Self.maxQuestions) questions")
            }
            let question = Question(key: "ask-\(state.count)", request: request, answer: .init())
            state.open.append(question)
            return (question, state.changed)
        }
        changed.happen()
        return try await question.answer.get()
    }

    /// Returns the oldest question without an answer, or the end.
    func next() async -> Event {
        while true {
            let (event, changed) = state.withLock { state -> (Event?, OneTimeEvent) in
                state.open.removeAll { $0.answer.isFinished }
                if let end = state.end { return (.end(end), state.changed) }
                if let question = state.open.first { return (.question(question), state.changed) }
                if state.changed.isFinished { state.changed = OneTimeEvent() }
                return (nil, state.changed)
            }
            if let event { return event }
            if Task.isCancelled { return .end(.failure(CancellationError())) }
            await changed.wait()
        }
    }

    /// Whether it waits for another request of its caller.
    var isHeld: Bool {
        get { state.withLock { $0.isHeld } }
        set { state.withLock { $0.isHeld = newValue } }
    }

    func cancel() { state.withLock { $0.task }?.cancel() }
}

/// The requests that wait for another request of their callers, by a random key.
final class HeldExchanges: Sendable {
    /// The most requests that wait; the oldest is cancelled for a further one.
    static let capacity = 64
    /// The time that a caller has to answer.
    static let lifetime = Duration.seconds(600)

    private let table = Mutex(BoundedTable<String, HeldExchange>(capacity: capacity, policy: .evictOldest))

    /// Keeps a request, and returns its key.
    func keep(_ exchange: HeldExchange) -> String {
        let key = Hex.encode(SystemRandom().bytes(16))
        exchange.isHeld = true
        let lost = table.withLock { table -> HeldExchange? in
            if case .evicted(_, let value) = table.insert(exchange, for: key) { return value }
            return nil
        }
        lost?.cancel()
        Task { [weak self] in
            try? await Task.pause(for: Self.lifetime)
            self?.take(key)?.cancel()
        }
        return key
    }

    func take(_ key: String) -> HeldExchange? {
        let exchange = table.withLock { $0.remove(key) }
        exchange?.isHeld = false
        return exchange
    }

    func cancelAll() {
        let all = table.withLock { table in
            defer { table.removeAll() }
            return table.map(\.value)
        }
        for exchange in all { exchange.cancel() }
    }
}
