import Synchronization

/// A finished answer: one JSON-RPC message and the HTTP status it travels with.
struct Answer: Sendable {
    let bytes: ByteSlice
    let status: Int
}

/// Where the messages of one exchange go: a stdio pipe, an HTTP response, a waiting caller in the same
/// process.
///
/// Called from any thread; a transport takes the message to its own loop. `finish` is called exactly once.
protocol ExchangeSink: AnyObject, Sendable {
    /// Where asynchronous handlers run; nil for the default.
    var executor: (any TaskExecutor)? { get }

    /// Sends a notification that belongs to this exchange, before its answer.
    func notify(_ message: ByteSlice)

    /// Lets the client poll for the rest, where the transport and the revision have that.
    func release(retryAfter: Duration)

    /// Ends the exchange: with an answer, or with nothing when it was cancelled.
    func finish(_ answer: Answer?)
}

extension ExchangeSink {
    func release(retryAfter: Duration) {}
}

/// One request whose answer comes later.
///
/// It is answered at most once, whoever comes first: the handler, the deadline, or a cancellation.
final class Exchange: Sendable {
    let key: InFlightTable<Exchange>.Key
    let revision: Revision
    let progressToken: RawJSON?
    /// When the server gives up, in nanoseconds of the monotonic clock.
    let deadline: Int64
    private let sink: any ExchangeSink

    private enum State {
        case running(Task<Void, Never>?)
        case over
    }
    private let state = Mutex(State.running(nil))
    private let progressReported = Mutex(-Double.infinity)

    init(
        key: InFlightTable<Exchange>.Key, revision: Revision, progressToken: RawJSON?,
        deadline: Int64, sink: any ExchangeSink
    ) {
        self.key = key
        self.revision = revision
        self.progressToken = progressToken
        self.deadline = deadline
        self.sink = sink
    }

    var executor: (any TaskExecutor)? { sink.executor }

    var isOver: Bool {
        state.withLock { state in
            if case .over = state { true } else { false }
        }
    }

    /// Remembers the handler's task; cancels it at once when the exchange is over already.
    func attach(_ task: Task<Void, Never>) {
        let late = state.withLock { state -> Bool in
            guard case .running = state else { return true }
            state = .running(task)
            return false
        }
        if late { task.cancel() }
    }

    /// Moves to `over`; nil when somebody else was first.
    private func end() -> Task<Void, Never>?? {
        state.withLock { state in
            guard case .running(let task) = state else { return .none }
            state = .over
            return .some(task)
        }
    }

    /// Answers, unless the exchange is over. Returns whether this answer was sent.
    @discardableResult
    func finish(_ answer: Answer) -> Bool {
        guard end() != nil else { return false }
        sink.finish(answer)
        return true
    }

    /// Ends without an answer and stops the handler; nothing more is sent (CANC-03, HTTP-25).
    @discardableResult
    func cancel() -> Bool {
        guard let task = end() else { return false }
        task?.cancel()
        sink.finish(nil)
        return true
    }

    /// Answers with an error and stops the handler.
    @discardableResult
    func fail(_ answer: Answer) -> Bool {
        guard let task = end() else { return false }
        task?.cancel()
        sink.finish(answer)
        return true
    }

    /// Sends a notification that belongs to this request, while it runs (JRPC-30).
    func notify(_ message: @autoclosure () -> ByteSlice) {
        guard !isOver else { return }
        sink.notify(message())
    }

    /// Lets the client poll for the rest (LEG-07).
    func release(retryAfter: Duration) {
        if !isOver { sink.release(retryAfter: retryAfter) }
    }

    /// Whether a progress value may be sent: it must be greater than the last (PROG-03).
    func accepts(progress: Double) -> Bool {
        guard progress.isFinite else { return false }
        return progressReported.withLock { last in
            guard progress > last else { return false }
            last = progress
            return true
        }
    }
}
