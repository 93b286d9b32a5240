import Synchronization

/// Questions to the client: to its user, to its model, about its roots.
///
/// A handler asks in the same way in every revision. The way in which the answer arrives differs:
///
/// - **Up to 2025-11-25**, the client receives a request while the handler waits. `ServerLimits.inputTimeout`
///   limits the wait, which does not count as the handler's time: its deadline is paused.
/// - **In 2026-07-28**, the call ends with the question, and the client sends the call again with the answer.
///   The handler then **runs again from the beginning**, and the same question immediately returns the
///   answer. So ask before you change anything: perform side effects after the last question, or make them
///   depend on the answers. A question throws an error internal to the library when its answer is not
///   available yet; let it propagate.
///
/// Questions are distinguished by their keys. A question without a key receives its kind and a number as its
/// key (`elicitation-1`). This requires questions to be asked in the same order in every run, so provide keys
/// for questions that are asked at the same time or only sometimes. A key names one question: if it is asked
/// again under its key, it has the same answer.
///
/// In 2026-07-28, an answer of the user counts for the message and the form that the user saw, and for the
/// tool as it was defined: a question whose text changes from run to run is asked each time. The URL of a
/// page may change.
extension RequestContext {
    /// Asks the user to fill in a form (client/elicitation, form mode).
    ///
    /// Never ask for secrets this way (ELIC-15): use a page of your own.
    /// - Parameter key: distinguishes this question from others of the call.
    /// - Returns: the action of the user; an accepted form fits the schema.
    /// - Throws: the errors that `ask` throws.
    public func elicit(
        _ message: String, _ schema: ElicitationSchema, key: String? = nil
    ) async throws -> ElicitResult {
        let (key, answers) = try await ask(.elicit(message, schema), key)
        return try answers.elicitation(key)
    }

    /// Asks the user to visit a page (client/elicitation, URL mode; 2025-11-25 and later).
    ///
    /// Accepting means that the page may be opened, not that its purpose has been achieved (ELIC-12): check
    /// your own records, and ask again under another key if necessary.
    /// - Parameters:
    ///   - url: contains nothing about the user and grants no access on its own (ELIC-20).
    ///   - elicitationID: names the visit for `elicitationCompleted`, in 2025-11-25 only; nil
    ///     generates an id.
    ///   - key: distinguishes this question from others of the call.
    /// - Throws: the errors that `ask` throws; `MCPError` -32603 when `url` is not a URL.
    public func elicit(
        _ message: String, url: String, elicitationID: String? = nil, key: String? = nil
    ) async throws -> ElicitResult {
        let request = ElicitRequest(message, url: url, elicitationID: elicitationID)
        let (key, answers) = try await ask(.elicit(request), key)
        return try answers.elicitation(key)
    }

    /// Asks the client's model (client/sampling).
    ///
    /// - Parameter key: distinguishes this question from others of the call.
    /// - Throws: the errors that `ask` throws; `MCPError` -32603 when tool uses and their results do not
    ///   match (SAMP-09).
    public func sample(
        _ request: CreateMessageRequest, key: String? = nil
    ) async throws -> CreateMessageResult {
        let (key, answers) = try await ask(.sample(request), key)
        return try answers.sampling(key)
    }

    /// Asks for the locations that the client works in (client/roots): guidance, not access
    /// control (ROOT-06).
    ///
    /// - Parameter key: distinguishes this question from others of the call.
    /// - Throws: the errors that `ask` throws.
    public func roots(key: String? = nil) async throws -> [Root] {
        let (key, answers) = try await ask(.roots, key)
        return try answers.roots(key)
    }

    /// Asks several questions at once, in one round.
    ///
    /// - Parameters:
    ///   - requests: at most `ServerLimits.maxOpenQuestions`, by keys of your choice.
    ///   - state: kept until the call continues, and then available as `state`. The client can read it,
    ///     but not change it.
    /// - Returns: an answer to each request; every answer has the shape of its kind, and forms
    ///   fit their schemas.
    /// - Throws: the errors that `require` throws when the client has not declared enough; `MCPError` with
    ///   the client's code when it responded with an error (up to 2025-11-25), -32602 when its answer does
    ///   not fit, -32603 when there are too many open questions; `CancellationError` when no caller waits for
    ///   the call any more.
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

    /// The state that the handler passed with the last question that it asked; nil before that.
    public var state: JSONValue? { call?.input.withLock { $0.state } }

    /// Checks that the client declared the capabilities that the handler cannot do without.
    ///
    /// - Throws: in 2026-07-28, `MCPError` -32021, whose data names what is missing (MRTR-06). In earlier
    ///   revisions, a `ToolError` in a tool, whose text the model reads (TOOL-18), and `MCPError` -32602 in
    ///   prompts and resources.
    public func require(_ capabilities: ClientCapabilities) throws {
        guard let missing = clientCapabilities.missing(of: capabilities) else { return }
        let text =
            "The client does not offer the capabilities that this requires: "
            + "\(JSONValue.object(missing).serialized())"
        guard !revision.isModern else {
            throw MCPError(
                code: MCPError.missingClientCapabilityCode, message: text,
                data: ["requiredCapabilities": .object(missing)])
        }
        throw message.method == "tools/call" ? ToolError(text) as any Error : MCPError.invalidParams(text)
    }

    /// Notifies the client that the user is done with a page (2025-11-25; other revisions have
    /// no such message).
    ///
    /// - Parameter elicitationID: the id that was passed to `elicit(_:url:elicitationID:key:)`.
    public func notifyElicitationCompleted(_ elicitationID: String) {
        // ELIC-13
        guard revision.has(.elicitationModes), !revision.isModern else { return }
        call?.exchange.notify(Notifications.elicitationCompleted(elicitationID))
    }
}
