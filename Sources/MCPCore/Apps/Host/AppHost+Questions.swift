/// A question, and who waits for the answer.
struct QuestionRecord {
    let question: HostQuestion
    let continuation: CheckedContinuation<QuestionAnswer, Never>
}

extension AppHost {
    /// Asks the user and waits. A task that is cancelled takes its question back.
    func ask(
        _ subject: HostQuestion.Subject, server: String, view: String?
    ) async -> QuestionAnswer {
        let id = nextID("q")
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: .cancel) }
                let question = HostQuestion(id: id, subject: subject, server: server, view: view)
                questions[id] = QuestionRecord(question: question, continuation: continuation)
                questionOrder.append(id)
                emit(.question(question))
            }
        } onCancel: {
            Task { await self.closeQuestion(id, .cancel) }
        }
    }

    /// Takes the user's answer. One to a question that was answered already, or that nobody asks any more,
    /// has no effect.
    /// - Returns: whether somebody was waiting for it.
    @discardableResult
    public func answer(_ question: String, _ answer: QuestionAnswer) -> Bool {
        guard questions[question] != nil else { return false }
        closeQuestion(question, answer)
        return true
    }

    func closeQuestion(_ id: String, _ answer: QuestionAnswer) {
        guard let record = questions.removeValue(forKey: id) else { return }
        questionOrder.removeAll { $0 == id }
        emit(.questionClosed(id: id))
        record.continuation.resume(returning: answer)
    }

    /// Asks whether a tool may run.
    /// - Parameter view: the view that calls; nil when the user or the model does.
    func approve(_ request: ApprovalRequest, view: String?) async -> ApprovalDecision {
        let server = record(ofServer: request.invocation.source.name)?.server.name ?? request.sourceName
        switch await ask(.approval(request), server: server, view: view) {
        case .allow(let remember): return .approved(remember: remember)
        case .accept: return .approved()
        case .deny, .cancel: return .denied()
        }
    }

    /// The same for a call of the host's own.
    func approveCall(_ request: ApprovalRequest) async -> ApprovalDecision {
        await approve(request, view: calls[request.invocation.callID]?.call.callingView)
    }

    /// A server asks the user.
    func elicit(_ request: ElicitRequest, from server: String) async -> ElicitResult {
        let name = record(ofServer: server)?.server.name ?? server
        switch await ask(.elicitation(request), server: name, view: nil) {
        case .accept(let content): return ElicitResult(.accept, content: request.url == nil ? content : nil)
        case .allow:
            // A page is visited only when the user agreed to it.
            if let url = request.url { emit(.openLink(url: url)) }
            return ElicitResult(.accept, content: request.url == nil ? [:] : nil)
        case .deny: return ElicitResult(.decline)
        case .cancel: return ElicitResult(.cancel)
        }
    }
}
