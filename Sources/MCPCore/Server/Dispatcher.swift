import Synchronization

/// The outcome of a message.
enum Disposition: Sendable {
    /// The response was written; it is sent with this HTTP status.
    case answered(status: Int)
    /// A notification was accepted; there is no response.
    case accepted
    /// A message that no client may send here, such as a response that no request waits for; it was counted.
    case dropped
    /// The response comes later, through the sink; a batch has no single exchange.
    case deferred(PendingRequest?)
}

/// A dispatcher that serves messages: one scan, one verdict, one handler, one response.
///
/// It does not depend on sockets or HTTP: bytes come in from a `ServerChannel`, and a response is written
/// into the caller's buffer, or goes to the sink that the caller creates when the response has to wait.
final class Dispatcher: Sendable {
    let identity: Implementation
    let options: ServerOptions
    let registry: RegistryBox
    let envelope: ResultEnvelope
    let cursors: CursorSeal
    let requestStates: RequestState
    let stateLedger: StateLedger
    /// Nil without a store that other instances share.
    let shared: SharedState?
    let serverCalls = ServerRequestTable()
    let inFlight = InFlightTable<PendingRequest>()
    /// The transports that are stopping.
    let stops = Mutex(0)
    let deadlines: DeadlineWatch
    let subscriptions: SubscriptionHub
    let counters = ServerCounters()
    /// The memory that the connections of this server share.
    let memory: MemoryBudget
    let clock: any TimeSource
    /// Nil when the tasks extension is off.
    let tasks: TaskManager?
    /// Nil without tasks, and without a store that other instances share.
    let sharedTasks: SharedTasks?
    private let emptyArguments = RawJSON(unchecked: ByteSlice("{}"))

    init(
        identity: Implementation, instructions: String?, options: ServerOptions, stateKeys: StateKeys,
        clock: any TimeSource = SystemClock()
    ) {
        self.identity = identity
        registry = RegistryBox(instructions: instructions, declared: options.declaredKinds)
        self.options = options
        self.clock = clock
        memory = MemoryBudget(limit: options.limits.maxMemoryBytes)
        subscriptions = SubscriptionHub(clock: clock)
        envelope = ResultEnvelope(identity: identity, maxDepth: options.limits.maxJSONDepth)
        cursors = CursorSeal(keys: stateKeys)
        requestStates = RequestState(keys: stateKeys, lifetime: options.stateLifetime.components.seconds)
        stateLedger = StateLedger(lifetime: options.stateLifetime, start: clock.now)
        shared = options.stateStore.map { SharedState($0, keys: stateKeys, clock: clock, log: options.log) }
        deadlines = DeadlineWatch(table: inFlight, clock: clock, counters: counters)
        let sharedTasks =
            options.tasks == nil ? nil : shared.map { SharedTasks($0, keys: stateKeys, clock: clock) }
        self.sharedTasks = sharedTasks
        tasks = options.tasks.map { [counters, bus = subscriptions.bus] options in
            TaskManager(options: options, clock: clock, counters: counters) { task in
                sharedTasks?.changed(task)
                // TASK-19
                if bus.hasSubscribers { bus.publish(.task(id: task.id, json: task.json)) }
            }
        }
    }

    /// A request with the data that is needed while it is handled.
    struct Request {
        let message: Message
        let verdict: Classifier.Verdict
        let channelID: UInt64
        /// The requests that a client of a handshake revision can receive.
        let abilities: ClientAbilities
        /// Nil without middleware.
        var trace: RequestTrace?
        /// Nil without authorization.
        var caller: Caller?

        var revision: Revision { verdict.revision }
        var idBytes: ByteSlice { message.bytes[message.head.id.range] }

        /// The same request in memory of its own, for a request that is kept for a long time: the bytes
        /// received over a connection are part of a block of many kilobytes.
        var copied: Request {
            Request(
                message: Message(bytes: message.bytes.copy(), head: message.head), verdict: verdict,
                channelID: channelID, abilities: abilities, trace: trace, caller: caller)
        }
    }

    typealias SinkMaker = () -> any ResponseSink

    // MARK: Serving

    var jsonLimits: JSONLimits { JSONLimits(maxDepth: options.limits.maxJSONDepth) }

    /// Answers text that is not JSON (-32700).
    func refuseUnreadable(
        _ error: JSONError, _ channel: ServerChannel, _ writer: inout JSONWriter
    ) -> Disposition {
        counters.count(.parseErrors)
        report(refused: .parseError("\(error)"), from: channel)
        return refuse(
            Refusal(.parseError("Parse error: \(error)")), id: nil, session: channel.session, &writer)
    }

