import Synchronization

/// Calls that take several round trips: input requests from the server (basic/patterns/mrtr), and tasks.
extension MCPClient {
    /// The methods whose response may be a request for input (MRTR-01, MRTR-02).
    private static var methodsWithRounds: Set<String> { ["tools/call", "prompts/get", "resources/read"] }

    /// Sends any request and returns the result object exactly as received.
    ///
    /// Input that the server requests is provided by the handlers of the options, and the request is sent
    /// again; a call that becomes a task is followed to its end. The server may cause both more than once: a
    /// handler runs once per question, and the effects of the tool are up to the server.
    /// - Parameters:
    ///   - method: the JSON-RPC method, for example `tools/list`.
    ///   - params: its parameters; members that the protocol needs are added to `_meta`.
    ///   - options: time limits and progress.
    /// - Throws: `MCPError` when the server returns an error; `ClientError` when there was no usable
    ///   response.
    public func request(
        _ method: String, _ params: JSONObject = [:], options: CallOptions = CallOptions()
    ) async throws -> RawJSON {
        let limit = options.deadline.map { connection.clock.now + $0 }
        var options = options
        var current = params
        var hasBegun = false
        do {
            for round in 0 ... max(0, connection.options.maxRounds) {
                if let limit { options.deadline = max(.zero, limit - connection.clock.now) }
                let result = try await requestOnce(method, current, options)
                hasBegun = true
                switch try kind(of: result, method) {
                case .complete: return result
                case .task:
                    return try await TaskFollower(client: self, options: options).follow(result, limit)
                case .inputRequired:
                    guard round < connection.options.maxRounds else {
                        throw Self.inputRequired(
                            "\(method) still requests input after \(round) rounds", result)
                    }
                    current = try await nextRound(method, params, result)
                    // A server that only asks for a retry must not be called in a tight loop.
                    if result["inputRequests"] == nil { try await pause(round) }
                }
            }
        } catch is CancellationError {
            throw ClientError(.cancelled, "the call to \(method) was cancelled between two messages")
        } catch let error as ClientError where hasBegun && error.isUnsent {
            throw error.inLaterRound(of: method)
        }
        throw ClientError(.protocolViolation, "\(method) has no result")
    }

    /// Sends a request once: a result may be a request for input, or a task.
    func requestOnce(
        _ method: String, _ params: JSONObject, _ options: CallOptions
    ) async throws -> RawJSON {
        if connection.options.authorizer != nil, connection.transport.adoptsOtherIdentity() {
            connection.identityChanged()
        }
        let key = cacheKey(method, params, options)
        if let key, options.usesCache, let kept = connection.cache.result(for: key) {
            if kept.isRestored, method == "tools/list" { learn(kept.result, params) }
            connection.reused.add(1, ordering: .relaxed)
            return kept.result
        }
        let ticket = key.map(connection.cache.ticket)
        var reply = await connection.call(method, params, options)
        if case .refused(let error, _) = reply, error.code == MCPError.headerMismatchCode,
            await learnsOtherHeaders(method, params, options)
        {
            reply = await connection.call(method, params, options)
        }
        switch reply {
        case .result(let result):
            if let ticket, try kind(of: result, method) == .complete {
                connection.cache.keep(result, ticket)
            }
            if method == "tools/list" { learn(result, params) }
            return result
        case .refused(let error, _): throw error
        case .failed(let error): throw error
        }
    }

    private func learn(_ page: RawJSON, _ params: JSONObject) {
        connection.tools.learn(
            page, isFirst: params["cursor"] == nil, mirrors: connection.mirrorsArguments(connection.speech))
    }

    /// Returns the cache key of a request; nil if its response is not cached. A closed client returns nothing
    /// from the cache.
    private func cacheKey(
        _ method: String, _ params: JSONObject, _ options: CallOptions
    ) -> ResultCache.Key? {
        guard method != "tools/call", connection.options.cache, protocolVersion.isModern,
            options.meta.isEmpty,
            connection.endOfConnection == nil
        else { return nil }
        return ResultCache.Key(method, params)
    }

