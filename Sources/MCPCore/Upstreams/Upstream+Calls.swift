/// Requests of callers, passed on to the server.
extension Upstream {
    /// The most rounds of questions of one call.
    private static let maxRounds = 10

    /// Passes a request on and returns the result as the server sent it, with the revision of its connection.
    ///
    /// Progress, log messages and questions reach the caller in its own revision; when the caller leaves, the
    /// server is told.
    /// - Throws: the `MCPError` with which the server refuses; `UpstreamFailure` when it did not answer;
    ///   `CancellationError` when the caller left.
    func forward(
        _ method: String, _ params: JSONObject, _ context: RequestContext
    ) async throws -> ForwardedResult {
        count(failed: false)
        do {
            let link = try link(for: options.isPerPrincipal ? context.principalKey : "")
            let caller = UpstreamSlots.Caller(
                key: context.callerKey, isPrincipal: !context.principalKey.isEmpty)
            try await link.slots.enter(caller)
            defer { link.slots.leave(caller) }
            return try await forward(method, params, context, over: link.connection)
        } catch let error as ClientError where error.kind == .cancelled {
            throw CancellationError()
        } catch let error as ClientError {
            count(failed: true)
            throw UpstreamFailure(name, error, hiding: secrets)
        } catch let failure as UpstreamFailure {
            count(failed: true)
            throw failure
        } catch let error as MCPError {
            throw secrets.mask(error).forwarded(from: name)
        }
    }

    private func forward(
        _ method: String, _ params: JSONObject, _ context: RequestContext, over link: UpstreamLink
    ) async throws -> ForwardedResult {
        for attempt in 0 ... 1 {
            let client = try await link.acquire()
            defer { link.release() }
            do {
                let result = try await exchange(method, params, context, client, link)
                link.wasAnswered()
                let revision = client.connection.profile?.revision ?? .newestLegacy
                return ForwardedResult(json: secrets.mask(failed: result), revision: revision)
            } catch let error as ClientError where error.isUnsent && attempt == 0 {
                // The connection ended before the request; the next one is tried once.
                if let end = client.connection.endOfConnection { link.ended(client, end) }
            } catch let error as ClientError {
                switch error.kind {
                case .cannotConnect: link.drop(client, error)
                case .timeout: link.wasSilent(client, error)
                default: break
                }
                throw error
            } catch let error as MCPError {
                link.wasAnswered()
                throw error
            }
        }
        throw UpstreamFailure("\(name): the connection ended twice before the request was sent")
    }

    private func exchange(
        _ method: String, _ params: JSONObject, _ context: RequestContext, _ client: MCPClient,
        _ link: UpstreamLink
    ) async throws -> RawJSON {
        var call = CallOptions(timeout: options.timeout, meta: context.forwardedMeta)
        if context.wantsProgress {
            call.onProgress = {
                link.wasAnswered()
                context.report($0)
            }
        }
        if let level = context.logLevel {
            call.logLevel = level
            call.onLog = { context.report($0) }
        }
        guard client.protocolVersion.isModern else {
            if options.isPerPrincipal { return try await hold(method, params, call, context, client) }
            return try await client.requestOnce(method, params, call)
        }
        call.capabilities = context.clientCapabilities.forwarded
        return try await rounds(method, params, call, context, client)
    }

    // MARK: Questions of servers of 2026-07-28

    /// Follows the rounds of questions: each of the server's rounds becomes a round of the caller.
    private func rounds(
        _ method: String, _ params: JSONObject, _ call: CallOptions, _ context: RequestContext,
        _ client: MCPClient
    ) async throws -> RawJSON {
        var next = params
        var round = 0
        if let kept = context.state?[Self.stateKey] {
            // The caller's answers: the server continues with the round that it asked in.
            round = kept["round"]?.intValue ?? 0
            next = try await answered(params, kept, round, context)
        }
        var hasBegun = false
        while round <= Self.maxRounds {
            let result: RawJSON
            do {
                result = try await client.requestOnce(method, next, call)
            } catch let error as ClientError where hasBegun && error.isUnsent {
                throw error.inLaterRound(of: method)
            }
            hasBegun = true
            switch try client.kind(of: result, method) {
            case .complete: return result
            case .task: return try await TaskFollower(client: client, options: call).follow(result, nil)
            case .inputRequired:
                round += 1
                var kept: JSONObject = ["round": .number(JSONNumber(round))]
                if let requests = result["inputRequests"]?.value { kept["requests"] = requests }
                if let state = result["requestState"]?.value { kept["state"] = state }
                next = try await answered(params, .object(kept), round, context)
                if result["inputRequests"] == nil { try await Task.pause(for: .milliseconds(200)) }
            }
        }
        throw MCPError.internalError("\(name) still asks after \(Self.maxRounds) rounds")
    }

