import Synchronization

/// The connection to one server: the pending calls, the known facts about the server and the negotiated
/// revision.
///
/// `MCPClient` is its public interface; the transport sees it as its inbox.
final class ClientConnection: Sendable {
    private let counted = Counted(.clientConnection)

    struct State {
        var speech: WireDialect?
        var profile: ServerProfile?
        /// The number of times that a legacy session was opened.
        var generation = 0
        var reopening: Task<ClientError?, Never>?
        /// The level requested by `setLoggingLevel`.
        var logLevel: LoggingLevel?
        /// The restart in progress, if the server has ended.
        var restart: ServerRestart?
        /// The backoff of the restarts since the server last ran well.
        var restarts: Backoff?
        /// Whether the revision was taken over from an earlier connection, without any request to the server
        /// so far.
        var isAssumed = false
        /// The time at which the connection was last opened.
        var openedAt = MonotonicInstant(nanoseconds: 0)
        /// Called when the connection was opened again to a server that remembers nothing (STDIO-17): after a
        /// restart, and with a new session. It must not wait for calls.
        var onReconnect: (@Sendable () -> Void)?
        /// The last things received that nobody could use, oldest first.
        var unreadable: [Unreadable] = []
        /// The notifications that the server may answer, although it must not.
        var notifications = SentNotifications()
        /// Whether a new session is being opened for the listeners, and the generation of one that was lost
        /// meanwhile.
        var isRenewing = false
        var nextRenewal: Int?
        /// Why changes cannot be received for now.
        var outage: Outage?
        /// The end of the server before the connection was open.
        var endWhileOpening: ClientError?
        /// The reason why the connection ended; later calls fail with it too.
        var end: ClientError?
        /// The requests that wait for credentials, and how long any did.
        var credentials = CredentialsTime()
        /// The observers of the end.
        var onEnd: [@Sendable (ClientError) -> Void] = []
    }

    /// The notifications that were sent since the most recent call.
    struct SentNotifications {
        private var count = 0
        private var lastCall: Int64 = 0

        mutating func add(after call: Int64) {
            count = call == lastCall ? count + 1 : 1
            lastCall = call
        }

        /// Returns whether a response without an id may be the answer to a notification: one was sent right
        /// before the call that waits, and has not been answered yet.
        mutating func explainResponse(before call: Int64) -> Bool {
            guard count > 0, call <= lastCall + 1 else { return false }
            count -= 1
            return true
        }
    }

    /// Something that the server sent that nobody could use.
    struct Unreadable: Equatable {
        /// The number that are kept for error messages.
        static let maxKept = 3

        /// The reason, and the beginning of what was sent.
        var text: String
        /// The most recent call at that time.
        var lastCall: Int64
    }

    let options: ClientOptions
    let transport: any ClientTransport
    let encoder: MessageEncoder
    let pending = PendingCalls<ClientCall>()
    let state = Mutex(State())
    let listeners = SessionSubscriptions()
    let tools = KnownTools()
    let cache: ResultCache
    /// The requests from the server that are being handled.
    let serverRequests = ServerRequestHandler()
    /// The number of requests that a cached response answered.
    let reused = Atomic<Int>(0)
    /// What an earlier connection kept about the server.
    let records = ServerRecords()
    /// The number of bytes since the last message that were not a message.
    let unreadableBytes = Atomic<Int>(0)
    /// Happens when the connection has ended permanently.
    let ended = OneTimeEvent()
    let clock: any TimeSource
    private let alarm: Alarm

    init(_ transport: any ClientTransport, options: ClientOptions, clock: any TimeSource = SystemClock()) {
        self.transport = transport
        self.options = options
        self.clock = clock
        cache = ResultCache(clock: clock)
        encoder = MessageEncoder(
            clientInfo: Implementation(name: options.name, version: options.version),
            capabilities: options.capabilities)
        alarm = Alarm(label: "mcp.client.deadlines", clock: clock)
    }

    /// The longest time that opening the connection may take.
    var connectLimit: Duration { options.connectLimit(forProgram: transport.canRestart) }

    var profile: ServerProfile? { state.withLock { $0.profile } }

    /// The reason why the connection ended permanently; nil while it can be used.
    var endOfConnection: ClientError? { state.withLock { $0.end } }

    var speech: WireDialect? { state.withLock { $0.speech } }

    /// Requests log messages of at least this level with later requests.
    func choose(_ level: LoggingLevel) { state.withLock { $0.logLevel = level } }

    var logLevel: LoggingLevel? { state.withLock { $0.logLevel } ?? options.logLevel }

