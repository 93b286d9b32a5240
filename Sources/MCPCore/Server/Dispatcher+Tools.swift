import Dispatch

extension Dispatcher {
    /// Serves `tools/call` (server/tools "Calling Tools").
    func callTool(
        _ request: Request, _ registry: Registry, _ claims: HeaderClaims?, _ writer: inout JSONWriter,
        _ sink: SinkMaker
    ) -> Disposition {
        let head = request.message.head
        let bytes = request.message.bytes
        guard head.name.isPresent, bytes[Int(head.name.start)] == UInt8(ascii: "\"") else {
            return fail(request, .invalidParams("tools/call needs \"name\", a string"), &writer)
        }
        guard let entry = registry.tool(named: bytes[head.name.range]) else {
            // Also when they are over: the tool may have arrived after this registry was taken.
            if let arrivals = registry.contents.arrivals {
                return callTool(request, after: arrivals, &writer, sink)
            }
            let name = request.message.raw(head.name)?.string ?? ""
            return fail(request, .invalidParams("Unknown tool: \(name)"), &writer)
        }
        if let error = refusal(request, on: entry) {
            return fail(request, error, &writer)
        }
        // Table 2, steps 13 and 14.
        if entry.taskSupport == .required, request.verdict.isModern, !request.declaresTasks {
            return fail(request, Self.missingTasks, &writer)
        }
        var arguments =
            head.arguments.isPresent ? RawJSON(unchecked: bytes[head.arguments.range]) : noArguments
        guard arguments.kind == .object else {
            return fail(request, .invalidParams("\"arguments\" must be an object"), &writer)
        }
        if let headers = entry.headers, let claims, request.verdict.isModern,
            let problem = headers.mismatch(claims, with: arguments)
        {
            return fail(request, Refusal.headerMismatch(problem).error, &writer)
        }
        if !entry.input.isValid(arguments) {
            guard let mended = entry.mending?(arguments), entry.input.isValid(mended) else {
                return refuseArguments(request, entry, entry.input.validate(arguments), &writer)
            }
            arguments = mended
        }
        return run(request, entry, arguments, &writer, sink)
    }

    /// Runs a tool with arguments that fit its schema.
    private func run(
        _ request: Request, _ entry: ToolEntry, _ arguments: RawJSON, _ writer: inout JSONWriter,
        _ sink: SinkMaker
    ) -> Disposition {
        switch entry.handler {
        case .synchronous(let body):
            return callNow(request, entry, arguments, &writer, body)
        case .asynchronous(let body):
            let call = ToolCall(name: entry.tool.name, arguments: arguments)
            return `defer`(request, timeout: entry.timeout, tool: entry, &writer, sink) { [self] deferred in
                await answer(request, entry, deferred) {
                    try await body(call, RequestContext(request, deferred))
                }
            }
        case .forwarded(let body):
            let call = ToolCall(name: entry.tool.name, arguments: arguments)
            return `defer`(request, timeout: entry.timeout, &writer, sink) { [self] deferred in
                await answer(request, entry, call, deferred, body)
            }
        case .offloaded(let body):
            let call = ToolCall(name: entry.tool.name, arguments: arguments)
            return `defer`(request, timeout: entry.timeout, &writer, sink) { [self] deferred in
                await answer(request, entry, deferred) {
                    try await offload { try body(call, RequestContext(request, deferred)) }
                }
            }
        }
    }

    // MARK: Synchronous tools

    private func callNow(
        _ request: Request, _ entry: ToolEntry, _ arguments: RawJSON, _ writer: inout JSONWriter,
        _ body: (RawJSON, RequestContext, inout ResultWriter) throws -> Void
    ) -> Disposition {
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        // The buffer moves into the result writer and back; only the reference to it is moved.
        var result = ResultWriter(json: JSONWriter(), revision: request.revision)
        swap(&result.json, &writer)
        let failure: (any Error)?
        do {
            try body(arguments, RequestContext(request, nil), &result)
            result.close()
            failure = result.json.failure
        } catch {
            failure = error
        }
        let (structured, meta) = (result.structuredRange, result.meta)
        if result.isError { request.trace?.toolFailed() }
        swap(&result.json, &writer)
        if let failure {
            writer.rewind(to: mark)
            return answer(request, entry, failedWith: failure, &writer)
        }
        if entry.tool.showsOutputSchema(in: request.revision),
            let violation = outputViolation(entry, structured.map { writer.out.slice($0) }, result.isError)
        {
            writer.rewind(to: mark)
            return fail(request, refusal(ofOutput: violation, entry), &writer)
        }
        return close(request, from: mark, meta: meta, &writer)
    }

    /// Answers with the error that a handler threw, by the rules of `result(of:failedWith:)`.
    func answer(
        _ request: Request, _ entry: ToolEntry, failedWith error: any Error, _ writer: inout JSONWriter
    ) -> Disposition {
        switch result(of: entry, failedWith: error, revision: request.revision) {
        case .success(let result): write(result, for: request, &writer)
        case .failure(let error): fail(request, error, &writer)
        }
    }