    /// Answers a message with an error. The revision of the session determines how an unknown id is written.
    func refuse(
        _ refusal: Refusal, id: ByteSlice?, session: NegotiatedSession?, _ writer: inout JSONWriter
    ) -> Disposition {
        ResultEnvelope.error(refusal.error, id: id, to: &writer, for: session?.revision ?? .newest)
        counters.count(.refused)
        return .answered(status: refusal.status)
    }

    func serve(
        _ message: Message, from channel: inout ServerChannel, into writer: inout JSONWriter, sink: SinkMaker
    ) -> Disposition {
        if message.head.kind == .response { return take(response: message, channel, &writer) }
        let verdict: Classifier.Verdict
        do {
            verdict = try Classifier.classify(message, claims: channel.claims, session: channel.session)
        } catch {
            report(refused: error.error, from: channel)
            return refuse(message, error, channel, &writer)
        }
        if message.head.kind == .notification { return take(message, verdict, channel, &writer) }
        let request = Request(
            message: message, verdict: verdict, channelID: channel.id,
            abilities: channel.session?.abilities ?? [], trace: nil, caller: channel.caller)
        let registry = registry.current
        if let error = defect(of: request, registry) {
            report(refused: error, from: channel)
            return fail(request, error, &writer)
        }
        counters.count(.requests)
        guard isObserved else { return route(request, registry, &channel, &writer, sink) }
        return serveTraced(request, &channel, &writer) { request, channel, writer in
            route(request, registry, &channel, &writer, sink)
        }
    }

    /// Returns the reason why a request cannot be served at all.
    @inline(__always)
    private func defect(of request: Request, _ registry: Registry) -> MCPError? {
        let (message, verdict) = (request.message, request.verdict)
        if verdict.entry.flags.contains(.notification) { return .methodNotFound(message.method) }
        if inFlight.count > 0, isDuplicate(request) {
            return .invalidRequest("A request with this id is being served")
        }
        if verdict.entry.flags.contains(.needsParams), !message.head.params.isPresent {
            return .invalidParams("\(message.method) needs params")
        }
        if message.head.metaLogLevel.isPresent, verdict.isModern, let error = badLogLevel(message) {
            return error
        }
        return offers(verdict.entry.capability, registry) ? nil : .methodNotFound(message.method)
    }

    private func route(
        _ request: Request, _ registry: Registry, _ channel: inout ServerChannel, _ writer: inout JSONWriter,
        _ sink: SinkMaker
    ) -> Disposition {
        switch request.verdict.entry.method {
        case .toolsCall: callTool(request, registry, channel.claims, &writer, sink)
        case .toolsList, .promptsList, .resourceTemplatesList:
            list(request, registry.view(of: request.caller), &writer, sink)
        case .resourcesList: listResources(request, registry.view(of: request.caller), &writer, sink)
        case .resourcesRead: readResource(request, registry, &writer, sink)
        case .promptsGet: getPrompt(request, registry, &writer, sink)
        case .discover: discover(request, registry, &writer)
        case .initialize: initialize(request, registry, &channel, &writer)
        case .ping: pong(request, &writer)
        case .complete: complete(request, registry, &writer, sink)
        case .setLevel: setLevel(request, &writer)
        case .listen: listen(request, registry, &writer, sink)
        case .subscribe: subscribe(request, registry, &writer, sink)
        case .unsubscribe: unsubscribe(request, &writer)
        case .tasksGet, .tasksUpdate, .tasksCancel: serveTask(request, &writer, sink)
        case .initialized, .cancelled, .rootsListChanged: .accepted
        }
    }

    private func offers(_ capability: MethodEntry.Capability, _ registry: Registry) -> Bool {
        switch capability {
        case .none: true
        case .tools: registry.offersTools
        case .resources: registry.offersResources
        case .prompts: registry.offersPrompts
        case .completions: registry.offersCompletions
        case .tasks: tasks != nil
        case .changes:
            registry.offersTools || registry.offersPrompts || registry.offersResources || tasks != nil
        }
    }

    // MARK: Refusing

    private func refuse(
        _ message: Message, _ refusal: Refusal, _ channel: ServerChannel, _ writer: inout JSONWriter
    ) -> Disposition {
        // A notification is never answered (JRPC-15); over HTTP, only the status shows that it was refused.
        if message.head.kind == .notification {
            counters.count(.refused)
            return channel.claims == nil || refusal.error.code == MCPError.methodNotFoundCode
                ? .accepted : refuse(refusal, id: nil, session: channel.session, &writer)
        }
        // The id of a malformed response is one of ours. To the client it may be that of another request.
        let head = message.head
        let isResponse = !head.method.isPresent && (head.result.isPresent || head.error.isPresent)
        let id = head.id.isPresent && !isResponse ? message.bytes[head.id.range] : nil
        return refuse(refusal, id: id, session: channel.session, &writer)
    }

