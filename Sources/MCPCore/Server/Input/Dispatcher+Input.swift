import Synchronization

/// Rounds of questions in the stateless revisions (basic/patterns/mrtr).
extension Dispatcher {
    /// Returns the data of a request that is a retry; nil for a first request.
    ///
    /// - Throws: -32602 when the request is malformed, or its `requestState` is not valid for it
    ///   (MRTR-09, MRTR-12).
    func retry(of request: Request) throws(MCPError) -> InputRetry? {
        guard request.verdict.entry.flags.contains(.asksForInput), let params = request.message.params
        else { return nil }
        var (responses, sealed): (RawJSON?, RawJSON?)
        params.forEachMember { key, value in
            switch key.string {
            case "inputResponses": responses = value
            case "requestState": sealed = value
            default: break
            }
        }
        guard responses != nil || sealed != nil else { return nil }
        var retry = InputRetry(answers: [:])
        if let responses {
            guard case .object(let answers) = responses.value else {
                throw .invalidParams("\"inputResponses\" must be an object")
            }
            for (key, answer) in answers { retry.answers[key] = answer }
        }
        if let sealed {
            let (content, made) = try open(sealed, of: request)
            // Answers from an earlier round stay valid.
            retry.answers.merge(content.answers) { $1 }
            retry.state = content.handlerState
            retry.sealed = .init(chain: content.chain, questions: content.questions, made: made)
        }
        return retry
    }

    private func open(
        _ sealed: RawJSON, of request: Request
    ) throws(MCPError) -> (content: RequestState.Content, made: MonotonicInstant) {
        guard let text = sealed.string else { throw .invalidParams("\"requestState\" must be a string") }
        do throws(RequestState.Refusal) {
            let opened = try requestStates.open(
                text, for: request.purpose, principal: request.principalKey, now: wallSeconds)
            guard let made = stateLedger.time(of: opened, now: clock.now) else { throw .expired }
            return (opened.content, made)
        } catch {
            let text =
                switch error {
                case .foreign: "was not made by this server, or was changed"
                case .expired: "has expired"
                case .early: "was made before a clock was set back"
                case .otherRequest: "belongs to a request with another method, name or arguments"
                }
            throw .invalidParams(
                "This requestState \(text); send the request again without requestState and inputResponses")
        }
    }

    /// Claims the rounds that a retry belongs to, unless their call is complete.
    func begin(_ retry: InputRetry?, of request: Request) throws(MCPError) {
        guard let sealed = retry?.sealed else { return }
        let principal = request.principalKey
        switch stateLedger.begin(sealed.chain, of: principal, made: sealed.made, now: clock.now) {
        case nil: return
        case .inUse:
            throw .invalidParams(
                "A request with this requestState is being served; wait for its answer or cancel it first")
        case .used:
            throw .invalidParams("This requestState was already used: the call it belongs to is complete")
        case .forgotten:
            throw .invalidParams(
                "The server no longer remembers this requestState, so it may have been used; "
                    + "send the request again without requestState and inputResponses")
        }
    }

    private var wallSeconds: Int64 { clock.wallTime.secondsSinceEpoch }

    // MARK: The end of a round

    /// Returns the response to send when the handler of `call` has ended with `answer`: the questions that it
    /// left open take precedence over any result of the handler.
    func conclude(_ call: DeferredCall, _ answer: Answer) -> Answer {
        let input = call.input.withLock { $0 }
        let questions = input.rounds?.questions ?? [:]
        if input.refusal == nil, questions.isEmpty {
            guard let chain = input.chain else { return answer }
            if input.didNothing(with: answer) {
                stateLedger.release(chain)
            } else {
                spend(chain, of: call.request)
            }
            return answer
        }
        if let chain = input.chain {
            if input.isSpent { spend(chain, of: call.request) } else { stateLedger.release(chain) }
        }
        return self.answer { writer in
            if let refusal = input.refusal { return fail(call.request, refusal, &writer) }
            return write(questions, of: call.request, input, &writer)
        }
    }

    /// Lets the client try again, because the response did not reach it.
    func reopen(_ call: DeferredCall) {
        let input = call.input.withLock { $0 }
        if let chain = input.chain, !input.isSpent { stateLedger.release(chain) }
    }

    /// Makes the states of these rounds invalid.
    func spend(_ chain: RequestState.Chain, of request: Request) {
        stateLedger.use(chain, of: request.principalKey, now: clock.now)
    }

    private func write(
        _ questions: [String: InputRequest], of request: Request, _ input: InputState,
        _ writer: inout JSONWriter
    ) -> Disposition {
        let random = SystemRandom()
        let asked = input.asked.merging(questions) { $1 }
        let content = RequestState.Content(
            chain: input.chain ?? RequestState.Chain(random: random.bytes(16)), answers: input.used,
            questions: asked.mapValues { requestStates.mark(of: input.parts(of: $0)) },
            handlerState: input.state)
        let state = requestStates.seal(
            content, for: request.purpose, principal: request.principalKey,
            birth: stateLedger.birth(now: clock.now), now: wallSeconds, salt: random.bytes(8))
        guard let state else {
            log(
                "\(request.message.method): the answers and the state of the handler need more than "
                    + "\(RequestState.maxBytes) bytes of requestState")
            return fail(
                request, .internalError("The call has more state than a requestState can carry"), &writer)
        }
        request.trace?.asksForInput()
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, resultType: "input_required")
        writer.key("inputRequests")
        writer.beginObject()
        for (key, question) in questions.sorted(by: { $0.key < $1.key }) {
            writer.key(key)
            question.write(to: &writer, for: request.revision)
        }
        writer.endObject()
        writer.member("requestState", state)
        return close(request, from: mark, meta: nil, &writer)
    }
}

extension Dispatcher.Request {
    /// The purpose that a `requestState` of this request is bound to.
    fileprivate var purpose: RequestState.Purpose {
        let head = message.head
        let name = message.raw(verdict.entry.flags.contains(.mirrorsURI) ? head.uri : head.name)
        return RequestState.Purpose(
            method: message.method, name: name?.string ?? "",
            arguments: message.raw(head.arguments)?.value ?? [:])
    }
}

extension RequestState.Chain {
    init(random bytes: [UInt8]) {
        let number = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes.prefix(8)), low: number(bytes.suffix(8)))
    }
}