    /// Subscribes and waits for the end of the subscription; its notifications are passed to
    /// `onNotification`.
    func listen(
        _ filter: SubscriptionFilter, onNotification: @escaping @Sendable (String, RawJSON?) -> Void
    ) async -> ClientCall.Reply {
        var options = CallOptions()
        options.onNotification = onNotification
        return await call("subscriptions/listen", ["notifications": filter.json], options)
    }

    /// Returns whether arguments are repeated in headers; only modern revisions over HTTP do that.
    func mirrorsArguments(_ speech: WireDialect?) -> Bool { transport.isHTTP && speech?.isModern == true }

    /// Handles a change that the server reported.
    func changed(_ change: ServerChange) {
        cache.drop(change)
        if change == .toolsListChanged || change == .resubscribed { tools.forgetPromises() }
    }

    // MARK: Calls

    /// Sends a request in the form of the negotiated revision.
    func call(_ method: String, _ params: JSONObject, _ options: CallOptions) async -> ClientCall.Reply {
        var (speech, generation, isAssumed, restart) = state.withLock {
            ($0.speech, $0.generation, $0.isAssumed, $0.restart)
        }
        if restart != nil {
            let limit = connectLimit
            let error = await restart?.wait(atMost: min(limit, options.deadline ?? limit))
            if let error { return .failed(error) }
            (speech, generation, isAssumed, restart) = state.withLock {
                ($0.speech, $0.generation, $0.isAssumed, $0.restart)
            }
        }
        guard let speech else {
            return .failed(ClientError(.connectionClosed, "the client is not connected"))
        }
        let reply = await exchange(method, params, options, speech)
        switch reply {
        case .failed(let error) where error.kind == .sessionExpired && !speech.isModern:
            // LEG-25: an expired session is reopened once, and the request is repeated. With 404 the server
            // indicates that it processed nothing.
            if let error = await reopen(after: generation) { return .failed(error) }
        case _ where isAssumed && Negotiation.isDoubtful(reply, isHTTP: transport.isHTTP):
            // DUAL-19: the server most likely did not understand the request and has done nothing.
            if let error = await probe(after: generation) { return .failed(error) }
            if case .modern = state.withLock({ $0.speech }) { return reply }
            guard Repetition.wasNotCarriedOut(reply) || mayRepeat(method, params) else {
                if case .failed(let error) = reply { return .failed(error.mayHaveRun(method)) }
                return reply
            }
        case .refused(let error, _) where speech.isModern && Negotiation.wantsHandshake(error, self.options):
            // Such a server lists in 2026-07-28 and refuses to do anything in it.
            guard await reopenWithHandshake(after: generation) == nil,
                Repetition.wasNotCarriedOut(reply) || mayRepeat(method, params)
            else { return reply }
        default:
            if isAssumed { state.withLock { $0.isAssumed = false } }
            return reply
        }
        guard let renewed = state.withLock({ $0.speech }) else { return reply }
        return await exchange(method, params, options, renewed)
    }

    /// Sends one request and waits for its outcome.
    func exchange(
        _ method: String, _ params: JSONObject, _ options: CallOptions, _ speech: WireDialect
    ) async -> ClientCall.Reply {
        let opened: (ClientCall, OutboundMessage)?
        do {
            opened = try open(method, params, options, speech)
        } catch {
            return .failed(error)
        }
        guard let (call, message) = opened else {
            var end =
                state.withLock { $0.end }
                ?? ClientError(.connectionClosed, "the connection to the server is closed")
            end.isUnsent = true
            return .failed(end)
        }
        watch(call.nextDeadline)
        let reply = await withTaskCancellationHandler {
            await call.wait {
                trace(.sent(method: method, bytes: message.bytes))
                transport.send(message, id: call.id)
                if call.hasBeenSent() { transport.abandon(call.id, notice: notice(call, "cancelled")) }
            }
        } onCancel: {
            abandon(call, ClientError(.cancelled, "the call to \(method) was cancelled"), "cancelled")
        }
        // An unreadable response still means that the server processed the request.
        // Over HTTP, what the tool promised is known as it was when the request was sent.
        if case .failed(let error) = reply, error.leavesTheOutcomeOpen,
            !(transport.isHTTP ? message.isRepeatable : mayRepeat(method, params))
        {
            return .failed(error.mayHaveRun(method))
        }
        return reply
    }

