import Synchronization

/// One connection to a server: opened when it is needed, shared by callers, opened again after it ended.
///
/// Callers wait for an attempt that is in progress. While a longer wait before the next attempt runs, they
/// fail at once with the reason for the last failure.
final class UpstreamLink: Sendable {
    private enum Phase {
        case idle
        case connecting(OneShot<Result<MCPClient, any Error>>)
        case ready(MCPClient)
        case failed(UpstreamFailure, until: MonotonicInstant)
        case stopped
    }

    private struct State {
        var phase = Phase.idle
        /// The attempt in progress, to cancel it.
        var opening: Task<Void, Never>?
        /// The number of calls that use the connection, or wait for it.
        var inFlight = 0
        /// The number of calls that wait for their turn, or for an answer of their caller, and need it then.
        var leases = 0
        /// The number of resources that are watched.
        var watches = 0
        var lastUse = MonotonicInstant(nanoseconds: 0)
        var readySince = MonotonicInstant.never
        var backoff = Backoff(maximum: .seconds(60))
        var isTimed = false
        /// The time of the next planned attempt after a wait; nil if none is planned.
        var planned: MonotonicInstant?
        var lastFailure: UpstreamFailure?
        /// The calls in a row that the server did not answer.
        var silentCalls = 0
        /// Whether it is being asked whether it is still there.
        var isProbed = false
        /// Happens when the last call has ended; nil unless the connection is to be stopped then.
        var lastCall: OneTimeEvent?

        var isStopped: Bool { if case .stopped = phase { true } else { false } }
        /// Whether calls need the connection.
        var isNeeded: Bool { inFlight > 0 || leases > 0 }
        /// Whether it stays open however long it has been quiet.
        var isUsed: Bool { isNeeded || watches > 0 }
    }

    /// The timing of a link.
    struct Timing: Sendable {
        var idle: Duration?
        var restarts: Bool
    }

    private let timing: Timing
    private let clock: any TimeSource
    private let connect: @Sendable () async throws(UpstreamFailure) -> MCPClient
    /// Receives each new connection, before calls use it.
    private let onReady: @Sendable (MCPClient) async -> Void
    private let onChange: @Sendable () -> Void
    private let describe: @Sendable (any Error) -> UpstreamFailure
    private let state = Mutex(State())

    init(
        _ timing: Timing, clock: any TimeSource,
        connect: @escaping @Sendable () async throws(UpstreamFailure) -> MCPClient,
        onReady: @escaping @Sendable (MCPClient) async -> Void, onChange: @escaping @Sendable () -> Void,
        describe: @escaping @Sendable (any Error) -> UpstreamFailure
    ) {
        self.timing = timing
        self.clock = clock
        self.connect = connect
        self.onReady = onReady
        self.onChange = onChange
        self.describe = describe
    }

    // MARK: Using

    /// Returns the connection, which stays open until `release` is called; opens it if necessary.
    ///
    /// - Parameter context: the request that needs it, which is refused when this server stops meanwhile.
    /// - Throws: `UpstreamFailure` when there is none; `CancellationError` when the caller left.
    func acquire(for context: RequestContext? = nil) async throws -> MCPClient {
        enum Step {
            case use(MCPClient)
            case wait(OneShot<Result<MCPClient, any Error>>, isNew: Bool)
            case fail(UpstreamFailure)
        }
        let step = state.withLock { state -> Step in
            switch state.phase {
            case .ready(let client):
                state.inFlight += 1
                return .use(client)
            case .connecting(let attempt):
                state.inFlight += 1
                return .wait(attempt, isNew: false)
            case .failed(let failure, let until) where clock.now < until: return .fail(failure)
            case .stopped: return .fail(state.lastFailure ?? UpstreamFailure("the server was removed"))
            case .idle, .failed:
                let attempt = OneShot<Result<MCPClient, any Error>>()
                state.phase = .connecting(attempt)
                state.inFlight += 1
                return .wait(attempt, isNew: true)
            }
        }
        switch step {
        case .use(let client): return client
        case .fail(let failure): throw failure
        case .wait(let attempt, let isNew):
            if isNew {
                onChange()
                start(attempt, after: nil)
            }
            do {
                guard let call = context?.call else { return try await attempt.get() }
                return try await call.dispatcher.beforeWork(of: call.exchange) { try await attempt.get() }
            } catch {
                release()
                throw error
            }
        }
    }

