import Synchronization

/// One request of a client: who waits for it, until when, and what came of it.
///
/// It ends once, whoever comes first: the answer, a failure, the time-out or a cancellation.
final class ClientCall: Sendable {
    /// What came of a request.
    enum Reply: Sendable {
        case result(RawJSON)
        /// An error answer; `status` is that of the HTTP answer it came with.
        case refused(MCPError, status: Int?)
        case failed(ClientError)
    }

    /// No `OneShot`: it is on the way of every call, and shares its lock with the deadline and what was sent.
    private enum Phase {
        case new
        case waiting(CheckedContinuation<Reply, Never>)
        /// Over before anybody waited.
        case early(Reply)
        case over
    }

    private struct State {
        var phase = Phase.new
        var idleDeadline: MonotonicInstant
        var isSent = false
        var isAbandoned = false
    }

    let id: Int64
    let method: String
    let speech: WireDialect
    let idleTimeout: Duration?
    /// When the call ends whatever is reported.
    let deadline: MonotonicInstant
    private let onProgress: (@Sendable (Progress) -> Void)?
    /// Takes the log messages that belong to this call.
    let onLog: (@Sendable (LogMessage) -> Void)?
    /// Takes the notifications of a subscription.
    let onNotification: (@Sendable (String, RawJSON?) -> Void)?
    private let state: Mutex<State>

    init(
        _ id: Int64, _ method: String, _ speech: WireDialect, idleTimeout: Duration?, deadline: Duration?,
        now: MonotonicInstant, onProgress: (@Sendable (Progress) -> Void)?,
        onLog: (@Sendable (LogMessage) -> Void)? = nil,
        onNotification: (@Sendable (String, RawJSON?) -> Void)? = nil
    ) {
        self.id = id
        self.method = method
        self.speech = speech
        self.idleTimeout = idleTimeout
        self.deadline = deadline.map { now + $0 } ?? .never
        self.onProgress = onProgress
        self.onLog = onLog
        self.onNotification = onNotification
        state = Mutex(State(idleDeadline: idleTimeout.map { now + $0 } ?? .never))
    }

    var requestID: RequestID { RequestID(id) }

    /// When somebody has to look at the call again.
    var nextDeadline: MonotonicInstant { min(deadline, state.withLock { $0.idleDeadline }) }

    /// Somebody waits for the answer.
    var isWaiting: Bool {
        state.withLock { state in
            if case .waiting = state.phase { true } else { false }
        }
    }

    /// The request is on its way. True when it was given up meanwhile, so that the server has to be told now.
    func hasBeenSent() -> Bool {
        state.withLock { state in
            state.isSent = true
            return state.isAbandoned
        }
    }

    /// Waits for the end. `send` is called once, unless the call is over already.
    func wait(send: () -> Void) async -> Reply {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state -> Reply? in
                if case .early(let reply) = state.phase {
                    state.phase = .over
                    return reply
                }
                state.phase = .waiting(continuation)
                return nil
            }
            if let early {
                continuation.resume(returning: early)
            } else {
                send()
            }
        }
    }

    /// Ends the call, unless it is over.
    func finish(_ reply: Reply) { end(reply, isAbandoned: false) { _ in } }

    /// Ends the call, unless it is over, although no answer has come. Whoever waits goes on after `cleanUp`,
    /// which is told whether the request was sent.
    func abandon(_ reply: Reply, cleanUp: (_ wasSent: Bool) -> Void) {
        end(reply, isAbandoned: true, cleanUp)
    }

    private func end(_ reply: Reply, isAbandoned: Bool, _ cleanUp: (_ wasSent: Bool) -> Void) {
        let ended = state.withLock { state -> (wasSent: Bool, waiting: CheckedContinuation<Reply, Never>?)? in
            let waiting: CheckedContinuation<Reply, Never>?
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

    /// The time of silence begins anew; the deadline holds.
    func restartSilence(_ now: MonotonicInstant) {
        if let idleTimeout { state.withLock { $0.idleDeadline = now + idleTimeout } }
    }

    /// Takes a progress report; the time of silence begins anew (CANC-09).
    func report(_ progress: Progress, now: MonotonicInstant) {
        let isRunning = state.withLock { state -> Bool in
            guard case .waiting = state.phase else { return false }
            if let idleTimeout { state.idleDeadline = now + idleTimeout }
            return true
        }
        if isRunning { onProgress?(progress) }
    }
}
