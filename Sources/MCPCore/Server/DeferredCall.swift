import Synchronization

/// A request whose response comes later, as its handler sees it: whether a caller still waits, and who
/// answers the handler's questions.
final class DeferredCall: Sendable {
    private let counted = Counted(.deferredCall)
    let request: Dispatcher.Request
    let exchange: PendingRequest
    let dispatcher: Dispatcher
    /// The number of log messages that were sent or held back.
    let logged = Atomic<Int>(0)

    /// The party that the handler works for.
    private enum Role {
        /// The client that waits for the response to this request.
        case request
        /// A task: the request was answered with its id.
        case task(ServerTask)
    }

    private struct Work {
        var handler: Task<Void, Never>?
        var isStopped = false
    }

    private let role = Mutex(Role.request)
    private let work = Mutex(Work())
    /// Whether the call may become a task.
    let taskSupport: TaskSupport
    /// The handler's questions and their answers.
    let input: Mutex<InputState>

    init(
        _ request: Dispatcher.Request, _ exchange: PendingRequest, _ dispatcher: Dispatcher,
        retry: InputRetry? = nil, tool: ToolEntry? = nil
    ) {
        self.request = request
        self.exchange = exchange
        self.dispatcher = dispatcher
        taskSupport = tool?.taskSupport ?? .never
        input = Mutex(InputState(retry, tool: tool))
    }

    /// Whether no caller waits for the outcome any more.
    var isOver: Bool { task?.isOver ?? exchange.isOver }

    /// The task that the call has become.
    var task: ServerTask? {
        role.withLock { role in if case .task(let task) = role { task } else { nil } }
    }

    func become(_ task: ServerTask) { role.withLock { $0 = .task(task) } }

    /// The source of the answers to questions that are asked now.
    var inputSource: any InputSource {
        get throws(MCPError) {
            switch role.withLock({ $0 }) {
            case .request: try request.verdict.isModern ? rounds : ServerRequestInput(self)
            case .task(let task): task
            }
        }
    }

    private var rounds: MultiRoundTripInput {
        get throws(MCPError) {
            guard request.verdict.entry.flags.contains(.asksForInput) else {
                // MRTR-02
                throw .internalError("\(request.message.method) cannot ask the client anything")
            }
            return input.withLock { input in
                let rounds =
                    input.rounds ?? MultiRoundTripInput(limit: dispatcher.options.limits.maxOpenQuestions)
                input.rounds = rounds
                return rounds
            }
        }
    }

    // MARK: The handler's work

    /// Stores the handler's work; stops it immediately if a stop was already requested.
    func attach(_ handler: Task<Void, Never>) {
        exchange.attach(handler)
        let isStopped = work.withLock { work in
            work.handler = handler
            return work.isStopped
        }
        if isStopped { handler.cancel() }
    }

    /// Cancels the handler's work.
    func stopWork() {
        let handler = work.withLock { work in
            work.isStopped = true
            return work.handler
        }
        handler?.cancel()
    }
}
