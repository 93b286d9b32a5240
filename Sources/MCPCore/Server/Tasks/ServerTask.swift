import Synchronization

/// A call that became a task: it outlives its request, and its client asks how it is going
/// (ext-tasks "Task Status").
final class ServerTask: Sendable {
    private let counted = Counted(.serverTask)

    /// How a task ended.
    enum Outcome: Sendable {
        /// The tool's result, failed tools included (TASK-10).
        case result(RawJSON)
        case error(MCPError)
        case cancelled
    }

    /// A question of the handler, as it stands in `inputRequests`.
    struct Question: Sendable {
        let request: InputRequest
        let round: Int
        /// The name that the handler gave it.
        let key: String
    }

    /// The questions that the handler asked together and waits for.
    struct Round {
        var open: Int
        var answers: [String: JSONValue] = [:]
        var waiting: CheckedContinuation<[String: JSONValue], any Error>?
    }

    struct State {
        var status = TaskStatus.working
        var statusMessage: String?
        var lastUpdatedAt: WallTime
        var outcome: Outcome?
        /// What the client has not answered yet, by the key it sees, in the order of asking.
        var questions: [(key: String, question: Question)] = []
        var rounds: [Int: Round] = [:]
        var lastRound = 0
        /// How often each name was used: a key is never used twice (TASK-15).
        var usedKeys: [String: Int] = [:]
        /// How many questions were asked in all.
        var asked = 0
        /// The handler's work; nil once it has ended.
        var call: DeferredCall?
    }

    /// 128 random bits (TASK-23).
    let id: String
    /// Whose task it is; nobody else can see it.
    let principal: String
    let createdAt: WallTime
    let ttl: Duration
    let pollInterval: Duration
    /// When it is forgotten.
    let expiry: MonotonicInstant
    /// When its handler has to be done.
    let deadline: MonotonicInstant
    private let clock: any TimeSource
    /// Called after every change that a client can see, in the order of the changes.
    private let changed: @Sendable (ServerTask) -> Void
    private let telling = Mutex(())
    let state: Mutex<State>

    struct Terms: Sendable {
        var ttl: Duration
        var pollInterval: Duration
        var deadline: Duration
        var statusMessage: String?
    }

    init(
        id: String, principal: String, terms: Terms, clock: any TimeSource, call: DeferredCall?,
        changed: @escaping @Sendable (ServerTask) -> Void
    ) {
        self.id = id
        self.principal = principal
        self.clock = clock
        self.changed = changed
        ttl = terms.ttl
        pollInterval = terms.pollInterval
        createdAt = clock.wallTime
        expiry = clock.now + terms.ttl
        deadline = clock.now + terms.deadline
        state = Mutex(State(statusMessage: terms.statusMessage, lastUpdatedAt: createdAt, call: call))
    }

    var isOver: Bool { state.withLock { $0.status.isTerminal } }

    // MARK: Changing

    /// Changes the state and tells the others, when `change` returned something.
    func update<Value>(_ change: (inout State) -> Value?) -> Value? {
        telling.withLock { _ in
            let value = state.withLock { state -> Value? in
                guard let value = change(&state) else { return nil }
                state.lastUpdatedAt = max(clock.wallTime, state.lastUpdatedAt)
                return value
            }
            if value != nil { changed(self) }
            return value
        }
    }

    /// Tells the client what is being done.
    func say(_ message: String) {
        _ = update { state -> Bool? in
            guard !state.status.isTerminal else { return nil }
            state.statusMessage = message
            return true
        }
    }

    /// Ends the task, unless it has ended: a terminal state never changes (TASK-11). Returns whether it did.
    ///
    /// Questions that are open then fail in the handler, which is told to stop unless it is the one that
    /// ends.
    @discardableResult
    func end(_ outcome: Outcome, byHandler: Bool) -> Bool {
        let ended = update { state -> (DeferredCall?, [Round])? in
            guard !state.status.isTerminal else { return nil }
            switch outcome {
            case .result: state.status = .completed
            case .error: state.status = .failed
            case .cancelled: state.status = .cancelled
            }
            state.outcome = outcome
            let rounds = Array(state.rounds.values)
            state.questions = []
            state.rounds = [:]
            state.usedKeys = [:]
            return (state.call, rounds)
        }
        guard let (call, rounds) = ended else { return false }
        for round in rounds { round.waiting?.resume(throwing: CancellationError()) }
        if !byHandler { call?.stopWork() }
        return true
    }

    /// The handler has returned: nothing holds on to its request any more.
    func handlerEnded() { state.withLock { $0.call = nil } }

    /// The bytes that its result takes.
    var resultBytes: Int {
        state.withLock { state in
            if case .result(let result)? = state.outcome { result.bytes.count } else { 0 }
        }
    }
}
