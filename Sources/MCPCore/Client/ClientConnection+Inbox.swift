import Synchronization

extension ClientConnection: ClientInbox {
    /// The most bytes in a row that are not messages; more end the connection.
    static let maxUnreadableBytes = 1 << 20

    func receive(_ bytes: ByteSlice, exchange: Int64?, status: Int?) {
        trace(.received(bytes: bytes))
        receive(bytes, exchange: exchange, status: status, isElement: false)
    }

    private func receive(_ bytes: ByteSlice, exchange: Int64?, status: Int?, isElement: Bool) {
        let message: Message
        do {
            let limits = JSONLimits(maxDepth: JSONLimits.greatestDepth)
            message = try MessageScanner.scan(bytes, limits: limits)
        } catch {
            if take(damaged: bytes, error, exchange, status) { return }
            return unreadable(bytes, error.description)
        }
        if unreadableBytes.load(ordering: .relaxed) != 0 { unreadableBytes.store(0, ordering: .relaxed) }
        switch message.head.kind {
        case .response: answer(message, exchange, status)
        case .notification: notify(message, exchange)
        case .request: serverAsks(message, exchange)
        case .batch where !isElement && takesBatches:
            RawJSON(unchecked: bytes).elements?.forEach {
                receive($0.bytes, exchange: exchange, status: status, isElement: true)
            }
        case .batch: refuse(batch: bytes, exchange, status)
        case .invalid: malformed(message, exchange, status)
        }
    }

    /// Whether batches are accepted: only 2025-03-26 has them (JRPC-19).
    private var takesBatches: Bool { profile?.revision.has(.batches) ?? false }

    /// Ends the calls whose responses are in an array, which only 2025-03-26 permits. An array without any is
    /// not a message.
    private func refuse(batch bytes: ByteSlice, _ exchange: Int64?, _ status: Int?) {
        var isAnswer = false
        for element in pending.count > 0 ? RawJSON(unchecked: bytes).elements ?? [] : [] {
            let limits = JSONLimits(maxDepth: JSONLimits.greatestDepth)
            guard let message = try? MessageScanner.scan(element.bytes, limits: limits),
                message.head.kind == .response, let call = call(for: message, exchange, status)
            else { continue }
            isAnswer = true
            fail(call, bytes, "it is in an array, and only 2025-03-26 has batches", status)
        }
        if !isAnswer { unreadable(bytes, MessageHead.Defect.notAnObject.text) }
    }

    private func garbage(_ bytes: ByteSlice) {
        trace(.garbage(shortened(bytes, to: 1_000)))
    }

    /// Returns the beginning of a text, from which secrets are removed before it is cut.
    private func shortened(_ bytes: ByteSlice, to count: Int) -> String {
        ClientSecrets.shortened(bytes, to: count, options.secrets)
    }

    /// Records bytes that are not a message. The call that they were meant for is unknown, so every call that
    /// is waiting now mentions them if it times out.
    private func unreadable(_ bytes: ByteSlice, _ reason: String) {
        noteUnusable("something that is not a message: \(reason)", bytes)
        let total = unreadableBytes.add(bytes.count + 1, ordering: .relaxed).newValue
        garbage(bytes)
        guard total > Self.maxUnreadableBytes else { return }
        conclude(
            ClientError(
                .protocolViolation,
                "the server sent more than \(Self.maxUnreadableBytes >> 20) MiB that are not messages",
                details: ["\(reason): " + shortened(bytes, to: 80).cleaned(maxBytes: 80)],
                hint: "its standard output must carry messages only; its log belongs on standard error"))
        transport.shutDown()
    }

    /// Keeps what the server sent in vain, for the error of a call that is waiting now.
    private func noteUnusable(_ what: String, _ bytes: ByteSlice) {
        let excerpt = shortened(bytes, to: 100).cleaned(maxBytes: 100)
        let entry = Unreadable(
            text: "the server sent \(what): \(excerpt)", lastCall: pending.lastID)
        state.withLock { state in
            state.unreadable.removeAll { $0.text == entry.text }
            if state.unreadable.count == Unreadable.maxKept { state.unreadable.removeFirst() }
            state.unreadable.append(entry)
        }
    }

    /// Returns what the server sent in vain since a call began, for its error.
    func unreadableDetails(since call: Int64 = 0) -> [String] {
        state.withLock { $0.unreadable }.filter { $0.lastCall >= call }.map(\.text)
    }

