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

    /// Who made it; see `RequestContext.callerKey`.
    let owner: String
    /// The connection that it runs at, which stays until it has ended.
    let client: MCPClient
    let link: Upstream.Link

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

    init(
        of owner: String, at link: Upstream.Link, _ client: MCPClient,
        _ body: @escaping @Sendable (HeldExchange) async throws -> RawJSON
    ) {
        self.owner = owner
        self.client = client
        self.link = link
        link.connection.lease()
        let task = Task {
            defer { link.connection.endLease() }
            let result: Result<RawJSON, any Error>
            do {
                result = .success(try await body(self))
            } catch {
                result = .failure(error)
            }
            let (changed, open) = state.withLock { state in
                state.end = result
                return (state.changed, state.open)
            }
            // Their callers need not answer any more.
            for question in open { question.answer.finish(.failure(CancellationError())) }
            changed.happen()
        }
        state.withLock { $0.task = task }
    }

    /// Asks, and waits for the answer. A question that is cancelled needs none any more.
    func ask(_ request: InputRequest) async throws -> JSONValue {
        let (question, changed) = try state.withLock { state -> (Question, OneTimeEvent) in
            if state.end != nil { throw CancellationError() }
            state.count += 1
            guard state.count <= Self.maxQuestions else {
                throw MCPError.internalError("A call may ask at most \(Self.maxQuestions) questions")
            }
            let question = Question(key: "ask-\(state.count)", request: request, answer: .init())
            state.open.append(question)
            return (question, state.changed)
        }
        changed.happen()
        do {
            return try await question.answer.get()
        } catch {
            question.answer.finish(.failure(error))
            throw error
        }
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

    /// Its connection, kept once more, until `endLease`.
    var leasedLink: Upstream.Link {
        link.connection.lease()
        return link
    }

    /// Whether it waits for another request of its caller.
    var isHeld: Bool {
        get { state.withLock { $0.isHeld } }
        set { state.withLock { $0.isHeld = newValue } }
    }

    /// Cancels the request. Its questions have an answer then, over a channel where they belong to no call.
    func cancel() {
        let (task, open) = state.withLock { ($0.task, $0.open) }
        task?.cancel()
        for question in open { question.answer.finish(.failure(CancellationError())) }
    }
}

/// The requests that wait for another request of their callers, by a random key.
final class HeldExchanges: Sendable {
    /// The most requests that wait. For a further one, the oldest of the caller with the most is cancelled.
    static let capacity = 64
    /// The most of them at one connection, which has a place for each request: some are left for others.
    static let capacityAtOne = 48
    /// The most of them of one caller. For a further one, its oldest is cancelled.
    static let capacityOfOne = 16
    /// The time that a caller has to answer.
    static let lifetime = Duration.seconds(600)

    private struct Entry: Sendable {
        let key: String
        let exchange: HeldExchange
        let timer: Task<Void, Never>
    }

    private struct State {
        /// The oldest first.
        var entries: [Entry] = []
        /// The requests whose callers are asked over their sessions.
        var asking: [HeldExchange] = []
        /// Whether no answer can arrive any more.
        var isClosed = false
    }

    private let lifetime: Duration
    private let state = Mutex(State())

    init(lifetime: Duration = HeldExchanges.lifetime) { self.lifetime = lifetime }

    /// Keeps a request, and returns its key; nil when its caller could not answer.
    func keep(_ exchange: HeldExchange) -> String? {
        let key = Hex.encode(SystemRandom().bytes(16))
        exchange.isHeld = true
        let timer = Task { [weak self, lifetime] in
            guard (try? await Task.pause(for: lifetime)) != nil else { return }
            self?.take(key)?.cancel()
        }
        let (isKept, lost) = state.withLock { state -> (Bool, Entry?) in
            if state.isClosed { return (false, nil) }
            let asking = state.asking.count { $0.link.connection === exchange.link.connection }
            let lost = Self.place(for: exchange, in: state.entries, beside: asking)
                .map { state.entries.remove(at: $0) }
            state.entries.append(Entry(key: key, exchange: exchange, timer: timer))
            return (true, lost)
        }
        guard isKept else {
            timer.cancel()
            exchange.isHeld = false
            return nil
        }
        lost?.timer.cancel()
        lost?.exchange.cancel()
        return key
    }

    /// Begins to ask a caller over its session, up to `endAsking`; returns false when it, or all at the
    /// connection, are asked as often as they may. Nobody else's question is given up for it.
    func beginAsking(_ exchange: HeldExchange) -> Bool {
        state.withLock { state in
            let connection = exchange.link.connection
            let near = state.asking.filter { $0.link.connection === connection }
            let held = state.entries.count { $0.exchange.link.connection === connection }
            guard near.count(where: { $0.owner == exchange.owner }) < Self.capacityOfOne,
                near.count + held < Self.capacityAtOne
            else { return false }
            state.asking.append(exchange)
            return true
        }
    }

    func endAsking(_ exchange: HeldExchange) {
        state.withLock { state in
            if let place = state.asking.firstIndex(where: { $0 === exchange }) {
                state.asking.remove(at: place)
            }
        }
    }

    /// Returns the place of the request that makes room for another one of a caller.
    ///
    /// - Parameter asking: the requests at its connection that are not among these.
    private static func place(
        for exchange: HeldExchange, in entries: [Entry], beside asking: Int
    ) -> Int? {
        let owner = exchange.owner
        let own = entries.indices.filter { entries[$0].exchange.owner == owner }
        if own.count >= capacityOfOne { return own.first }
        let connection = exchange.link.connection
        let near = entries.indices.filter { entries[$0].exchange.link.connection === connection }
        let isFull = near.count + asking >= capacityAtOne && !near.isEmpty
        let places = isFull ? near : Array(entries.indices)
        guard isFull || entries.count >= capacity else { return nil }
        var counts: [String: Int] = [:]
        for place in places { counts[entries[place].exchange.owner, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        // Its own, unless another caller has more.
        let isOwn = counts[owner] == most
        return places.first {
            isOwn ? entries[$0].exchange.owner == owner : counts[entries[$0].exchange.owner] == most
        }
    }

    /// Returns the request with a key, which stays.
    func find(_ key: String) -> HeldExchange? {
        state.withLock { $0.entries.first { $0.key == key }?.exchange }
    }

    func take(_ key: String) -> HeldExchange? {
        let entry = state.withLock { state in
            state.entries.firstIndex { $0.key == key }.map { state.entries.remove(at: $0) }
        }
        entry?.timer.cancel()
        entry?.exchange.isHeld = false
        return entry?.exchange
    }

    /// Cancels all requests, and keeps none from now on.
    func cancelAll() {
        let all = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [] }
            return state.entries
        }
        for entry in all {
            entry.timer.cancel()
            entry.exchange.cancel()
        }
    }
}
