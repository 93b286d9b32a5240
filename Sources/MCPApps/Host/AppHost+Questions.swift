import MCPCore
import MCPHarness

/// A question, and who waits for the answer.
struct QuestionRecord {
    let question: HostQuestion
    let continuation: CheckedContinuation<QuestionAnswer, Never>
    /// The server or view that it is for: where it is gone, nobody waits for an answer.
    let source: HostedCall.Source?
    /// The user sees it; false while an earlier one of the same view is open.
    var isOpen = false
}

extension AppHost {
    /// Questions of one view in a row that may end without a yes; then it is not let ask any more.
    static let maxRefusals = 3

    /// Asks the user and waits. A task that is cancelled takes its question back.
    ///
    /// A view has one question open at a time; one that was refused too often is refused without asking.
    func ask(
        _ subject: HostQuestion.Subject, server: String, view: HostedView.ID?,
        for source: HostedCall.Source? = nil
    ) async -> QuestionAnswer {
        let id: HostQuestion.ID = nextID("q")
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: .cancel) }
                if let view, isSilenced(view) { return continuation.resume(returning: .deny) }
                let question = HostQuestion(id: id, subject: subject, server: server, view: view)
                questions[id] = QuestionRecord(
                    question: question, continuation: continuation, source: source)
                questionOrder.append(id)
                openNextQuestion(of: view)
            }
        } onCancel: {
            Task { await self.closeQuestion(id, .cancel) }
        }
    }

    private func isSilenced(_ view: HostedView.ID) -> Bool { views[view]?.refusals == Self.maxRefusals }

    private func openNextQuestion(of view: HostedView.ID?) {
        let own = questionOrder.filter { questions[$0]?.question.view == view }
        if view != nil, own.contains(where: { questions[$0]?.isOpen == true }) { return }
        guard let next = own.first(where: { questions[$0]?.isOpen == false }), let record = questions[next]
        else { return }
        questions[next]?.isOpen = true
        emit(.question(record.question))
    }

    /// Counts what a view is refused: one that asks without end must not keep the user from everything else.
    private func count(_ answer: QuestionAnswer, of view: HostedView.ID) {
        guard let record = views[view], !isSilenced(view) else { return }
        views[view]?.refusals = answer.isYes ? 0 : record.refusals + 1
        guard isSilenced(view) else { return }
        log(
            "view of \(record.view.serverName)", .warning,
            "it is refused without asking from now on: \(Self.maxRefusals) questions in a row had no yes")
        for id in questionOrder where questions[id]?.question.view == view { closeQuestion(id, .deny) }
    }

    /// Takes the user's answer. One to a question that was answered already, or that nobody asks any more,
    /// has no effect.
    /// - Returns: whether somebody was waiting for it.
    @discardableResult
    public func answer(_ question: HostQuestion.ID, _ answer: QuestionAnswer) -> Bool {
        guard questions[question]?.isOpen == true else { return false }
        closeQuestion(question, answer)
        return true
    }

    func closeQuestion(_ id: HostQuestion.ID, _ answer: QuestionAnswer) {
        guard let record = questions.removeValue(forKey: id) else { return }
        questionOrder.removeAll { $0 == id }
        record.continuation.resume(returning: answer)
        guard record.isOpen else { return }
        emit(.questionClosed(id: id))
        guard let view = record.question.view else { return }
        count(answer, of: view)
        openNextQuestion(of: view)
    }

    /// Takes back what was asked for a server or a view.
    func closeQuestions(
        for source: HostedCall.Source, where fits: (HostQuestion.Subject) -> Bool = { _ in true }
    ) {
        // The open one is the first: none that waits takes its place.
        for id in questionOrder.reversed() {
            guard let record = questions[id],
                record.source == source || record.question.view.map({ .view($0) }) == source,
                fits(record.question.subject)
            else { continue }
            closeQuestion(id, .cancel)
        }
    }

    /// A server that nobody calls any more waits for no answer.
    func closeForms(of source: HostedCall.Source) {
        guard !calls.values.contains(where: { $0.call.source == source && !$0.call.state.isOver }) else {
            return
        }
        closeQuestions(for: source) { if case .approval = $0 { false } else { true } }
    }

    /// Asks whether a tool may run.
    /// - Parameter view: the view that calls; nil when the user or the model does.
    func approve(_ request: ApprovalRequest, view: HostedView.ID?) async -> ApprovalDecision {
        let server = record(of: request.invocation.source)?.server.name ?? request.sourceName
        let source = source(request.invocation.source)
        switch await ask(.approval(request), server: server, view: view, for: source) {
        case .allow(let remember): return .approved(remember: remember)
        case .accept: return .approved()
        case .deny, .cancel: return .denied()
        }
    }

    /// The same for a call of the host's own.
    func approveCall(_ request: ApprovalRequest) async -> ApprovalDecision {
        await approve(request, view: calls[HostID(rawValue: request.invocation.callID)]?.call.callingView)
    }

    /// A server asks the user.
    func elicit(_ request: ElicitRequest, from server: HostedServer.ID) async -> ElicitResult {
        let name = self.name(of: .server(server))
        if let url = request.url, !WebAddress.isOne(url) {
            log(
                name, .warning, "it asks for the visit of an address that is neither http nor https: declined"
            )
            return ElicitResult(.decline)
        }
        switch await ask(.elicitation(request), server: name, view: nil, for: .server(server)) {
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