    /// Handles a response that no call waits for: it is late, or its id is wrong. One whose id has the digits
    /// of a call, but is a string, ends that call.
    private func unexpected(_ message: Message, _ exchange: Int64?, _ status: Int?) {
        if case .string(let text)? = message.id?.key, let number = Int64(text), "\(number)" == text,
            let call = pending.call(number), exchange == nil || number == exchange
        {
            let reason = "its id is the string \"\(number)\", but the request has the number \(number)"
            return fail(call, message, reason, status)
        }
        garbage(message.bytes)
        guard let waiting = pending.all.map(\.id).min() else { return }
        let id = message.id.map { "the id \($0)" } ?? "no id"
        noteUnusable("a response with \(id), but the pending request has the id \(waiting)", message.bytes)
    }

    /// Handles an invalid message. One with the id of a call and without a method is a malformed response,
    /// and so is a result without an id when a single call waits.
    private func malformed(_ message: Message, _ exchange: Int64?, _ status: Int?) {
        let defect = message.head.defect
        var call: ClientCall?
        if let id = message.id {
            call = pending.call(id).flatMap { exchange == nil || $0.id == exchange ? $0 : nil }
        } else if defect == .badResponse {
            call = callOfNamelessResponse(exchange)
        }
        guard !message.head.method.isPresent, let call else {
            return unreadable(message.bytes, defect.text)
        }
        fail(call, message, defect.text, status)
    }

    /// Returns the call that a response without an id belongs to: that of the exchange or, on a shared
    /// channel, the only one that waits.
    ///
    /// Some servers answer notifications, with an error or a result that has no id. As many responses as
    /// notifications were sent right before the call are taken for such answers.
    private func callOfNamelessResponse(_ exchange: Int64?) -> ClientCall? {
        if let exchange { return pending.call(exchange) }
        guard let call = pending.only,
            !state.withLock({ $0.notifications.explainResponse(before: call.id) })
        else { return nil }
        return call
    }

    /// Ends a call whose response is malformed. An HTTP error status is more informative and is reported by
    /// the transport.
    private func fail(_ call: ClientCall, _ message: Message, _ reason: String, _ status: Int?) {
        fail(call, message.bytes, reason, status)
    }

    private func fail(_ call: ClientCall, _ bytes: ByteSlice, _ reason: String, _ status: Int?) {
        garbage(bytes)
        if let status, status >= 400 { return }
        let text = shortened(bytes, to: 200)
        var error = ClientError(
            .protocolViolation, "the response to \(call.method) is malformed: \(reason)",
            details: ["response: \(text)"])
        error.isMalformedAnswer = true
        finish(call, .failed(error))
    }

    /// Ends the call of a response that is not valid JSON. A list loses only the entries that
    /// cannot be read. Returns false if it belongs to no call.
    private func take(
        damaged bytes: ByteSlice, _ error: JSONError, _ exchange: Int64?, _ status: Int?
    ) -> Bool {
        guard pending.count > 0, let response = DamagedResponse(bytes), let call = pending.call(response.id),
            exchange == nil || call.id == exchange
        else { return false }
        guard call.method.hasSuffix("/list"), let remainder = response.remainder else {
            fail(call, bytes, error.description, status)
            return true
        }
        for text in response.omitted {
            trace(.warning("\(call.method): \(text)"))
            call.onOmission?(text)
        }
        call.onOmittedPlaces?(response.places)
        answer(remainder, exchange, status)
        return true
    }

    // MARK: Responses

    private func answer(_ message: Message, _ exchange: Int64?, _ status: Int?) {
        guard let call = call(for: message, exchange, status) else {
            return unexpected(message, exchange, status)
        }
        if let error = message.raw(message.head.error) {
            guard error.kind == .object else {
                return fail(call, message, "\"error\" must be an object", status)
            }
            // Some servers omit members; whatever is present is shown.
            let code = error["code"].map(\.int) ?? 0
            let text = error["message"].map(\.string) ?? ""
            guard let code else {
                return fail(call, message, "the code of the error must be an integer", status)
            }
            guard let text else {
                return fail(call, message, "the message of the error must be a string", status)
            }
            let refusal = MCPError(code: code, message: text, data: error["data"]?.value)
            return finish(call, .refused(refusal, status: status))
        }
        guard let result = message.raw(message.head.result), result.kind == .object else {
            return fail(call, message, "\"result\" must be an object", status)
        }
        finish(call, .result(result))
    }