    /// Answers a request with an error in the form of the request's revision.
    func fail(_ request: Request, _ error: MCPError, _ writer: inout JSONWriter) -> Disposition {
        counters.count(.refused)
        ResultEnvelope.error(error, id: request.idBytes, to: &writer, for: request.revision)
        if let scopes = error.requiredScopes, let caller = request.caller {
            caller.lacks(scopes)
            audit(request, reason: "needs the scopes \(scopes.joined(separator: " "))")
            return .answered(status: 403)
        }
        guard request.verdict.isModern else { return .answered(status: 200) }
        return .answered(status: Refusal.status(for: error.code))
    }

    private func isDuplicate(_ request: Request) -> Bool {
        guard let id = request.message.id else { return false }
        return inFlight.contains(.init(channelID: request.channelID, id: id))
    }

    // MARK: Notifications

    private func take(
        _ message: Message, _ verdict: Classifier.Verdict, _ channel: ServerChannel,
        _ writer: inout JSONWriter
    ) -> Disposition {
        counters.count(.notifications)
        if verdict.entry.method == .cancelled, let raw = message.params?["requestId"],
            let id = RequestID(raw)
        {
            // Unknown, finished and malformed ids are ignored (CANC-04).
            if inFlight.entry(at: .init(channelID: channel.id, id: id))?.cancel() == true {
                counters.count(.cancelled)
            }
        }
        return .accepted
    }

    // MARK: Deferring

    /// Runs `body` as a task and sends the response that it returns; nil when the request has
    /// already been answered.
    func `defer`(
        _ request: Request, timeout: Duration?, isEndless: Bool = false, tool: ToolEntry? = nil,
        _ writer: inout JSONWriter, _ sink: SinkMaker,
        _ body: @escaping @Sendable (DeferredCall) async -> Answer?
    ) -> Disposition {
        guard let id = request.message.id else { return fail(request, .invalidRequest("Bad id"), &writer) }
        let retry: InputRetry?
        do {
            retry = try self.retry(of: request)
        } catch {
            return fail(request, error, &writer)
        }
        let sink = sink()
        guard sink.hasRoom else { return fail(request, .crowded, &writer) }
        let limit = timeout ?? options.limits.requestDeadline
        let token = request.message.raw(request.message.head.progressToken)
        let exchange = PendingRequest(
            key: .init(channelID: request.channelID, id: id), revision: request.revision,
            progressToken: token.flatMap { RequestID($0) == nil ? nil : $0 },
            deadline: isEndless ? .max : (clock.now + limit).nanoseconds, sink: sink,
            trace: request.trace)
        switch inFlight.insert(exchange, at: exchange.key, limit: options.limits.maxRequestsInFlight) {
        case .duplicate:
            return fail(request, .invalidRequest("A request with this id is being served"), &writer)
        case .full:
            return fail(
                request,
                MCPError(
                    code: MCPError.overloadedCode,
                    message: "Too many requests in flight on this connection; try again later"),
                &writer)
        case nil: break
        }
        do {
            try begin(retry, of: request)
        } catch {
            inFlight.remove(exchange.key)
            return fail(request, error, &writer)
        }
        deadlines.watch(exchange)
        let call = DeferredCall(request, exchange, self, retry: retry, tool: tool)
        let task = Task(executorPreference: exchange.executor) { [self] in
            if let shared = self.shared, let chain = retry?.sealed?.chain {
                await settle(call, in: chain, claimedIn: shared, body)
            } else if let first = await body(call) {
                settle(call, first)
            }
        }
        call.attach(task)
        return .deferred(exchange)
    }

    /// Sends the response that the handler returned. Kept out of the task, which has memory for everything in
    /// it while the handler runs.
    @inline(never)
    func settle(_ call: DeferredCall, _ first: Answer) { finish(call, conclude(call, first)) }

    /// Sends the response of a call that is concluded. Returns whether it could be sent.
    @discardableResult
    func finish(_ call: DeferredCall, _ answer: Answer) -> Bool {
        call.sayWhatWasNotLogged()
        inFlight.remove(call.exchange.key)
        if call.exchange.finish(answer) { return true }
        counters.count(.lateResults)
        reopen(call)
        return false
    }

    /// Returns the response that `write` produces.
    func answer(_ write: (inout JSONWriter) throws -> Disposition) rethrows -> Answer {
        var writer = JSONWriter()
        guard case .answered(let status) = try write(&writer) else {
            return Answer(bytes: ByteSlice(), status: 500)
        }
        return Answer(bytes: writer.finish(), status: status)
    }

    func log(_ line: @autoclosure () -> String) {
        if let log = options.log { log(line()) }
    }

    var noArguments: RawJSON { emptyArguments }
}