    // MARK: Deferred tools

    /// Runs a handler. Its result is the response to the request, or the end of the task that
    /// the call became.
    private func answer(
        _ request: Request, _ entry: ToolEntry, _ call: DeferredCall,
        _ body: () async throws -> CallToolResult
    ) async -> Answer? {
        let outcome = await outcome(of: entry, request.revision, body)
        if let task = call.task {
            tasks?.end(task, with: outcome, maxDepth: options.limits.maxJSONDepth - 2)
            return nil
        }
        return answer { writer in
            switch outcome {
            case .success(let result): write(result, for: request, &writer)
            case .failure(let error): fail(request, error, &writer)
            }
        }
    }

    private func outcome(
        of entry: ToolEntry, _ revision: Revision, _ body: () async throws -> CallToolResult
    ) async -> Result<CallToolResult, MCPError> {
        do {
            let result = try await body()
            let structured = result.structuredContent.map { RawJSON($0).bytes }
            if entry.tool.showsOutputSchema(in: revision),
                let violation = outputViolation(entry, structured, result.isError)
            {
                return .failure(refusal(ofOutput: violation, entry))
            }
            return .success(result)
        } catch {
            return result(of: entry, failedWith: error, revision: revision)
        }
    }

    /// Writes a finished result.
    func write(
        _ result: CallToolResult, for request: Request, _ writer: inout JSONWriter
    ) -> Disposition {
        let mark = writer.mark
        if result.isError { request.trace?.toolFailed() }
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        result.writeMembers(to: &writer, for: request.revision)
        return close(request, from: mark, meta: result.meta, &writer)
    }

    /// Closes a result; one that is nested too deeply to encode becomes -32603 (fault 22).
    func close(
        _ request: Request, from mark: JSONWriter.Mark, meta: JSONObject?, _ writer: inout JSONWriter
    ) -> Disposition {
        envelope.end(&writer, meta: meta, for: request.revision)
        guard let failure = writer.failure else { return .answered(status: 200) }
        writer.rewind(to: mark)
        log("a result could not be encoded: \(failure)")
        return fail(request, .internalError("The result could not be encoded"), &writer)
    }

    // MARK: Failures

    /// Returns a thrown error as a result that the model can act on, or as a JSON-RPC error when it is one
    /// (TOOL-17, TOOL-18).
    private func result(
        of entry: ToolEntry, failedWith error: any Error, revision: Revision
    ) -> Result<CallToolResult, MCPError> {
        switch error {
        case let error as MCPError:
            guard let text = error.peerFailure else { return .failure(error) }
            return .success(.error(text))
        // Never sent: the questions are the response.
        case let pending as InputPending: return .success(.error(pending.description))
        case let error as ToolError: return .success(.error(error.description))
        case let error as JSONError where error.path != nil:
            let text = "Arguments do not fit \(entry.tool.name): \(error)"
            return revision.has(.argumentErrorsAreResults)
                ? .success(.error(text)) : .failure(.invalidParams(text))
        case let error as JSONError where error.isTooDeep:
            log("the result of tool \(entry.tool.name) could not be encoded: \(error)")
            return .failure(.internalError("The result could not be encoded"))
        case is CancellationError: return .success(.error("\(entry.tool.name) was cancelled"))
        default:
            // The text of a foreign error may name files, hosts or queries, so it goes to the log,
            // not to the peer.
            log("tool \(entry.tool.name) failed: \(error)")
            return .success(.error("\(entry.tool.name) failed"))
        }
    }

    private func refuseArguments(
        _ request: Request, _ entry: ToolEntry, _ violations: [SchemaViolation], _ writer: inout JSONWriter
    ) -> Disposition {
        let text =
            "Arguments do not fit \(entry.tool.name): "
            + violations.map(\.description).joined(separator: "; ")
        counters.count(.refused)
        guard request.revision.has(.argumentErrorsAreResults) else {
            return fail(request, .invalidParams(text), &writer)
        }
        return write(.error(text), for: request, &writer)
    }

    private func outputViolation(
        _ entry: ToolEntry, _ structured: ByteSlice?, _ isError: Bool
    ) -> String? {
        guard let output = entry.output, !isError else { return nil }
        guard let structured else { return "there is no structured result" }
        let value = RawJSON(unchecked: structured)
        return output.isValid(value) ? nil : output.validate(value).map(\.description).joined(separator: "; ")
    }

    private func refusal(ofOutput violation: String, _ entry: ToolEntry) -> MCPError {
        log("the result of tool \(entry.tool.name) does not fit its output schema: \(violation)")
        return .internalError("The result of \(entry.tool.name) does not fit its output schema")
    }

    /// Runs blocking code on the system's pool.
    private func offload<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

extension JSONError {
    /// Whether a value is nested more deeply than may be written.
    fileprivate var isTooDeep: Bool {
        if case .depthExceeded = reason { path == nil } else { false }
    }
}