    /// Returns the call that a response belongs to. A response on an HTTP exchange never ends the call of
    /// another exchange.
    private func call(for message: Message, _ exchange: Int64?, _ status: Int?) -> ClientCall? {
        let id = message.id
        let isError = message.head.error.isPresent
        guard let exchange else {
            if let id { return pending.call(id) }
            // The server could not read the id.
            return isError ? callOfNamelessResponse(nil) : nil
        }
        let own = pending.call(exchange)
        if case .integer(let number)? = id?.key, number == exchange { return own }
        // An error status belongs to this request, whatever id its error contains.
        let isRefusal = isError && (id == nil || (status ?? 0) >= 400)
        return isRefusal ? own : nil
    }

    // MARK: Notifications

    private func notify(_ message: Message, _ exchange: Int64?) {
        let method = message.method
        let params = message.params
        switch method {
        case "notifications/progress": progress(message)
        case "notifications/message": log(message, exchange)
        case "notifications/cancelled": cancelled(params)
        default:
            let change = ServerChange(method, params)
            // Before any listener is notified and requests the data again (CACHE-10).
            if let change { changed(change) }
            if let listener = listener(params) {
                listener(method, params)
            } else if let change {
                listeners.publish(change)
            }
        }
        if method != "notifications/progress" { options.onNotification?(method, params) }
    }

    private func progress(_ message: Message) {
        guard let params = message.params, let token = params["progressToken"].flatMap(RequestID.init),
            let call = pending.call(token), let progress = ProgressReport(params: params)
        else { return garbage(message.bytes) }
        call.report(options.secrets?.mask(progress) ?? progress, now: clock.now)
    }

    /// Delivers a log message. On an HTTP exchange it belongs to the request; on a shared channel its call is
    /// unknown (STDIO-10).
    private func log(_ message: Message, _ exchange: Int64?) {
        guard let json = message.params?.value, let received = try? LogMessage(json: json) else {
            return garbage(message.bytes)
        }
        let entry = options.secrets?.mask(received) ?? received
        let own = exchange.flatMap { pending.call($0)?.onLog }
        if let own { own(entry) } else { options.onLog?(entry) }
    }

    /// Returns the receiver of a subscription's notifications, by the subscription id with its JSON type
    /// (STDIO-09, AMB-10).
    private func listener(_ params: RawJSON?) -> (@Sendable (String, RawJSON?) -> Void)? {
        params?["_meta"]?["io.modelcontextprotocol/subscriptionId"].flatMap(RequestID.init)
            .flatMap { pending.call($0)?.onNotification }
    }

    /// Handles a server that withdraws a request, or that ends a subscription in a way that one passage of
    /// the specification calls for (AMB-1).
    private func cancelled(_ params: RawJSON?) {
        guard let id = params?["requestId"].flatMap(RequestID.init) else { return }
        if let call = pending.call(id), call.onNotification != nil {
            return finish(call, .result(RawJSON(unchecked: ByteSlice("{}"))))
        }
        serverRequests.cancel(id)
    }

    // MARK: Requests from the server

    /// Handles a request from the server. Servers may send them before 2026-07-28; since then a request is a
    /// violation (JRPC-16).
    private func serverAsks(_ message: Message, _ exchange: Int64?) {
        let method = message.method
        let speech = state.withLock { $0.speech }
        guard let id = message.id, speech?.isModern != true else { return garbage(message.bytes) }
        if speech == nil, method == "server/discover" || method == "initialize" {
            return connectionClosed(
                ClientError(
                    .protocolViolation, "the program echoes requests; it is not an MCP server",
                    hint: "name a program that speaks MCP on stdin and stdout"))
        }
        let revision = speech?.headerRevision ?? .newestLegacy
        let params = message.params?.value ?? [:]
        let send: @Sendable (Result<JSONValue, MCPError>) async -> Void = { [self] outcome in
            let bytes = MessageEncoder.answer(id, outcome)
            trace(.sent(method: "", bytes: bytes))
            var message = outbound(bytes, "", speech ?? .opening(.newestLegacy))
            message.mustBeTaken = true
            do throws(ClientError) {
                try await transport.post(message)
            } catch {
                // All calls are notified if the connection has ended; a person who has answered is told.
                guard method == "elicitation/create", case .success = outcome else { return }
                options.onLostAnswer?(options.secrets?.mask(error) ?? error)
            }
        }
        let call = asking(exchange)
        let owner = call.flatMap { Self.methodsThatAsk.contains($0.method) ? $0.id : nil }
        let admission = serverRequests.run(id, call: exchange, owner: owner) { [self] in
            let outcome = await outcome(of: method, id, params, revision, call)
            if !Task.isCancelled || serverRequests.isLate(id) { await send(outcome) }
        }
        switch admission {
        case .runs:
            // The call can have ended since it was looked up.
            if let owner, !isWaiting(owner) { serverRequests.end(with: owner) }
        case .isKnown: garbage(message.bytes)
        case .tooMany:
            let error = MCPError(
                code: MCPError.overloadedCode, message: "Too many requests wait for an answer of this client")
            if !serverRequests.refuse({ await send(.failure(error)) }) { garbage(message.bytes) }
        }
    }

