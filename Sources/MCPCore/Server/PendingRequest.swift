import Synchronization

/// A finished response: one JSON-RPC message and the HTTP status that it is sent with.
struct Answer: Sendable {
    let bytes: ByteSlice
    let status: Int
}

/// The destination of the messages of one exchange: a stdio pipe, an HTTP response, or a waiting caller in
/// the same process.
///
/// Called from any thread; a transport moves the message to its own loop. `finish` is called exactly once.
protocol ResponseSink: AnyObject, Sendable {
    /// The executor of asynchronous handlers; nil for the default.
    var executor: (any TaskExecutor)? { get }

    /// Whether the caller may wait for one more response.
    var hasRoom: Bool { get }

    /// Sends a notification, or a server request, that belongs to this exchange, before the response.
    func notify(_ message: ByteSlice)

    /// Lets the client poll for the rest, where the transport and the revision support this.
    func release(retryAfter: Duration)

    /// Ends the exchange with a response, or without one when it was cancelled.
    func finish(_ answer: Answer?)
}

extension ResponseSink {
    var hasRoom: Bool { true }

    func release(retryAfter: Duration) {}
}

/// One request whose response comes later.
///
/// It is answered at most once, by whichever comes first: the handler, the deadline, or a cancellation.
final class PendingRequest: Sendable {
    let key: InFlightTable<PendingRequest>.Key
    let revision: Revision
    let progressToken: RawJSON?
    /// The executor of asynchronous handlers; nil for the default.
    let executor: (any TaskExecutor)?

    private struct State {
        /// The destination of the messages; nil once the exchange has ended. The handler of a task may
        /// continue long after the response, and must not keep the connection alive.
        var sink: (any ResponseSink)?
        var isOver: Bool { sink == nil }
        /// Whether the handler should stop, too.
        var isStopped = false
        var task: Task<Void, Never>?
        var deadline: Int64
        /// The questions that the client has not answered yet.
        var questions: [ServerRequest] = []
        /// The remainder of the handler's time while it waits for the client.
        var rest: Int64 = 0
        /// Whether the client's answers cannot arrive any more.
        var isUnheard = false
        /// Whether its work has not begun: it waits for what that needs.
        var isWaiting = false
    }
    private let state: Mutex<State>
    private let trace: RequestTrace?
    private let progressReported = Mutex(-Double.infinity)

    init(
        key: InFlightTable<PendingRequest>.Key, revision: Revision, progressToken: RawJSON?,
        deadline: Int64, sink: any ResponseSink, trace: RequestTrace? = nil
    ) {
        self.key = key
        self.revision = revision
        self.progressToken = progressToken
        executor = sink.executor
        self.trace = trace
        state = Mutex(State(sink: sink, deadline: deadline))
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// The time at which the server gives up, in nanoseconds of the monotonic clock.
    var deadline: Int64 { state.withLock { $0.deadline } }

    /// Whether it ends when the client or the server wants it to, as a subscription does.
    var isEndless: Bool { deadline == .max }

    /// Whether the handler is waiting for the client.
    var isAsking: Bool { state.withLock { !$0.questions.isEmpty } }

    /// Stores the handler's task; cancels it immediately if a stop was already requested.
    func attach(_ task: Task<Void, Never>) {
        let late = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isStopped
        }
        if late { task.cancel() }
    }

    /// Ends the exchange; returns nil when it had already ended. Open questions are withdrawn on the same
    /// path on which they were sent (CANC-11).
    private func end(
        stopping isStopped: Bool, ifWaiting isForWaiting: Bool = false
    ) -> (sink: any ResponseSink, task: Task<Void, Never>?)? {
        let ended = state.withLock { state -> State? in
            guard !state.isOver, state.isWaiting || !isForWaiting else { return nil }
            let before = state
            state.sink = nil
            state.isStopped = isStopped
            state.task = nil
            state.questions = []
            return before
        }
        guard let ended, let sink = ended.sink else { return nil }
        for question in ended.questions where question.settle(.failure(CancellationError())) {
            sink.notify(question.cancellation)
        }
        return (sink, ended.task)
    }

    /// Sends the response, unless the exchange has ended. Returns whether this response was sent. The handler
    /// may continue, as that of a task does.
    @discardableResult
    func finish(_ answer: Answer) -> Bool {
        guard let (sink, _) = end(stopping: false) else { return false }
        sink.finish(answer)
        trace?.end(with: answer.bytes)
        return true
    }

    /// Ends the exchange without a response and stops the handler; nothing more is sent (CANC-03, HTTP-25).
    @discardableResult
    func cancel() -> Bool {
        guard let (sink, task) = end(stopping: true) else { return false }
        task?.cancel()
        sink.finish(nil)
        trace?.endWithoutResponse()
        return true
    }

    /// Sends an error response and stops the handler; with `ifWaiting`, only before its work has begun.
    @discardableResult
    func fail(_ answer: Answer, ifWaiting: Bool = false) -> Bool {
        guard let (sink, task) = end(stopping: true, ifWaiting: ifWaiting) else { return false }
        task?.cancel()
        sink.finish(answer)
        trace?.end(with: answer.bytes)
        return true
    }

    /// Notes whether its work waits for something before it begins. Returns false when it has ended.
    func setWaiting(_ isWaiting: Bool) -> Bool {
        state.withLock { state in
            state.isWaiting = isWaiting
            return !state.isOver
        }
    }

    /// Sends a notification that belongs to this request while the request is in progress (JRPC-30).
    func notify(_ message: @autoclosure () -> ByteSlice) {
        guard let sink = state.withLock({ $0.sink }) else { return }
        sink.notify(message())
    }

    /// Lets the client poll for the rest (LEG-07).
    func release(retryAfter: Duration) {
        state.withLock { $0.sink }?.release(retryAfter: retryAfter)
    }

    // MARK: Questions

    enum QuestionRefusal: Error { case over, tooMany, unheard }

    /// Adds questions that are about to be sent. The handler's time is paused until they are closed; the
    /// client has `timeout` to answer them, in nanoseconds like `now`.
    func open(
        _ questions: [ServerRequest], limit: Int, now: Int64, timeout: Int64
    ) throws(QuestionRefusal) {
        let refusal = state.withLock { state -> QuestionRefusal? in
            if state.isOver { return .over }
            if state.isUnheard { return .unheard }
            if state.questions.count + questions.count > limit { return .tooMany }
            if state.questions.isEmpty { state.rest = max(0, state.deadline &- now) }
            state.questions += questions
            state.deadline = Self.moment(now, plus: timeout)
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Removes questions that the handler no longer waits for.
    func close(_ questions: [ServerRequest], now: Int64) {
        state.withLock { state in
            state.questions.removeAll { open in questions.contains { $0 === open } }
            if state.questions.isEmpty, !state.isOver { state.deadline = Self.moment(now, plus: state.rest) }
        }
    }

    /// Fails the questions that are open, and later ones: the client's answers cannot arrive any more.
    func endAsking() {
        let questions = state.withLock { state in
            state.isUnheard = true
            return state.questions
        }
        for question in questions where question.settle(.failure(MCPError.unheard)) {
            notify(question.cancellation)
        }
    }

    private static func moment(_ now: Int64, plus time: Int64) -> Int64 {
        let (sum, overflow) = now.addingReportingOverflow(time)
        return overflow ? .max : sum
    }

    /// Returns whether a progress value may be sent: it must be greater than the previous one (PROG-03).
    func accepts(progress: Double) -> Bool {
        guard progress.isFinite else { return false }
        return progressReported.withLock { last in
            guard progress > last else { return false }
            last = progress
            return true
        }
    }
}
