import Synchronization

/// The questions that one call has asked its client so far, with their answers.
struct InputState: Sendable {
    /// The answers by key: those that came with a retry, and those of this run.
    var known: [String: JSONValue]
    /// The known answers that the handler requested: they are carried on in `requestState`.
    var used: [String: JSONValue] = [:]
    /// The questions that they answer.
    var asked: [String: InputRequest] = [:]
    /// The state that the handler asked to keep with its last question.
    var state: JSONValue?
    /// The chain of the rounds of a stateless request; nil until the client sends a `requestState`.
    var chain: RequestState.Chain? { sealed?.chain }
    private let sealed: InputRetry.Sealed?
    /// The tool that is called; nil for other requests.
    private let tool: ToolEntry?
    /// What the answers are about beside the question and the definition.
    var subject: [UInt8] = []
    /// Whether the rounds are used up, however the call ends.
    var isSpent = false
    /// Whether the rounds are used up only by `spendAnswers`.
    var isHeld = false
    /// Whether the call was refused a task, and did nothing before.
    var hadNoRoom = false
    /// The open questions of a stateless request.
    var rounds: MultiRoundTripInput?
    /// The error for an answer that cannot be used: it is the outcome, whatever the handler makes of it.
    var refusal: MCPError?
    private var counts: [String: Int] = [:]

    /// - Parameter tool: the tool that is called; nil for other requests.
    init(_ retry: InputRetry?, tool: ToolEntry? = nil) {
        known = retry?.answers ?? [:]
        state = retry?.state
        sealed = retry?.sealed
        self.tool = tool
    }

    /// Everything that an answer of the user depends on, beside the request that the state is bound to.
    ///
    /// A page is not recognised by its address, which may be another one each time, and what is not asked of
    /// the user only by its kind.
    func parts(of question: InputRequest) -> [[UInt8]] {
        var parts = [Array(question.method.utf8), tool?.tool.definition ?? [], subject]
        guard case .elicit(let form) = question.kind else { return parts }
        parts.append(Array(form.message.utf8))
        parts.append(RequestState.digest(of: form.schema?.json ?? .null))
        return parts
    }

    /// Returns the answer that is known, unless it was given to another question.
    mutating func answer(
        to question: InputRequest, _ key: String, sealedBy states: RequestState
    ) -> JSONValue? {
        guard let answer = known[key] else { return nil }
        // One that this run has taken already, or without a `requestState`.
        guard used[key] == nil, let sealed else { return answer }
        if let mark = sealed.questions[key], states.isMark(mark, of: parts(of: question)) { return answer }
        known[key] = nil
        return nil
    }

    /// Whether a call that ended with this answer did nothing for which its rounds are used up.
    func didNothing(with answer: Answer) -> Bool {
        guard !isSpent, !answer.bytes.isEmpty else { return false }
        if isHeld { return true }
        switch RawJSON(unchecked: answer.bytes)["error"]?["code"]?.int {
        case MCPError.missingClientCapabilityCode: return true
        case MCPError.overloadedCode: return hadNoRoom
        default: return false
        }
    }

    /// Returns the key of a question that was given none: the same key when the handler runs again.
    mutating func nextKey(for request: InputRequest) -> String {
        let name = request.kindName
        counts[name, default: 0] += 1
        return "\(name)-\(counts[name, default: 1])"
    }
}

extension Tool {
    /// The tool as clients see it, as JSON.
    fileprivate var definition: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer, for: .newest)
        return Array(writer.finish())
    }
}

extension InputRequest {
    /// The first word of the method, for keys.
    fileprivate var kindName: String {
        switch kind {
        case .elicit: "elicitation"
        case .sample: "sampling"
        case .roots: "roots"
        }
    }
}

extension RequestContext {
    /// Has questions asked although a stateless request brings answers, if it does not return the
    /// `requestState` of the round that asked them.
    package func dropUnaskedAnswers() {
        call?.input.withLock { if $0.chain == nil { $0.known = [:] } }
    }

    /// Binds the answers to what they are about beside the text of the questions: if that has changed since
    /// a question was asked, it is asked again. Call it before the first question.
    package func bindAnswers(to subject: [UInt8]) { call?.input.withLock { $0.subject = subject } }