    /// The requests during which servers ask (MCP 2026-07-28, multi round-trip requests).
    private static let methodsThatAsk: Set<String> = ["tools/call", "prompts/get", "resources/read"]

    private func outcome(
        of method: String, _ id: RequestID, _ params: JSONValue, _ revision: Revision, _ call: ClientCall?
    ) async -> Result<JSONValue, MCPError> {
        if method == "ping" { return .success([:]) }
        guard ["elicitation/create", "sampling/createMessage", "roots/list"].contains(method) else {
            return .failure(.methodNotFound(method))
        }
        call?.questionBegins()
        defer { call?.questionEnds() }
        do {
            let request = try InputRequest(method: method, params: params)
            let handlers = InputHandlers(options: options, ofCall: call?.onInput)
            serverRequests.setHandled(id, handlers.canAnswer(request))
            defer { serverRequests.setHandled(id, false) }
            return .success(try await handlers.answer(request, for: revision))
        } catch let error as JSONError {
            return .failure(.invalidParams("\(method): \(error)"))
        } catch {
            return .failure(error as? MCPError ?? .internalError())
        }
    }

    /// Returns the call that a question of the server belongs to. On a shared channel it is known only if no
    /// other call is pending. Where all are of one person, those that wait for an answer do not count.
    private func asking(_ exchange: Int64?) -> ClientCall? {
        if let call = exchange.flatMap({ pending.call($0) }) ?? pending.only { return call }
        guard options.isOfOnePerson else { return nil }
        let others = pending.all.filter { !$0.isAsking }
        return others.count == 1 ? others[0] : nil
    }

    // MARK: Failures

    func isWaiting(_ id: Int64) -> Bool { pending.call(id) != nil }

    func fail(_ id: Int64, _ error: ClientError) {
        if let call = pending.call(id) { finish(call, .failed(error)) }
    }

    func failAll(_ error: ClientError) {
        for call in pending.all { finish(call, .failed(error)) }
    }

    func serverStreamRefused(_ error: ClientError) {
        endOutage()
        listeners.endThoseThatNeedAStream(error)
    }

    func messagesMayBeLost() {
        // Since 2026-07-28 changes come on the streams of subscriptions alone.
        guard speech?.isModern == false else { return }
        changed(.resubscribed)
        listeners.publish(.resubscribed)
    }

    func serverStreamFailed(_ error: ClientError, attempts: Int) { noteOutage(error, attempts: attempts) }

    func serverStreamBegan() { endOutage() }

    func sessionLost() { renewSession() }

    func connectionClosed(_ error: ClientError) {
        // The negotiation decides whether a program that ended before an answer is started afresh.
        let isOpening = state.withLock { state in
            guard state.profile == nil, state.end == nil, transport.canRestart else { return false }
            state.endWhileOpening = error
            return true
        }
        if isOpening { return failAll(error) }
        // Over HTTP this is the end of a session, and those who wait for changes need another one.
        if transport.isHTTP, profile != nil, endOfConnection == nil, listeners.needStream {
            transport.loseSession()
            failAll(error)
            // Not at once: a server may end each stream as soon as it is open.
            return renewSession(after: .seconds(1))
        }
        if !restarts(after: error) { conclude(error) }
    }

    /// Ends the connection permanently.
    func conclude(_ error: ClientError) {
        let (restart, end, watchers) = state.withLock { state in
            let end = state.end ?? error
            state.end = end
            defer {
                state.restart = nil
                state.onEnd = []
            }
            return (state.restart, end, state.onEnd)
        }
        // Closed first, so that a call made right after the end fails with the same reason.
        let waiting = pending.close()
        restart?.finish(error)
        for call in waiting { finish(call, .failed(error)) }
        serverRequests.cancelAll()
        listeners.endAll(error)
        ended.happen()
        for tell in watchers { tell(end) }
    }

    /// Calls `tell` once, when the connection has ended permanently.
    func whenEnded(_ tell: @escaping @Sendable (ClientError) -> Void) {
        let end = state.withLock { state in
            if state.end == nil { state.onEnd.append(tell) }
            return state.end
        }
        if let end { tell(end) }
    }
}
