public import MCPCore
import MCPHarness

/// A question, and the caller that waits for the answer.
struct QuestionRecord {
    let question: HostQuestion
    let continuation: CheckedContinuation<QuestionAnswer, Never>
    /// The server or view that it is for; once that is gone, no caller waits for an answer.
    let source: HostedCall.Source?
    /// Whether the user sees it; false while an earlier question of the same view is open.
    var isOpen = false

    /// The server that asks on its own: for input, or for an answer of the model; nil for every other asker.
    var askingServer: HostedServer.ID? { Self.askingServer(question, source) }

    static func askingServer(_ question: HostQuestion, _ source: HostedCall.Source?) -> HostedServer.ID? {
        guard question.view == nil, case .server(let server) = source else { return nil }
        switch question.subject {
        case .elicitation, .sampling: return server
        case .approval, .link, .download, .message: return nil
        }
    }
}

extension AppHost {
    /// The number of questions of a view, or of a server, that the user may decline in a row; then it may not
    /// ask any more.
    static let maxRefusals = 3

    /// Asks the user and waits. A task that is cancelled withdraws its question.
    ///
    /// A view has one question open at a time; a view, or a server, that was refused too often is refused
    /// without asking.
    /// - Throws: the refusal of a view, or a server, that keeps taking its questions back.
    func ask(
        _ subject: HostQuestion.Subject, server: String, view: HostedView.ID?,
        for source: HostedCall.Source? = nil
    ) async throws(MCPError) -> QuestionAnswer {
        let id: HostQuestion.ID = nextID("q")
        let isForViewTool = if case .approval = subject, case .view = source { true } else { false }
        let question = HostQuestion(
            id: id, subject: subject, server: server, view: view, isForViewTool: isForViewTool)
        if changeWithdrawals(of: question, for: source, { $0.refuse(now()) }) {
            throw Self.refusal(
                "The \(view == nil ? "server" : "view") took back its questions too often; it may ask again "
                    + "after \(Self.quietTime.components.seconds) s without a question.")
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: .cancel) }
                if let view, isSilenced(view) { return continuation.resume(returning: .deny) }
                let record = QuestionRecord(
                    question: question, continuation: continuation, source: source)
                if let asker = record.askingServer, self.record(ofServer: asker)?.server.isSilenced == true {
                    return continuation.resume(returning: .deny)
                }
                questions[id] = record
                questionOrder.append(id)
                openNextQuestion(of: view)
                countWaiting(view)
            }
        } onCancel: {
            Task { await self.withdraw(id) }
        }
    }

    /// Withdraws a question of which the asker was cancelled, by its view if it has one.
    private func withdraw(_ id: HostQuestion.ID) {
        guard let record = questions[id] else { return }
        closeQuestion(id, .cancel)
        guard record.isOpen,
            changeWithdrawals(of: record.question, for: record.source, { $0.count(now()) })
        else { return }
        let server = record.question.server
        log(
            record.question.view == nil ? server : "view of \(server)", .warning,
            "refused without asking for a while: it took back \(Withdrawals.max + 1) questions")
    }

    /// Changes the account of the view or server that asks; nobody else has one.
    private func changeWithdrawals(
        of question: HostQuestion, for source: HostedCall.Source?, _ change: (inout Withdrawals) -> Bool
    ) -> Bool {
        if let view = question.view {
            guard var account = views[view]?.withdrawals else { return false }
            defer { views[view]?.withdrawals = account }
            return change(&account)
        }
        guard let server = QuestionRecord.askingServer(question, source),
            let index = servers.firstIndex(where: { $0.server.id == server })
        else { return false }
        return change(&servers[index].withdrawals)
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

    /// Notes how many questions of a view wait behind the one that is open.
    private func countWaiting(_ view: HostedView.ID?) {
        guard let view else { return }
        let count = questions.values.count { $0.question.view == view && !$0.isOpen }
        changeView(view) { $0.waitingQuestions = count }
    }

    /// Counts the refusals of a view: one that asks endlessly must not keep the user from everything else.
    private func count(_ answer: QuestionAnswer, of view: HostedView.ID) {
        guard let record = views[view], !isSilenced(view) else { return }
        views[view]?.refusals = answer.isYes ? 0 : record.refusals + 1
        guard isSilenced(view) else { return }
        changeView(view) { $0.isSilenced = true }
        log(
            "view of \(record.view.serverName)", .warning,
            "refused without asking from now on: the user declined \(Self.maxRefusals) questions in a row")
        for id in questionOrder where questions[id]?.question.view == view { closeQuestion(id, .deny) }
    }

    /// Counts the refusals of a server: it may ask without any call, and so endlessly.
    private func count(_ answer: QuestionAnswer, of server: HostedServer.ID) {
        guard let index = servers.firstIndex(where: { $0.server.id == server }),
            !servers[index].server.isSilenced
        else { return }
        servers[index].refusals = answer.isYes ? 0 : servers[index].refusals + 1
        guard servers[index].refusals == Self.maxRefusals else { return }
        servers[index].server.isSilenced = true
        emit(.server(servers[index].server))
        log(
            servers[index].server.name, .warning,
            "refused without asking from now on: the user declined \(Self.maxRefusals) questions in a row")
        for id in questionOrder where questions[id]?.askingServer == server { closeQuestion(id, .deny) }
    }

    /// Lets a server ask again, because the user turns to it.
    func letAsk(_ server: HostedServer.ID) {
        guard let index = servers.firstIndex(where: { $0.server.id == server }) else { return }
        servers[index].refusals = 0
        servers[index].withdrawals = Withdrawals()
        guard servers[index].server.isSilenced else { return }
        servers[index].server.isSilenced = false
        emit(.server(servers[index].server))
    }

    /// Accepts the user's answer.
    ///
    /// An answer to a question that was answered already, or that no caller waits for any more, has no
    /// effect.
    /// - Returns: whether a caller was waiting for it.
    @discardableResult
    public func answer(_ question: HostQuestion.ID, _ answer: QuestionAnswer) -> Bool {
        guard let record = questions[question], record.isOpen else { return false }
        closeQuestion(question, answer, isByUser: true)
        answerWaiting(like: record.question, answer)
        return true
    }

    /// Returns what does not fit in a form that the user filled in for a server; nothing is answered.
    ///
    /// The server receives an error instead of a form that does not fit.
    public func validate(_ question: HostQuestion.ID, _ content: JSONObject) -> [SchemaViolation] {
        guard case .elicitation(let request) = questions[question]?.question.subject else { return [] }
        return request.schema?.violations(of: content) ?? []
    }

    /// Accepts the answer also for the questions that wait and are covered by it.
    private func answerWaiting(like question: HostQuestion, _ answer: QuestionAnswer) {
        guard case .approval(let answered) = question.subject else { return }
        let isForView: Bool
        switch answer {
        case .allow(.once), .deny, .accept, .cancel: return
        case .allow: isForView = false
        case .allowView:
            guard let view = question.view else { return }
            isForView = true
            changeView(view) { $0.allowsCalls = true }
        }
        for id in questionOrder {
            guard let other = questions[id]?.question, case .approval(let request) = other.subject,
                isForView
                    ? other.view == question.view
                    : request.invocation.source == answered.invocation.source && request.tool == answered.tool
            else { continue }
            closeQuestion(id, .allow())
        }
    }

    /// Ends what the user allowed a view beforehand, and what it is refused without asking.
    public func askAgain(_ view: HostedView.ID) {
        views[view]?.refusals = 0
        views[view]?.withdrawals = Withdrawals()
        changeView(view) { ($0.allowsCalls, $0.isSilenced) = (false, false) }
    }

    /// Ends a question. Only what the user declines counts as a refusal: a view that was loaded again, or
    /// took its question back, was not refused.
    func closeQuestion(_ id: HostQuestion.ID, _ answer: QuestionAnswer, isByUser: Bool = false) {
        guard let record = questions.removeValue(forKey: id) else { return }
        questionOrder.removeAll { $0 == id }
        record.continuation.resume(returning: answer)
        guard record.isOpen else { return countWaiting(record.question.view) }
        emit(.questionClosed(id: id))
        guard let view = record.question.view else {
            if isByUser, let server = record.askingServer { count(answer, of: server) }
            return
        }
        if isByUser || answer.isYes { count(answer, of: view) }
        openNextQuestion(of: view)
        countWaiting(view)
    }

    /// Withdraws the questions that were asked for a server or a view.
    func closeQuestions(
        for source: HostedCall.Source, where fits: (HostQuestion.Subject) -> Bool = { _ in true }
    ) {
        // The open question comes first: in reverse order, no waiting one takes its place.
        for id in questionOrder.reversed() {
            guard let record = questions[id],
                record.source == source || record.question.view.map({ .view($0) }) == source,
                fits(record.question.subject)
            else { continue }
            closeQuestion(id, .cancel)
        }
    }

    /// Closes the questions from a server that has no calls in progress: it no longer waits for an answer.
    func closeForms(of source: HostedCall.Source) {
        guard !calls.values.contains(where: { $0.call.source == source && !$0.call.state.isOver }) else {
            return
        }
        closeQuestions(for: source) { if case .approval = $0 { false } else { true } }
    }

    /// Asks the user whether a tool may run.
    /// - Parameter view: the view that calls; `nil` when the user or the model does.
    func approve(_ request: ApprovalRequest, view: HostedView.ID?) async -> ApprovalDecision {
        if let view, views[view]?.view.allowsCalls == true { return .approved() }
        let source = source(request.invocation.source)
        let answer: QuestionAnswer
        do throws(MCPError) {
            answer = try await ask(
                .approval(request), server: serverName(of: source) ?? request.sourceName, view: view,
                for: source)
        } catch {
            return .denied(reason: error.message)
        }
        switch answer {
        case .allow(let remember): return .approved(remember: remember)
        case .allowView, .accept: return .approved()
        case .deny, .cancel: return .denied()
        }
    }

    /// Asks the same for one of the host's own calls.
    func approveCall(_ request: ApprovalRequest) async -> ApprovalDecision {
        await approve(request, view: calls[HostID(rawValue: request.invocation.callID)]?.call.callingView)
    }

    /// Asks the user on behalf of a server.
    func elicit(_ request: ElicitRequest, from server: HostedServer.ID) async -> ElicitResult {
        let name = self.name(of: .server(server))
        if let url = request.url, !WebAddress.isOne(url) {
            log(
                name, .warning,
                "request to visit an address that no browser opens, or not http or https: declined"
            )
            return ElicitResult(.decline)
        }
        let answer = try? await ask(.elicitation(request), server: name, view: nil, for: .server(server))
        switch answer ?? .cancel {
        case .accept(let content): return ElicitResult(.accept, content: request.url == nil ? content : nil)
        case .allow, .allowView:
            // A page is visited only if the user agreed to it.
            if let url = request.url { emit(.openLink(url: url)) }
            return ElicitResult(.accept, content: request.url == nil ? [:] : nil)
        case .deny: return ElicitResult(.decline)
        case .cancel: return ElicitResult(.cancel)
        }
    }
}