    private static let stateKey = "upstream"

    /// Asks the caller what the server asks, and returns the params of the next round.
    private func answered(
        _ params: JSONObject, _ kept: JSONValue, _ round: Int, _ context: RequestContext
    ) async throws -> JSONObject {
        var next = params
        if case .object(let entries)? = kept["requests"] {
            var questions: [String: InputRequest] = [:]
            for (key, json) in entries {
                do {
                    questions["\(round).\(key)"] = try InputRequest(json: json)
                } catch {
                    throw MCPError.internalError("\(name) asks a malformed question: \(error)")
                }
            }
            let answers = try await context.ask(questions, state: [Self.stateKey: kept])
            var responses = JSONObject()
            for (key, _) in entries { responses[key] = answers["\(round).\(key)"] }
            next["inputResponses"] = .object(responses)
        }
        if let state = kept["state"] { next["requestState"] = state }
        return next
    }

    // MARK: Questions of servers before 2026-07-28

    /// Makes a call during which the server may ask the caller.
    private func hold(
        _ method: String, _ params: JSONObject, _ call: CallOptions, _ context: RequestContext,
        _ client: MCPClient
    ) async throws -> RawJSON {
        let key = context.state?[Self.stateKey]?["held"]?.stringValue
        let exchange: HeldExchange
        if let key {
            guard let kept = held.take(key) else {
                throw MCPError.internalError(
                    "\(name) no longer waits for this answer; call again from the beginning")
            }
            exchange = kept
        } else {
            exchange = HeldExchange { exchange in
                var call = call
                call.onInput = { try await exchange.ask($0) }
                return try await client.requestOnce(method, params, call)
            }
        }
        return try await withTaskCancellationHandler {
            while true {
                switch await exchange.next() {
                case .end(let result): return try result.get()
                case .question(let question):
                    try await pass(question, of: exchange, to: context)
                }
            }
        } onCancel: {
            if !exchange.isHeld { exchange.cancel() }
        }
    }

    private func pass(
        _ question: HeldExchange.Question, of exchange: HeldExchange, to context: RequestContext
    ) async throws {
        // A caller of 2026-07-28 answers with its next request, for which the server waits.
        let key = context.protocolVersion.isModern ? held.keep(exchange) : ""
        do {
            let answers = try await context.ask(
                [question.key: question.request], state: [Self.stateKey: ["held": .string(key)]])
            if !key.isEmpty { _ = held.take(key) }
            question.answer.finish(.success(answers[question.key] ?? .null))
        } catch let pending as InputPending {
            throw pending
        } catch {
            if !key.isEmpty { _ = held.take(key) }
            guard error as? MCPError != nil || error is ToolError else {
                exchange.cancel()
                throw error
            }
            // The server decides what a question without an answer means.
            let refusal = error as? MCPError ?? .invalidRequest("The caller cannot be asked")
            question.answer.finish(.failure(refusal))
        }
    }
}

extension RequestContext {
    /// The key of the caller's principal; empty without authorization.
    var principalKey: String { caller?.identity.key ?? "" }

    /// The lowest level of log messages that the caller receives; nil for none.
    fileprivate var logLevel: LoggingLevel? { call?.logLevel }

    /// The members of the request's `_meta` that are not about its connection, such as `traceparent`.
    fileprivate var forwardedMeta: JSONObject {
        guard let meta else { return [:] }
        var kept: JSONObject = [:]
        meta.forEachMember { key, value in
            // Most are of the protocol, and need not become strings.
            if key.bytes.hasPrefix("\"io.modelcontextprotocol/") { return }
            guard let key = key.string, key != "progressToken", !key.hasPrefix("io.modelcontextprotocol/")
            else { return }
            kept[key] = value.value
        }
        return kept
    }
}

extension ClientCapabilities {
    /// The capabilities of the caller that hold for the server behind this one as well.
    fileprivate var forwarded: ClientCapabilities {
        ClientCapabilities(
            roots: hasRoots, sampling: hasSampling, samplingTools: hasSamplingTools,
            elicitation: hasElicitation, elicitationURL: hasElicitationURL, extensions: extensions
        ).adding([ClientOptions.tasksExtension: [:]])
    }
}

extension MCPError {
    /// Returns the error as callers may see it: codes about the connection between this server and the other
    /// one would mislead them.
    fileprivate func forwarded(from server: String) -> MCPError {
        let own: Set<Int> = [
            Self.parseErrorCode, Self.invalidRequestCode, Self.methodNotFoundCode, Self.headerMismatchCode,
            Self.unsupportedProtocolVersionCode, Self.insufficientScopeCode, 401,
        ]
        guard own.contains(code), requiredScopes == nil else { return self }
        return .internalError("\(server) refused the request: \(message) (\(code))")
    }
}