    /// Keeps the `requestState` of this request valid until `spendAnswers` is called, or the call becomes a
    /// task: what ends before has done nothing.
    package func holdAnswers() { call?.input.withLock { $0.isHeld = true } }

    /// Makes the `requestState` of this request invalid now, so that the answers count for this run alone,
    /// even if its client does not receive the result.
    package func spendAnswers() { call?.spendAnswers() }
}

extension DeferredCall {
    fileprivate func spendAnswers() {
        let chain = input.withLock { input in
            input.isSpent = true
            return input.chain
        }
        if let chain { dispatcher.spend(chain, of: request) }
    }

    /// Whether the handler's outcome may depend on answers.
    var hasAsked: Bool { input.withLock { $0.rounds != nil || !$0.used.isEmpty } }

    /// Returns the answers to all requests; each answer fits its request.
    func ask(_ requests: [String: InputRequest], state: JSONValue?) async throws -> [String: JSONValue] {
        if isOver { throw CancellationError() }
        var answers: [String: JSONValue] = [:]
        var open: [String: InputRequest] = [:]
        for (key, question) in requests {
            let known = input.withLock { $0.answer(to: question, key, sealedBy: dispatcher.requestStates) }
            guard let answer = known else {
                open[key] = try prepare(question)
                continue
            }
            try check(answer, key, question)
            answers[key] = answer
        }
        guard !open.isEmpty else { return answers }
        try RequestContext(request, self).require(ClientCapabilities(toAnswer: open.values))
        if let state { input.withLock { $0.state = state } }
        let fresh = try await inputSource.ask(open)
        for (key, question) in open {
            guard let answer = fresh[key] else { throw MCPError.internalError("An answer is missing") }
            try check(answer, key, question)
            answers[key] = answer
        }
        return answers
    }

    /// Stores an answer that fits its request; refuses any other (ELIC-24, MRTR-12).
    private func check(_ answer: JSONValue, _ key: String, _ question: InputRequest) throws {
        guard let problem = question.problem(with: answer) else {
            return input.withLock {
                $0.known[key] = answer
                $0.used[key] = answer
                $0.asked[key] = question
            }
        }
        var error = MCPError.invalidParams(
            "The answer to \(question.method) (\"\(key)\") does not fit the request: \(problem)")
        error.peerFailure = error.message
        if request.verdict.isModern { input.withLock { $0.refusal = error } }
        throw error
    }

    /// Returns the request in the form in which it may be sent, or throws the error for a mistake in it.
    private func prepare(_ question: InputRequest) throws(MCPError) -> InputRequest {
        let revision = request.revision
        switch question.kind {
        case .elicit(var elicit):
            guard let url = elicit.url else { return question }
            // ELIC-05
            guard StringFormat.uri.accepts(url) else {
                throw .internalError("The user cannot be sent to a page whose address is not a URL")
            }
            // ELIC-06
            if !revision.isModern, elicit.elicitationID == nil {
                elicit.elicitationID = Hex.encode(SystemRandom().bytes(16))
            }
            return .elicit(elicit)
        case .sample(var sample):
            // SAMP-08, SAMP-09
            if let problem = sample.balanceProblem {
                throw .internalError("The conversation for the model cannot be sent: \(problem)")
            }
            // SAMP-02: this member, which is deprecated anyway, must be declared in revisions that
            // allow declaring it.
            if revision.has(.samplingTools), !capabilities.hasSamplingContext { sample.includeContext = nil }
            return .sample(sample)
        case .roots: return question
        }
    }

    private var capabilities: ClientCapabilities { RequestContext(request, self).clientCapabilities }
}

extension ClientCapabilities {
    /// Creates the capabilities that a client must have declared to be sent all of these requests.
    init(toAnswer requests: some Collection<InputRequest>) {
        let needs = requests.map(\.needs)
        self.init(
            roots: needs.contains(where: \.hasRoots), sampling: needs.contains(where: \.hasSampling),
            samplingTools: needs.contains(where: \.hasSamplingTools),
            elicitation: needs.contains(where: \.hasElicitation),
            elicitationURL: needs.contains(where: \.hasElicitationURL))
    }
}