    /// Lists the tools again after the server reported a missing header. Returns true when the call would now
    /// have different headers (HDR-26).
    private func learnsOtherHeaders(
        _ method: String, _ params: JSONObject, _ options: CallOptions
    ) async -> Bool {
        guard method == "tools/call", connection.mirrorsArguments(connection.speech) else { return false }
        let before = connection.tools.fields(for: params)
        var options = CallOptions(timeout: options.timeout, deadline: options.deadline)
        options.usesCache = false
        guard (try? await pages("tools/list", "tools", options).collect() as [Tool]) != nil else {
            return false
        }
        return !connection.tools.fields(for: params).elementsEqual(before, by: ==)
    }

    /// The kind of a result.
    enum Kind { case complete, inputRequired, task }

    /// Returns the kind of a result (JRPC-07, JRPC-08): no `resultType` means `complete`, and an unknown one
    /// is not a valid response.
    func kind(of result: RawJSON, _ method: String) throws(ClientError) -> Kind {
        guard connection.speech?.isModern == true, let type = result["resultType"] else { return .complete }
        switch type.string {
        case "complete": return .complete
        case "input_required" where Self.methodsWithRounds.contains(method): return .inputRequired
        case "task" where method == "tools/call" && connection.options.followsTasks: return .task
        // Declared by a caller who follows the task on its own.
        case "task" where connection.options.extensions[ClientOptions.tasksExtension] != nil: return .complete
        default:
            throw ClientError(
                .protocolViolation, "unexpected resultType \(type) in the response to \(method)")
        }
    }

    private func pause(_ round: Int) async throws {
        try await Task.pause(for: .milliseconds(min(2_000, 50 << min(round, 6))))
    }

    // MARK: Input requests

    /// The maximum number of input requests in one result.
    static var maxInputRequests: Int { 100 }

    /// Returns the params of the retry: the original ones, the answers under the same keys, and the state
    /// byte for byte (MRTR-14, MRTR-16).
    private func nextRound(
        _ method: String, _ params: JSONObject, _ result: RawJSON
    ) async throws -> JSONObject {
        var next = params
        if let requests = result["inputRequests"] {
            next["inputResponses"] = .object(try await answers(to: requests, in: result, method))
        }
        if let state = result["requestState"] {
            guard state.string != nil else {
                throw ClientError(.protocolViolation, "\(method) has a requestState that is not a string")
            }
            next["requestState"] = state.value
        }
        guard result["inputRequests"] != nil || result["requestState"] != nil else {
            throw ClientError(.protocolViolation, "\(method) requests input but does not specify it")
        }
        return next
    }

    /// Returns all answers, or fails: the server would ask again for any that are missing from a retry
    /// (MRTR-13).
    func answers(
        to requests: RawJSON, in result: RawJSON, _ method: String,
        ofCall handler: (@Sendable (InputRequest) async throws -> JSONValue)? = nil
    ) async throws -> JSONObject {
        guard case .object(let entries) = requests.value else {
            throw ClientError(.protocolViolation, "\(method) has inputRequests that are not an object")
        }
        guard entries.count <= Self.maxInputRequests else {
            throw ClientError(
                .protocolViolation,
                "\(method) has \(entries.count) input requests at once; \(Self.maxInputRequests) are allowed")
        }
        let handlers = InputHandlers(options: connection.options, ofCall: handler)
        var answers = JSONObject()
        for (key, json) in entries {
            let request: InputRequest
            do {
                request = try InputRequest(json: json)
            } catch {
                throw ClientError(
                    .protocolViolation, "\(method) has a malformed input request \"\(key)\"",
                    details: ["\(error)"])
            }
            do {
                answers[key] = try await handlers.answer(request, for: .newest)
            } catch {
                try Task.checkCancellation()
                // Nothing is sent: the call ends here (MRTR-18, AMB-16).
                var failure = Self.inputRequired(
                    "\(method) requires input that cannot be provided: \(error.message)", result)
                failure.details = ["requested: \(request.method)"]
                throw failure
            }
            try Task.checkCancellation()
        }
        return answers
    }

    static func inputRequired(_ text: String, _ result: RawJSON) -> ClientError {
        ClientError(.inputRequired, text, result: result)
    }
}