    /// Uses a connection that `acquire` returned before, which may have ended meanwhile.
    func rejoin() { state.withLock { $0.inFlight += 1 } }

    /// Ends the use of the connection.
    func release() { leave { $0.inFlight -= 1 } }

    /// Keeps the connection, once it is open, for a call that will need it, until `endLease`.
    func lease() { state.withLock { $0.leases += 1 } }

    func endLease() { leave { $0.leases -= 1 } }

    /// Keeps the connection, once it is open, for the changes that it reports, until `endWatch`. A stop does
    /// not wait for them.
    func beginWatch() {
        state.withLock { $0.watches += 1 }
        // While nobody watched, no attempt may have been planned.
        planRetry()
    }

    func endWatch() { leave { $0.watches -= 1 } }

    private func leave(_ change: (inout State) -> Void) {
        let (arms, lastCall) = state.withLock { state -> (Bool, OneTimeEvent?) in
            change(&state)
            let lastCall = state.isNeeded ? nil : state.lastCall
            guard timing.idle != nil, !state.isUsed, !state.isStopped else { return (false, lastCall) }
            state.lastUse = clock.now
            defer { state.isTimed = true }
            return (!state.isTimed, lastCall)
        }
        lastCall?.happen()
        if arms { closeWhenIdle() }
    }

    /// Opens the connection in the background, unless it is open or is being opened.
    func open() {
        let attempt = state.withLock { state -> OneShot<Result<MCPClient, any Error>>? in
            switch state.phase {
            case .idle, .failed:
                let attempt = OneShot<Result<MCPClient, any Error>>()
                state.phase = .connecting(attempt)
                return attempt
            case .connecting, .ready, .stopped: return nil
            }
        }
        guard let attempt else { return }
        onChange()
        start(attempt, after: nil)
    }

    /// Whether nobody uses the connection.
    var isUnused: Bool { state.withLock { !$0.isUsed } }

    /// The number of calls that use the connection, or wait for it.
    var inFlight: Int { state.withLock { $0.inFlight } }

    /// The state, the reason for the last failure, and the time until the next attempt.
    var status: (state: UpstreamStatus.State, lastError: String?, nextTry: Duration?) {
        state.withLock { state in
            let last = state.lastFailure?.description
            return switch state.phase {
            case .idle: (.idle, last, nil)
            case .connecting: (state.lastFailure == nil ? .connecting : .failed, last, .zero)
            case .ready: (.ready, last, nil)
            case .failed(_, .never): (.failed, last, nil)
            case .failed(_, let until): (.failed, last, max(.zero, until - clock.now))
            case .stopped: (.stopped, last, nil)
            }
        }
    }

    // MARK: Opening

    private func start(_ attempt: OneShot<Result<MCPClient, any Error>>, after pause: Duration?) {
        let task = Task {
            if let pause { try? await Task.pause(for: pause) }
            guard isCurrent(attempt) else {
                attempt.finish(.failure(UpstreamFailure("the server was removed")))
                return
            }
            do throws(UpstreamFailure) {
                let client = try await connect()
                await onReady(client)
                guard adopt(client, attempt) else {
                    attempt.finish(.failure(UpstreamFailure("the server was removed")))
                    return await client.close()
                }
                attempt.finish(.success(client))
                onChange()
                if timing.idle != nil { armIdle() }
                let end = await client.waitUntilClosed()
                await client.close()
                ended(client, end)
            } catch {
                failed(error, .attempt(attempt))
                attempt.finish(.failure(error))
            }
        }
        let isKept = state.withLock { state -> Bool in
            guard case .connecting(let current) = state.phase, current === attempt else { return false }
            state.opening = task
            return true
        }
        // A connection that is open already ends in its own way.
        if !isKept, state.withLock({ $0.isStopped }) { task.cancel() }
    }

