import Synchronization

/// A call that became a task: it outlives its request, and its client polls for its status
/// (ext-tasks "Task Status").
final class ServerTask: Sendable {
    private let counted = Counted(.serverTask)

    /// The way in which a task ended.
    enum Outcome: Sendable {
        /// The tool's result, including that of a failed tool (TASK-10).
        case result(RawJSON)
        case error(MCPError)
        case cancelled
    }

    /// A question of the handler, as it appears in `inputRequests`.
    struct Question: Sendable {
        let request: InputRequest
        let round: Int
        /// The name that the handler gave the question.
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
        /// The questions that the client has not answered yet, by the key that the client sees, in the order
        /// in which they were asked.
        var questions: [(key: String, question: Question)] = []
        var rounds: [Int: Round] = [:]
        var lastRound = 0
        /// The number of times each name was used: a key is never used twice (TASK-15).
        var usedKeys: [String: Int] = [:]
        /// The total number of questions that were asked.
        var asked = 0
        /// Whether the client has been told how the task ended.
        var isEndSeen = false
        /// The handler's work; nil once it has ended.
        var call: DeferredCall?
    }

    /// 128 random bits (TASK-23).
    let id: String
    /// The owner of the task; no other caller can see it.
    let principal: String
    let createdAt: WallTime
    let ttl: Duration
    let pollInterval: Duration
    /// The time at which the task is forgotten.
    let expiry: MonotonicInstant
    /// The time by which the task's handler has to finish.
    let deadline: MonotonicInstant
    private let clock: any TimeSource
    /// What the end is reported with; nil without middleware.
    private let origin: TaskOrigin?
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
        let now = clock.now
        expiry = now + terms.ttl
        deadline = now + terms.deadline
        origin = TaskOrigin(call, start: now)
        state = Mutex(State(statusMessage: terms.statusMessage, lastUpdatedAt: createdAt, call: call))
    }

    var isOver: Bool { state.withLock { $0.status.isTerminal } }
    var isEndSeen: Bool { state.withLock { $0.isEndSeen } }

    /// Records that the client receives the current state.
    func saw() { state.withLock { $0.isEndSeen = $0.status.isTerminal } }

    // MARK: Changing

    /// Changes the state and reports the change if `change` returned a value.
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

    /// Sets the message that describes the current work to the client.
    func say(_ message: String) {
        _ = update { state -> Bool? in
            guard !state.status.isTerminal else { return nil }
            state.statusMessage = message
            return true
        }
    }

    /// Ends the task, unless it has already ended: a terminal state never changes (TASK-11). Returns whether
    /// this call ended it.
    ///
    /// Open questions then fail in the handler, which is told to stop unless the handler
    /// itself ended the task.
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
        // A task that its handler withdraws has no id that a client knows.
        if case .cancelled = outcome, byHandler { return true }
        origin?.report(id, outcome, at: clock.now)
        return true
    }

    /// Releases the call after the handler has returned: nothing keeps its request alive any more.
    func handlerEnded() { state.withLock { $0.call = nil } }

    /// The size of the task's result in bytes.
    var resultBytes: Int {
        state.withLock { state in
            if case .result(let result)? = state.outcome { result.bytes.count } else { 0 }
        }
    }
}
