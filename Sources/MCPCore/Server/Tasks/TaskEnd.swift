/// The end of one task (`io.modelcontextprotocol/tasks`), for middleware.
public struct TaskEnd: Sendable {
    /// The id of the task.
    public let taskID: String
    /// The tool whose call became the task.
    public let tool: String
    /// The JSON-RPC id of the call that became the task.
    public let requestID: RawJSON?
    /// The authenticated principal of the call; nil without authorization.
    public let principal: Principal?
    /// The address of the client that made the call, as in `IncomingRequest.peer`.
    public let peer: String?
    /// The number of the call's connection, as in `IncomingRequest.connection`.
    public let connection: UInt64
    /// The trace that the call belongs to; nil if there is none.
    public let traceContext: TraceContext?
    /// The way in which the task ended: `cancelled` by its client, or because it was forgotten while it
    /// worked.
    public let outcome: RequestOutcome
    /// The time since the task began.
    public var duration: Duration { .nanoseconds(nanoseconds) }
    /// The same in nanoseconds.
    package let nanoseconds: Int64
    /// The message of the error, or the first text of the result of a tool that failed; nil otherwise.
    public let failure: String?
}

/// What is known of a task's call, for the middleware that accepted it.
struct TaskOrigin: Sendable {
    private let middleware: [any ServerMiddleware]
    private let tool: String
    private let requestID: RawJSON?
    private let principal: Principal?
    private let peer: String?
    private let connection: UInt64
    private let traceContext: TraceContext?
    private let start: MonotonicInstant

    /// - Returns: nil without middleware. All of it has accepted a request whose handler works.
    init?(_ call: DeferredCall?, start: MonotonicInstant) {
        guard let call, let trace = call.request.trace else { return nil }
        middleware = call.dispatcher.options.middleware.reversed()
        let request = IncomingRequest(trace)
        tool = request.name ?? ""
        // A copy: the message shares memory with its connection.
        requestID = request.id.map { RawJSON(unchecked: $0.bytes.copy()) }
        principal = request.principal
        peer = request.peer
        connection = request.connection
        traceContext = request.traceContext
        self.start = start
    }

    /// Reports the end of the task.
    func report(_ id: String, _ outcome: ServerTask.Outcome, at now: MonotonicInstant) {
        let (requestOutcome, failure): (RequestOutcome, String?) =
            switch outcome {
            case .result(let result):
                result["isError"]?.bool == true
                    ? (.toolError, result["content"]?[0]?["text"]?.string) : (.result, nil)
            case .error(let error): (.error(error.code), error.message)
            case .cancelled: (.cancelled, nil)
            }
        let end = TaskEnd(
            taskID: id, tool: tool, requestID: requestID, principal: principal, peer: peer,
            connection: connection, traceContext: traceContext, outcome: requestOutcome,
            nanoseconds: now.nanoseconds &- start.nanoseconds, failure: failure)
        for each in middleware { each.didEndTask(end) }
    }
}
