import Synchronization

/// One request of a client: the waiting caller, the time limits and the outcome.
///
/// It ends exactly once, with the first of these: the response, a failure, a timeout or a cancellation.
final class ClientCall: Sendable {
    /// The outcome of a request.
    enum Reply: Sendable {
        case result(RawJSON)
        /// An error response; `status` is that of the HTTP response that carried it.
        case refused(MCPError, status: Int?)
        case failed(ClientError)
    }

    /// Not a `OneShot`: this is on the path of every call, and it shares its lock with the deadline and the
    /// record of what was sent.
    private enum Phase {
        case new
        case waiting(Caller)
        /// Ended before the caller began to wait.
        case early(Reply)
        case over
    }

    /// The waiting caller. A checked continuation would allocate memory for every call.
    @safe private struct Caller: Sendable {
        // SAFETY: `phase` hands it out once, and always does.
        private let continuation: UnsafeContinuation<Reply, Never>

        init(_ continuation: UnsafeContinuation<Reply, Never>) { unsafe self.continuation = continuation }

        func resume(returning reply: Reply) { unsafe continuation.resume(returning: reply) }
    }

    private struct State {
        var phase = Phase.new
        var idleDeadline: MonotonicInstant
        var isSent = false
        var isAbandoned = false
        /// The questions of the server during this call that have no answer yet.
        var questions = 0
    }

    let id: Int64
    let method: String
    let speech: WireDialect
    let idleTimeout: Duration?
    /// The time at which the call ends regardless of progress reports.
    let deadline: MonotonicInstant
    private let onProgress: (@Sendable (ProgressReport) -> Void)?
    /// Receives the log messages that belong to this call.
    let onLog: (@Sendable (LogMessage) -> Void)?
    /// Receives the notifications of a subscription.
    let onNotification: (@Sendable (String, RawJSON?) -> Void)?
    /// Answers the server's questions during this call.
    let onInput: (@Sendable (InputRequest) async throws -> JSONValue)?
    /// Receives what is left out of the response.
    let onOmission: (@Sendable (String) -> Void)?
    let onOmittedPlaces: (@Sendable ([Int]) -> Void)?
    private let state: Mutex<State>

    init(
        _ id: Int64, _ method: String, _ speech: WireDialect, idleTimeout: Duration?, deadline: Duration?,
        now: MonotonicInstant, onProgress: (@Sendable (ProgressReport) -> Void)?,
        onLog: (@Sendable (LogMessage) -> Void)? = nil,
        onNotification: (@Sendable (String, RawJSON?) -> Void)? = nil,
        onInput: (@Sendable (InputRequest) async throws -> JSONValue)? = nil,
        onOmission: (@Sendable (String) -> Void)? = nil,
        onOmittedPlaces: (@Sendable ([Int]) -> Void)? = nil
    ) {
        self.id = id
        self.method = method
        self.speech = speech
        self.idleTimeout = idleTimeout
        self.deadline = deadline.map { now + $0 } ?? .never
        self.onProgress = onProgress
        self.onLog = onLog
        self.onNotification = onNotification
        self.onInput = onInput
        self.onOmission = onOmission
        self.onOmittedPlaces = onOmittedPlaces
        state = Mutex(State(idleDeadline: idleTimeout.map { now + $0 } ?? .never))
    }

    /// The time at which the call has to be checked again.
    var nextDeadline: MonotonicInstant { min(deadline, state.withLock { $0.idleDeadline }) }

    /// Whether a caller is waiting for the response.
    var isWaiting: Bool {
        state.withLock { state in
            if case .waiting = state.phase { true } else { false }
        }
    }

    /// Whether the server waits for an answer to a question during this call.
    var isAsking: Bool { state.withLock { $0.questions > 0 } }

    func questionBegins() { state.withLock { $0.questions += 1 } }

    func questionEnds() { state.withLock { $0.questions -= 1 } }

    /// Records that the request was sent. Returns true when the call was abandoned in the meantime, so that
    /// the server has to be notified now.
    func hasBeenSent() -> Bool {
        state.withLock { state in
            state.isSent = true
            return state.isAbandoned
        }
    }

    /// Waits for the end of the call. `send` is called once, unless the call has already ended.
    func wait(send: () -> Void) async -> Reply {
        await unsafe withUnsafeContinuation { continuation in
            let early = state.withLock { state -> Reply? in
                if case .early(let reply) = state.phase {
                    state.phase = .over
                    return reply
                }
                state.phase = unsafe .waiting(Caller(continuation))
                return nil
            }
            if let early {
                unsafe continuation.resume(returning: early)
            } else {
                send()
            }
        }
    }

    /// Ends the call, unless it has already ended.
    func finish(_ reply: Reply) { end(reply, isAbandoned: false) { _ in } }

    /// Ends the call without a response, unless it has already ended. The waiting caller resumes after
    /// `cleanUp`, which receives whether the request was sent.
    func abandon(_ reply: Reply, cleanUp: (_ wasSent: Bool) -> Void) {
        end(reply, isAbandoned: true, cleanUp)
    }

    private func end(_ reply: Reply, isAbandoned: Bool, _ cleanUp: (_ wasSent: Bool) -> Void) {
        let ended = state.withLock { state -> (wasSent: Bool, waiting: Caller?)? in
            let waiting: Caller?
            switch state.phase {
            case .new:
                state.phase = .early(reply)
                waiting = nil
            case .waiting(let continuation):
                state.phase = .over
                waiting = continuation
            case .early, .over: return nil
            }
            state.isAbandoned = isAbandoned
            return (state.isSent, waiting)
        }
        guard let ended else { return }
        cleanUp(ended.wasSent)
        ended.waiting?.resume(returning: reply)
    }

    /// Restarts the idle timeout; the deadline is unchanged.
    func restartSilence(_ now: MonotonicInstant) {
        if let idleTimeout { state.withLock { $0.idleDeadline = now + idleTimeout } }
    }

    /// Stops the idle timeout while the request is not with the server, or starts it again.
    func pauseSilence(_ isPaused: Bool, _ now: MonotonicInstant) {
        guard let idleTimeout else { return }
        state.withLock { $0.idleDeadline = isPaused ? .never : now + idleTimeout }
    }

    /// Receives a progress report and restarts the idle timeout (CANC-09).
    func report(_ progress: ProgressReport, now: MonotonicInstant) {
        let isRunning = state.withLock { state -> Bool in
            guard case .waiting = state.phase else { return false }
            if let idleTimeout { state.idleDeadline = now + idleTimeout }
            return true
        }
        if isRunning { onProgress?(progress) }
    }
}
