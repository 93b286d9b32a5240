/// Answers what servers ask for, with the handlers of the options; the same for every revision.
struct InputHandlers: Sendable {
    let options: ClientOptions

    /// The answer to one request, as JSON in the words of the revision.
    ///
    /// - Throws: -32601 without a handler; -32602 for what was not declared, for uses of tools that do not
    ///   match their results, and for an answer that does not fit its form; -1 when the model is refused
    ///   (SAMP-15); the `MCPError` that a handler throws.
    func answer(_ request: InputRequest, for revision: Revision) async throws(MCPError) -> JSONValue {
        switch request.kind {
        case .elicit(let question): return try await elicit(question).json
        case .sample(let question):
            let result = try await sample(question)
            var writer = JSONWriter()
            result.write(to: &writer, for: revision)
            return RawJSON(unchecked: writer.finish()).value
        case .roots:
            guard let onRoots = options.onRoots else { throw .methodNotFound(request.method) }
            do {
                return ["roots": .array(try await onRoots().map(\.json))]
            } catch {
                throw Self.failure(error, "The roots cannot be told")
            }
        }
    }

    private func elicit(_ request: ElicitRequest) async throws(MCPError) -> ElicitResult {
        guard let onElicit = options.onElicit else { throw .methodNotFound("elicitation/create") }
        if request.url != nil, !options.supportsElicitationURL {
            throw .invalidParams("This client declared no elicitation by URL")
        }
        let result: ElicitResult
        do {
            result = try await onElicit(request)
        } catch {
            throw Self.failure(error, "The question cannot be answered")
        }
        guard result.action == .accept, let schema = request.schema else { return result }
        let violations = schema.violations(of: result.content ?? [:])
        guard violations.isEmpty else {
            let list = violations.map(\.description).joined(separator: "; ")
            throw .invalidParams("The answer does not fit the form: \(list)")
        }
        return ElicitResult(.accept, content: result.content ?? [:])
    }

    private func sample(_ request: CreateMessageRequest) async throws(MCPError) -> CreateMessageResult {
        guard let onSample = options.onSample else { throw .methodNotFound("sampling/createMessage") }
        if !request.tools.isEmpty || request.toolChoice != nil, !options.supportsSamplingTools {
            throw .invalidParams("This client declared no sampling with tools")
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
