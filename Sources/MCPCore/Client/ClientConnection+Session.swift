import Dispatch
import Synchronization

/// The interests that a session of the handshake revisions is told about once, and again after it is
/// replaced.
extension ClientConnection {
    /// Whether any message that the server sends on its own is of interest; if so, its stream is opened.
    var wantsServerStream: Bool {
        options.onNotification != nil || options.onLog != nil || options.onElicit != nil
            || options.onSample != nil || options.onRoots != nil || listeners.hasAny
    }

    /// Opens a new session for the listeners, which make no call that would discover that the old one is gone
    /// (LEG-25).
    ///
    /// A server that is still starting is tried again, with growing pauses, while there are listeners. An
    /// address that answers 404, as a proxy may while its server restarts, is tried `maxAbsences` times more.
    ///
    /// - Parameter pause: the time before the first attempt.
    func renewSession(after pause: Duration = .zero) {
        // One at a time: a server may end one session after another before it is open.
        let lost = state.withLock { state -> Int? in
            if state.isRenewing {
                state.nextRenewal = state.generation
                return nil
            }
            state.isRenewing = true
            return state.generation
        }
        guard let lost else { return }
        let clock = clock
        Task { [weak self] in
            var (generation, pause) = (lost, pause)
            var backoff = Backoff(maximum: .seconds(30))
            var absences = 0
            while true {
                await Self.wait(pause, clock)
                guard let self else { return }
                if let error = await failureToRenew(generation, &absences) {
                    pause = backoff.next(.seconds(1)) ?? .seconds(30)
                    noteOutage(error, attempts: backoff.attempts)
                } else {
                    guard let next = nextRenewal() else { return }
                    (generation, pause) = (next, .seconds(1))
                }
            }
        }
    }

    /// How often an address that answers 404 to a new session, or to a new subscription, is tried again in a
    /// row.
    static let maxAbsences = 5

    /// Returns the error for an address that has answered 404 too often.
    static func absent(_ error: ClientError) -> ClientError {
        var error = error
        error.message += ", \(maxAbsences + 1) times since the connection was lost"
        error.hint = error.hint ?? "is the server still at this address?"
        return error
    }

    private static func wait(_ pause: Duration, _ clock: any TimeSource) async {
        guard pause > .zero else { return }
        let end = OneTimeEvent()
        clock.schedule(at: clock.now + pause, on: .global()) { end.happen() }
        await end.wait()
    }

    /// Returns the generation of a session that was lost while another one was renewed.
    private func nextRenewal() -> Int? {
        state.withLock { state in
            let next = state.nextRenewal.take()
            state.isRenewing = next != nil
            return next
        }
    }

    /// Opens a new session, unless a call has done so. Returns the error when that failed but may succeed
    /// later.
    private func failureToRenew(_ generation: Int, _ absences: inout Int) async -> ClientError? {
        guard endOfConnection == nil, wantsServerStream else {
            endOutage()
            return nil
        }
        guard let error = await reopen(after: generation) else {
            absences = 0
            return nil
        }
        guard let end = Self.end(of: error, &absences) else { return error }
        serverStreamRefused(end)
        return nil
    }

    /// Returns the error with which the wait for a server ends that was lost; nil if it may return. Counts
    /// the responses 404 in a row.
    static func end(of error: ClientError, _ absences: inout Int) -> ClientError? {
        absences = error.httpStatus == 404 ? absences + 1 : 0
        if error.isTransient || error.kind == .timeout { return nil }
        guard error.httpStatus == 404 else { return error }
        return absences <= maxAbsences ? nil : absent(error)
    }

    /// Makes each new session receive the interests that earlier ones were told about.
    func remembersInterests() {
        state.withLock { state in
            state.onReconnect = { [weak self] in
                // The server may be a different program, and changes in the meantime were not reported.
                self?.changed(.resubscribed)
                // The reconnection itself does not wait for anything.
                Task { await self?.tellInterests(isAgain: true) }
            }
        }
    }

    /// Tells a session which log messages and which resources are of interest (STDIO-17).
    ///
    /// - Parameter limit: the time limit of each request.
    func tellInterests(isAgain: Bool, atMost limit: Duration = .seconds(10)) async {
        guard speech?.isModern == false else { return }
        // A login may take longer.
        let options = CallOptions(timeout: limit, deadline: self.options.authorizer == nil ? limit : nil)
        // A server that has no logging, or that refuses the level, can still be used.
        if let logLevel, profile?.capabilities.hasLogging == true {
            _ = await call("logging/setLevel", ["level": .string(logLevel.rawValue)], options)
        }
        guard isAgain else { return }
        for uri in listeners.watchedURIs { await renewSubscription(to: uri, options) }
        if !transport.reportsLoss(within: limit) { listeners.publish(.resubscribed) }
    }

    /// The time after which a server is taken to send its stream, though it has not responded: some do so
    /// only when they have a message.
    private static let streamLimit = Duration.seconds(5)

    /// Waits until the server sends the stream of the session, or has refused it.
    func serverStreamIsSettled() async {
        let settled = OneTimeEvent()
        transport.whenServerStreamIsSettled { settled.happen() }
        clock.schedule(at: clock.now + Self.streamLimit, on: .global()) { settled.happen() }
        await settled.wait()
    }
}
