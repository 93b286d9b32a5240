/// Questions of servers to callers.
extension Upstream {
    /// The most rounds of questions of one call.
    private static let maxRounds = 10

    // MARK: Questions of servers of 2026-07-28

    /// Follows the rounds of questions: each of the server's rounds becomes a round of the caller.
    func rounds(
        _ method: String, _ params: JSONObject, _ call: CallOptions, _ context: RequestContext,
        _ client: MCPClient, _ link: Link
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
            case .task:
                return try await hold(call, context, client, link) { call in
                    try await TaskFollower(client: client, options: call).follow(result, nil)
                }
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

    // MARK: Questions of servers before 2026-07-28, and of tasks

    /// Waits for a result during which the server may ask the caller.
    func hold(
        _ call: CallOptions, _ context: RequestContext, _ client: MCPClient, _ link: Link,
        _ result: @escaping @Sendable (CallOptions) async throws -> RawJSON
    ) async throws -> RawJSON {
        let exchange = HeldExchange(of: context.callerKey, at: link, client) { exchange in
            var call = call
            call.onInput = { try await exchange.ask($0) }
            return try await result(call)
        }
        return try await follow(exchange, context)
    }

    /// Returns the call that the request of a caller answers a question of; nil for any other request.
    func heldExchange(_ context: RequestContext) throws -> HeldExchange? {
        guard let key = heldKey(context) else { return nil }
        guard let exchange = held.find(key) else { throw noLongerWaits }
        return exchange
    }

    private func heldKey(_ context: RequestContext) -> String? {
        context.state?[Self.stateKey]?["held"]?.stringValue
    }

    private var noLongerWaits: MCPError {
        .internalError("\(name) no longer waits for this answer; call again from the beginning")
    }

    /// Continues a call with the answer of its caller, at the connection where it was begun.
    func resume(_ exchange: HeldExchange, _ context: RequestContext) async throws -> ForwardedResult {
        // Another request may have answered while this one waited for its turn.
        guard let key = heldKey(context), held.take(key) === exchange else { throw noLongerWaits }
        let connection = exchange.link.connection
        connection.rejoin()
        defer { connection.release() }
        do {
            let result = try await follow(exchange, context)
            connection.wasAnswered()
            return forwarded(result, from: exchange.client, over: exchange.link)
        } catch {
            connection.note(error, of: exchange.client)
            throw error
        }
    }

    /// Passes the questions of a call to its caller, up to its end.
    private func follow(_ exchange: HeldExchange, _ context: RequestContext) async throws -> RawJSON {
        try await withTaskCancellationHandler {
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
        // Callers without a principal share a connection: one session does not take all of its places.
        let isCounted = !context.protocolVersion.isModern && context.principalKey.isEmpty
        if isCounted, !held.beginAsking(exchange) {
            let text = "The caller cannot be asked: too many questions wait for answers"
            question.answer.finish(.failure(MCPError.invalidRequest(text)))
            return
        }
        defer { if isCounted { held.endAsking(exchange) } }
        // A caller of 2026-07-28 answers with its next request, for which the server waits.
        guard let key = context.protocolVersion.isModern ? held.keep(exchange) : "" else {
            let text = "The caller cannot be asked: \(name) was removed"
            question.answer.finish(.failure(MCPError.invalidRequest(text)))
            return
        }
        do {
            let answer = try await ask(question, [Self.stateKey: ["held": .string(key)]], context)
            if !key.isEmpty { _ = held.take(key) }
            if let answer { question.answer.finish(.success(answer)) }
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

    /// Asks a caller, whose session may take any time. A question that needs no answer any more, because the
    /// server took it back or the call has ended, is withdrawn.
    ///
    /// - Returns: nil for a question that was withdrawn.
    private func ask(
        _ question: HeldExchange.Question, _ kept: JSONValue, _ context: RequestContext
    ) async throws -> JSONValue? {
        try await withThrowingTaskGroup(of: Result<InputResponses, any Error>?.self) { group in
            group.addTask {
                do {
                    return .success(try await context.ask([question.key: question.request], state: kept))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                _ = await question.answer.value(ifCancelled: .success(.null))
                return nil
            }
            for try await outcome in group {
                group.cancelAll()
                if let outcome { return try outcome.get()[question.key] ?? .null }
                // Without an answer, this caller's request has ended or may not wait.
                guard question.answer.isFinished else { continue }
                if case .failure(let pending as InputPending)?? = try await group.next() { throw pending }
                return nil
            }
            return nil
        }
    }
}