    private func open(
        _ method: String, _ params: JSONObject, _ options: CallOptions, _ speech: WireDialect
    ) throws(ClientError) -> (ClientCall, OutboundMessage)? {
        let now = clock.now
        let call = pending.open { id in
            ClientCall(
                id, method, speech,
                idleTimeout: options.onNotification == nil ? options.timeout ?? self.options.timeout : nil,
                deadline: options.deadline, now: now, onProgress: options.onProgress, onLog: options.onLog,
                onNotification: options.onNotification, onInput: options.onInput,
                onOmission: options.onOmission, onOmittedPlaces: options.onOmittedPlaces)
        }
        guard let call else { return nil }
        do {
            let bytes = try encoder.request(
                call.id, method, params, meta: options.meta, wantsProgress: options.onProgress != nil,
                logLevel: options.logLevel ?? logLevel, capabilities: options.capabilities, speech)
            // Only a reused HTTP connection makes a transport use this; no lookup is needed elsewhere.
            let isRepeatable = transport.isHTTP && mayRepeat(method, params)
            var message = outbound(bytes, method, speech, isRepeatable: isRepeatable)
            if speech.isModern || self.options.authorizer != nil {
                message.mirroredName = MessageEncoder.mirroredName(method, params)
            }
            if method == "tools/call", mirrorsArguments(speech) {
                message.mirroredArguments = tools.fields(for: params)
            }
            return (call, message)
        } catch {
            pending.remove(call.id)
            throw error
        }
    }

    func outbound(
        _ bytes: ByteSlice, _ method: String, _ speech: WireDialect, isRepeatable: Bool? = nil
    ) -> OutboundMessage {
        OutboundMessage(
            bytes: bytes, method: method, revision: speech.headerRevision,
            connectTimeout: connectLimit, isRepeatable: isRepeatable ?? Repetition.isHarmless(method))
    }

    func trace(_ event: @autoclosure () -> TraceEvent) {
        if let trace = options.trace { trace(event()) }
    }

    // MARK: Ending calls

    func finish(_ call: ClientCall, _ reply: ClientCall.Reply) {
        pending.remove(call.id)
        serverRequests.end(with: call.id)
        call.finish(options.secrets?.mask(reply) ?? reply)
    }

    /// Stops waiting and notifies the server if the revision has a way to do so.
    func abandon(_ call: ClientCall, _ error: ClientError, _ reason: String) {
        call.abandon(.failed(error)) { wasSent in
            pending.remove(call.id)
            serverRequests.cancel(for: call.id)
            // Before the caller resumes, so that whatever it sends next follows the notice.
            if wasSent { transport.abandon(call.id, notice: notice(call, reason)) }
        }
    }

    /// Returns the notice of an abandoned call (CANC-01): `notifications/cancelled` on a shared channel and
    /// in legacy revisions; on modern HTTP, closing the exchange has that meaning (HTTPC-08). The opening
    /// requests are never cancelled (LIFE-09).
    private func notice(_ call: ClientCall, _ reason: String) -> OutboundMessage? {
        if case .opening = call.speech { return nil }
        if call.method == "server/discover" || call.speech.isModern && transport.isHTTP { return nil }
        let bytes = notification(
            "notifications/cancelled",
            ["requestId": .number(JSONNumber(Int(call.id))), "reason": .string(reason)])
        return outbound(bytes, "notifications/cancelled", call.speech)
    }

    /// Returns the bytes of a notification that is about to be sent.
    func notification(_ method: String, _ params: JSONObject = [:]) -> ByteSlice {
        state.withLock { $0.notifications.add(after: pending.lastID) }
        return MessageEncoder.notification(method, params)
    }

    func watch(_ deadline: MonotonicInstant) {
        alarm.set(for: deadline, waking: self) { $0.expire() }
    }

    /// Ends the calls that are past their deadline and sleeps until the next one.
    private func expire() {
        let now = clock.now
        var earliest = MonotonicInstant.never
        for call in pending.all {
            // The server is waiting for the program, possibly for a person: that does not count as its
            // silence.
            if serverRequests.isBusy(for: call.id) { call.restartSilence(now) }
            let next = call.nextDeadline
            if next > now {
                earliest = min(earliest, next)
            } else {
                abandon(call, timeoutError(call, now), "timeout")
            }
        }
        watch(earliest)
    }

    private func timeoutError(_ call: ClientCall, _ now: MonotonicInstant) -> ClientError {
        let details = unreadableDetails(since: call.id)
        if call.deadline <= now {
            return ClientError(
                .timeout, "\(call.method) did not finish before its deadline; it was cancelled",
                details: details
            )
        }
        return ClientError(
            .timeout,
            "no response to \(call.method) within \((call.idleTimeout ?? .zero).inWords); it was cancelled",
            details: details,
            hint: "progress notifications reset the timeout; use a longer one for slow servers")
    }

    /// - Parameter reason: what calls in flight fail with.
    func close(because reason: String = "the client was closed") async {
        saveRecords()
        conclude(ClientError(.connectionClosed, reason))
        await transport.close()
    }
}
