/// The responses to the input that servers request, produced by the handlers of the options; the same for
/// every revision.
struct InputHandlers: Sendable {
    let options: ClientOptions
    /// The handler of a single call, which takes precedence.
    var ofCall: (@Sendable (InputRequest) async throws -> JSONValue)?

    /// Whether there is a handler for a request.
    func canAnswer(_ request: InputRequest) -> Bool {
        if ofCall != nil { return true }
        return switch request.kind {
        case .elicit: options.onElicit != nil
        case .sample: options.onSample != nil
        case .roots: options.onRoots != nil
        }
    }

    /// Returns the response to one request, as JSON in the form of the revision.
    ///
    /// - Throws: -32601 without a handler, or in a revision that does not have this request; -32602 for a
    ///   feature that was not declared, for tool uses that do not match their results, and for an answer that
    ///   does not match its form; -1 when sampling is refused (SAMP-15); the `MCPError` that a handler
    ///   throws.
    func answer(_ request: InputRequest, for revision: Revision) async throws(MCPError) -> JSONValue {
        if let ofCall { return try await answer(request, with: ofCall, for: revision) }
        switch request.kind {
        case .elicit(let question): return try await elicit(question, revision).json
        case .sample(let question):
            let result = try await sample(question, revision)
            var writer = JSONWriter()
            result.write(to: &writer, for: revision)
            return RawJSON(unchecked: writer.finish()).value
        case .roots:
            guard let onRoots = options.onRoots else { throw .methodNotFound(request.method) }
            let roots: [Root]
            do {
                roots = try await onRoots()
            } catch {
                throw Self.failure(error, "The roots cannot be provided")
            }
            var writer = JSONWriter()
            writer.array(roots, for: revision)
            return ["roots": RawJSON(unchecked: writer.finish()).value]
        }
    }

    /// Returns the answer of another program, in the form of the revision.
    private func answer(
        _ request: InputRequest, with handler: @Sendable (InputRequest) async throws -> JSONValue,
        for revision: Revision
    ) async throws(MCPError) -> JSONValue {
        do {
            let answer = try await handler(request)
            var writer = JSONWriter()
            switch request.kind {
            case .elicit: return answer
            case .sample: try CreateMessageResult(json: answer).write(to: &writer, for: revision)
            case .roots:
                let roots = try InputResponses.roots(in: answer)
                writer.beginObject()
                writer.key("roots")
                writer.array(roots, for: revision)
                writer.endObject()
            }
            return RawJSON(unchecked: writer.finish()).value
        } catch {
            throw Self.failure(error, "The question cannot be answered")
        }
    }

    private func elicit(
        _ request: ElicitRequest, _ revision: Revision
    ) async throws(MCPError) -> ElicitResult {
        guard let onElicit = options.onElicit, revision.has(.elicitation) else {
            throw .methodNotFound("elicitation/create")
        }
        if request.url != nil, !options.supportsElicitationURL || !revision.has(.elicitationModes) {
            throw .invalidParams("This client did not declare elicitation by URL")
        }
        let result: ElicitResult
        do {
            result = try await onElicit(request)
        } catch {
            throw Self.failure(error, "The question cannot be answered")
        }
        // Only an accepted form has contents (ELIC-10).
        guard result.action == .accept, let schema = request.schema else {
            return ElicitResult(result.action)
        }
        let violations = schema.violations(of: result.content ?? [:])
        guard violations.isEmpty else {
            let list = violations.map(\.description).joined(separator: "; ")
            throw .invalidParams("The answer does not match the form: \(list)")
        }
        return ElicitResult(.accept, content: result.content ?? [:])
    }

    private func sample(
        _ request: CreateMessageRequest, _ revision: Revision
    ) async throws(MCPError) -> CreateMessageResult {
        guard let onSample = options.onSample else { throw .methodNotFound("sampling/createMessage") }
        if !request.tools.isEmpty || request.toolChoice != nil,
            !options.supportsSamplingTools || !revision.has(.samplingTools)
        {
            throw .invalidParams("This client did not declare sampling with tools")
        }
        if let problem = request.balanceProblem { throw .invalidParams(problem) }
        do {
            return try await onSample(request)
        } catch {
            throw error as? MCPError ?? MCPError(code: -1, message: "The sampling request was refused")
        }
    }

    private static func failure(_ error: any Error, _ text: String) -> MCPError {
        error as? MCPError ?? .internalError(text)
    }
}
