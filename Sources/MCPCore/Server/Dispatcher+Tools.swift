import Dispatch

extension Dispatcher {
    /// `tools/call` (server/tools "Calling Tools").
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
            let name = request.message.raw(head.name)?.string ?? ""
            return fail(request, .invalidParams("Unknown tool: \(name)"), &writer)
        }
        let arguments = request.message.raw(head.arguments) ?? noArguments
        guard arguments.kind == .object else {
            return fail(request, .invalidParams("\"arguments\" must be an object"), &writer)
        }
        if let headers = entry.headers, let claims, request.verdict.isModern,
            let problem = headers.mismatch(claims, with: arguments)
        {
            return fail(request, Refusal.headerMismatch(problem).error, &writer)
        }
        if !entry.input.isValid(arguments) {
            return refuseArguments(request, entry, entry.input.validate(arguments), &writer)
        }
        switch entry.handler {
        case .synchronous(let body):
            return callNow(request, entry, arguments, &writer, body)
        case .asynchronous(let body):
            let call = ToolCall(name: entry.tool.name, arguments: arguments)
            return `defer`(request, timeout: entry.timeout, &writer, sink) { [self] deferred in
                await answer(request, entry) { try await body(call, RequestContext(request, deferred)) }
            }
        case .offloaded(let body):
            let call = ToolCall(name: entry.tool.name, arguments: arguments)
            return `defer`(request, timeout: entry.timeout, &writer, sink) { [self] deferred in
                await answer(request, entry) {
                    try await offload { try body(call, RequestContext(request, deferred)) }
                }
            }
        }
    }

    // MARK: On the spot

    private func callNow(
        _ request: Request, _ entry: ToolEntry, _ arguments: RawJSON, _ writer: inout JSONWriter,
        _ body: (RawJSON, RequestContext, inout ResultWriter) throws -> Void
    ) -> Disposition {
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        // The buffer moves into the result writer and back; only its reference does.
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
        swap(&result.json, &writer)
        if let failure {
            writer.rewind(to: mark)
            return answer(request, entry, failedWith: failure, &writer)
        }
        if entry.tool.showsOutputSchema(in: request.revision),
            let violation = outputViolation(entry, structured.map { writer.out.slice($0) }, result.isError)
        {
            writer.rewind(to: mark)
            return refuseOutput(request, entry, violation, &writer)
        }
        return close(request, from: mark, meta: meta, &writer)
    }

    /// Answers with what a failed handler threw, by the rules of `result(of:failedWith:)`.
    private func answer(
        _ request: Request, _ entry: ToolEntry, failedWith error: any Error, _ writer: inout JSONWriter
    ) -> Disposition {
        do {
            let result = try result(of: entry, failedWith: error, revision: request.revision)
            return write(result, for: request, &writer)
        } catch {
            return fail(request, error, &writer)
        }
    }

    // MARK: Later

    private func answer(
        _ request: Request, _ entry: ToolEntry, _ body: () async throws -> CallToolResult
    ) async -> Answer {
        do {
            let result = try await body()
            let structured = result.structuredContent.map { RawJSON($0).bytes }
            if entry.tool.showsOutputSchema(in: request.revision),
                let violation = outputViolation(entry, structured, result.isError)
            {
                return answer { refuseOutput(request, entry, violation, &$0) }
            }
            return answer { write(result, for: request, &$0) }
        } catch {
            return answer { answer(request, entry, failedWith: error, &$0) }
        }
    }

    /// Writes a finished result.
    private func write(
        _ result: CallToolResult, for request: Request, _ writer: inout JSONWriter
    ) -> Disposition {
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        result.writeMembers(to: &writer, for: request.revision)
        return close(request, from: mark, meta: result.meta, &writer)
    }

    /// Closes a result; one that is too deep to encode becomes -32603 (fault 22).
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

    /// A thrown error as a result the model can act on, or as a JSON-RPC error when it is one (TOOL-17,
    /// TOOL-18).
    private func result(
        of entry: ToolEntry, failedWith error: any Error, revision: Revision
    ) throws(MCPError) -> CallToolResult {
        switch error {
        case let error as MCPError:
            guard let text = error.peerFailure else { throw error }
            return .error(text)
        // Never sent: the questions are the answer.
        case let pending as InputPending: return .error(pending.description)
        case let error as ToolError: return .error(error.description)
        case let error as JSONError where error.path != nil:
            guard revision.has(.argumentErrorsAreResults) else {
                throw .invalidParams("Arguments do not fit \(entry.tool.name): \(error)")
            }
            return .error("Arguments do not fit \(entry.tool.name): \(error)")
        case let error as JSONError where error.isTooDeep:
            log("the result of tool \(entry.tool.name) could not be encoded: \(error)")
            throw .internalError("The result could not be encoded")
        case is CancellationError: return .error("\(entry.tool.name) was cancelled")
        default:
            // The text of a foreign error may name files, hosts or queries: it goes to the log, not to the
            // peer.
            log("tool \(entry.tool.name) failed: \(error)")
            return .error("\(entry.tool.name) failed")
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

    private func refuseOutput(
        _ request: Request, _ entry: ToolEntry, _ violation: String, _ writer: inout JSONWriter
    ) -> Disposition {
        log("the result of tool \(entry.tool.name) does not fit its output schema: \(violation)")
        return fail(
            request, .internalError("The result of \(entry.tool.name) does not fit its output schema"),
            &writer)
    }

    /// Runs blocking code on the system's pool.
    private func offload<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

extension JSONError {
    /// A value has more levels than may be written.
    fileprivate var isTooDeep: Bool {
        if case .depthExceeded = reason { path == nil } else { false }
    }
}