    private func isCurrent(_ attempt: OneShot<Result<MCPClient, any Error>>) -> Bool {
        state.withLock { state in
            if case .connecting(let current) = state.phase { current === attempt } else { false }
        }
    }

    private func adopt(_ client: MCPClient, _ attempt: OneShot<Result<MCPClient, any Error>>) -> Bool {
        state.withLock { state in
            guard case .connecting(let current) = state.phase, current === attempt else { return false }
            state.phase = .ready(client)
            state.silentCalls = 0
            state.isProbed = false
            state.opening = nil
            state.readySince = clock.now
            state.lastUse = clock.now
            return true
        }
    }

    /// Plans the next attempt after a connection that ended on its own, unless that has happened already.
    ///
    /// A caller whose request found the connection ended tells it too, and does not find it again.
    func ended(_ client: MCPClient, _ reason: any Error) { failed(describe(reason), .connection(client)) }

    /// Whether this is the connection that calls use.
    func isCurrent(_ client: MCPClient) -> Bool {
        state.withLock { state in
            if case .ready(let current) = state.phase { current === client } else { false }
        }
    }

    /// Gives up a connection that is of no use any more, and plans the next attempt.
    func drop(_ client: MCPClient, _ reason: ClientError) {
        failed(describe(reason), .connection(client))
        Task { await client.connection.close(because: "the connection was given up: \(reason.message)") }
    }

    // MARK: Silence

    /// Records that the server has answered a call, or has reported its progress.
    func wasAnswered() { state.withLock { $0.silentCalls = 0 } }

    /// Gives up a connection whose server hangs, after a call that it did not answer: when it does not answer
    /// a ping either and nobody else waits for it, or has not answered several calls in a row.
    func wasSilent(_ client: MCPClient, _ error: ClientError) {
        let isFirst = state.withLock { state in
            state.silentCalls += 1
            defer { state.isProbed = true }
            return !state.isProbed
        }
        // One question for all calls whose time is over: one caller can make many.
        guard isFirst else { return }
        Task { [weak self] in
            var hangs = false
            do {
                _ = try await client.ping(options: CallOptions(timeout: UpstreamLimits.pingTime))
            } catch let silence as ClientError where silence.kind == .timeout {
                hangs = true
            } catch {
                // It answers, if only with an error, or the connection has ended.
            }
            self?.wasProbed(client, error, hangs: hangs)
        }
    }

    private func wasProbed(_ client: MCPClient, _ error: ClientError, hangs: Bool) {
        let isGivenUp = state.withLock { state in
            state.isProbed = false
            if !hangs { state.silentCalls = 0 }
            return hangs && (state.inFlight == 0 || state.silentCalls >= UpstreamLimits.silentCalls)
        }
        if isGivenUp { drop(client, error) }
    }

    private enum Failed {
        case attempt(OneShot<Result<MCPClient, any Error>>)
        case connection(MCPClient)
    }

    /// Plans the next attempt, if what failed is still current.
    private func failed(_ failure: UpstreamFailure, _ failed: Failed) {
        let next = state.withLock { state -> (OneShot<Result<MCPClient, any Error>>, Duration)? in
            let ranUntilNow: Bool
            switch (failed, state.phase) {
            case (.attempt(let attempt), .connecting(let current)) where current === attempt:
                ranUntilNow = false
            case (.connection(let client), .ready(let current)) where current === client:
                ranUntilNow = true
                if clock.now - state.readySince >= UpstreamLimits.goodRun { state.backoff.reset() }
            default: return nil
            }
            state.lastFailure = failure
            guard timing.restarts, state.lastCall == nil, let wait = state.backoff.next(.milliseconds(500))
            else {
                state.phase = .failed(failure, until: .never)
                return nil
            }
            // Jitter: servers that failed together do not come back together.
            let pause = wait * Double.random(in: 0.75 ... 1.25)
            let again = OneShot<Result<MCPClient, any Error>>()
            guard !ranUntilNow || pause > UpstreamLimits.sharedPause else {
                // Callers wait for the next attempt.
                state.phase = .connecting(again)
                return (again, pause)
            }
            state.phase = .failed(failure, until: clock.now + pause)
            return nil
        }
        onChange()
        if let (again, pause) = next { return start(again, after: pause) }
        planRetry()
    }

