import Synchronization

/// Asking the client: its user, its model, its roots.
///
/// A handler asks in the same way in every revision. How the answer comes differs:
///
/// - **Up to 2025-11-25** the client gets a request while the handler waits. `ServerLimits.inputTimeout`
///   bounds the wait, and the time is not the handler's: its deadline rests.
/// - **In 2026-07-28** the call ends with the question, and the client sends it again with the answer: the
///   handler then **runs again from its beginning**, and the same question returns at once with what was
///   answered. So ask before you change anything: do what has side effects after the last question, or guard
///   it by the answers. A question throws an error of the library's own when its answer is not there yet;
///   let it pass.
///
/// Questions are told apart by their keys. Without one a question gets its kind and a number
/// (`elicitation-1`): that needs questions in the same order in every run, so give keys to questions that are
/// asked at the same time or only sometimes. A key names one question: asked again under its key, it has the
/// same answer.
extension RequestContext {
    /// Asks the user to fill in a form (client/elicitation, form mode).
    ///
    /// Never ask for secrets this way (ELIC-15): use a page of yours.
    /// - Parameter key: tells this question from others of the call.
    /// - Returns: what the user did; a form that was accepted fits the schema.
    /// - Throws: what `ask` throws.
    public func elicit(
        _ message: String, _ schema: ElicitationSchema, key: String? = nil
    ) async throws -> ElicitResult {
        let (key, answers) = try await ask(.elicit(message, schema), key)
        return try answers.elicitation(key)
    }

    /// Asks the user to visit a page (client/elicitation, URL mode; 2025-11-25 and later).
    ///
    /// Accepting means that the page may be opened, not that what it is for is done (ELIC-12): look at your
    /// own records, and ask again under another key if need be.
    /// - Parameters:
    ///   - url: holds nothing about the user and opens nothing by itself (ELIC-20).
    ///   - elicitationID: names the visit for `elicitationCompleted`, in 2025-11-25 only; nil makes one up.
    ///   - key: tells this question from others of the call.
    /// - Throws: what `ask` throws; `MCPError` -32603 when `url` is no URL.
    public func elicit(
        _ message: String, url: String, elicitationID: String? = nil, key: String? = nil
    ) async throws -> ElicitResult {
        let request = ElicitRequest(message, url: url, elicitationID: elicitationID)
        let (key, answers) = try await ask(.elicit(request), key)
        return try answers.elicitation(key)
    }

    /// Asks the client's model (client/sampling).
    ///
    /// - Parameter key: tells this question from others of the call.
    /// - Throws: what `ask` throws; `MCPError` -32603 when uses of tools and their results do not match
    ///   (SAMP-09).
    public func sample(
        _ request: CreateMessageRequest, key: String? = nil
    ) async throws -> CreateMessageResult {
        let (key, answers) = try await ask(.sample(request), key)
        return try answers.sampling(key)
    }

    /// Asks for the places that the client works in (client/roots): guidance, not access control (ROOT-06).
    ///
    /// - Parameter key: tells this question from others of the call.
    /// - Throws: what `ask` throws.
    public func roots(key: String? = nil) async throws -> [Root] {
        let (key, answers) = try await ask(.roots, key)
        return try answers.roots(key)
    }

    /// Asks several things at once, in one round.
    ///
    /// - Parameters:
    ///   - requests: at most `ServerLimits.maxOpenQuestions`, by keys of your choice.
    ///   - state: kept until the call goes on, as `state`. The client can read it, but not change it.
    /// - Returns: an answer to each; every one has the shape of its kind, and forms fit their schemas.
    /// - Throws: what `require` throws when the client declared too little; `MCPError` with the client's code
    ///   when it answered with an error (up to 2025-11-25), -32602 when its answer does not fit, -32603 when
    ///   there are too many open questions; `CancellationError` when nobody waits for the call any more.
    public func ask(
        _ requests: [String: InputRequest], state: JSONValue? = nil
    ) async throws -> InputResponses {
        guard let call else { throw Self.noQuestions }
        return InputResponses(try await call.ask(requests, state: state))
    }

    private func ask(_ request: InputRequest, _ key: String?) async throws -> (String, InputResponses) {
        guard let call else { throw Self.noQuestions }
        let key = key ?? call.input.withLock { $0.nextKey(for: request) }
        return (key, try await ask([key: request]))
    }

    private static var noQuestions: MCPError {
        .internalError("A synchronous handler cannot send requests to the client")
    }

    /// What the handler gave with the last question that it asked; nil before.
    public var state: JSONValue? { call?.input.withLock { $0.state } }

    /// Makes sure that the client declared what the handler cannot do without.
    ///
    /// - Throws: in 2026-07-28 `MCPError` -32021, whose data names what is missing (MRTR-06). Before, a
    ///   `ToolError` in a tool, whose text the model reads (TOOL-18), and `MCPError` -32602 in prompts and
    ///   resources.
    public func require(_ capabilities: ClientCapabilities) throws {
        guard let missing = clientCapabilities.missing(of: capabilities) else { return }
        let text = "The client does not offer what this needs: \(JSONValue.object(missing).serialized())"
        guard !revision.isModern else {
            throw MCPError(
                code: MCPError.missingClientCapabilityCode, message: text,
                data: ["requiredCapabilities": .object(missing)])
        }
        throw message.method == "tools/call" ? ToolError(text) as any Error : MCPError.invalidParams(text)
    }

    /// Tells the client that the user is done with a page (2025-11-25; other revisions have no such message).
    ///
    /// - Parameter elicitationID: what `elicit(_:url:elicitationID:key:)` was given.
    public func notifyElicitationCompleted(_ elicitationID: String) {
        // ELIC-13
        guard revision.has(.elicitationModes), !revision.isModern else { return }
        call?.exchange.notify(Notifications.elicitationCompleted(elicitationID))
    }
}