    /// Plans an attempt at the end of the wait after a failure, unless nobody misses the connection.
    private func planRetry() {
        let due = state.withLock { state -> MonotonicInstant? in
            guard case .failed(_, let until) = state.phase, until != .never, isMissed(state) else {
                return nil
            }
            if let planned = state.planned, planned <= until { return nil }
            state.planned = until
            return until
        }
        guard let due else { return }
        Task {
            try? await Task.pause(for: max(.zero, due - clock.now))
            retry(at: due)
        }
    }

    private func isMissed(_ state: State) -> Bool {
        // What was never connected has no lists yet, so that no call could connect it.
        timing.idle == nil || state.watches > 0 || state.readySince == .never
    }

    private func retry(at due: MonotonicInstant) {
        let attempt = OneShot<Result<MCPClient, any Error>>()
        let isDue = state.withLock { state -> Bool in
            if state.planned == due { state.planned = nil }
            guard case .failed(_, let until) = state.phase, until <= clock.now + .milliseconds(50),
                isMissed(state)
            else { return false }
            state.phase = .connecting(attempt)
            return true
        }
        if isDue { return start(attempt, after: nil) }
        // It has failed again meanwhile.
        planRetry()
    }

    // MARK: Closing

    private func armIdle() {
        let arms = state.withLock { state -> Bool in
            guard !state.isTimed, !state.isUsed else { return false }
            state.isTimed = true
            return true
        }
        if arms { closeWhenIdle() }
    }

    /// Closes the connection once it has not been used for the idle time.
    private func closeWhenIdle() {
        guard let idle = timing.idle else { return }
        Task { [weak self] in
            var pause = idle
            while true {
                try? await Task.pause(for: pause)
                guard let self else { return }
                let (client, left) = self.state.withLock { state -> (MCPClient?, Duration?) in
                    guard case .ready(let client) = state.phase, !state.isUsed else {
                        state.isTimed = false
                        return (nil, nil)
                    }
                    let left = idle - (self.clock.now - state.lastUse)
                    if left > .zero { return (nil, left) }
                    state.isTimed = false
                    state.phase = .idle
                    return (client, nil)
                }
                if let left {
                    pause = left
                    continue
                }
                if let client {
                    await client.close()
                    self.onChange()
                }
                return
            }
        }
    }

    /// Closes the connection after the calls that need it, for which it waits at most `grace`; nil is as long
    /// as they take.
    ///
    /// - Parameter reason: what the calls that have not ended then fail with.
    func stop(grace: Duration?, because reason: String) async {
        let lastCall = state.withLock { state -> OneTimeEvent? in
            guard state.isNeeded, !state.isStopped else { return nil }
            let lastCall = state.lastCall ?? OneTimeEvent()
            state.lastCall = lastCall
            return lastCall
        }
        if let lastCall { try? await Race.run(within: grace) { await lastCall.wait() } }
        await close(because: reason)
    }

    private func close(because reason: String) async {
        let (client, opening) = state.withLock { state -> (MCPClient?, Task<Void, Never>?) in
            defer { (state.phase, state.opening) = (.stopped, nil) }
            switch state.phase {
            case .ready(let client): return (client, nil)
            case .connecting(let attempt):
                attempt.finish(.failure(UpstreamFailure("the server was removed")))
                return (nil, state.opening)
            case .idle, .failed, .stopped: return (nil, nil)
            }
        }
        opening?.cancel()
        await opening?.value
        await client?.connection.close(because: reason)
        onChange()
    }
}
