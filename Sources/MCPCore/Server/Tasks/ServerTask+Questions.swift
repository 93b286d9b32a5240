import Synchronization

/// Questions of a handler after its call became a task (ext-tasks "Task Update Requests").
extension ServerTask: InputSource {
    /// Questions that one task may ask in all. The handler's mistake costs it this task, not the memory.
    static let maxQuestions = 1000

    /// Puts questions into the task and waits until the client has answered them all.
    ///
    /// - Throws: `CancellationError` when the task ends first.
    func ask(_ requests: [String: InputRequest]) async throws -> [String: JSONValue] {
        guard !requests.isEmpty else { return [:] }
        guard let round = update({ open(requests, &$0) }) else {
            if isOver { throw CancellationError() }
            throw MCPError.internalError("A task may ask \(Self.maxQuestions) questions")
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(for: round, continuation)
            }
        } onCancel: {
            giveUp(round)
        }
    }

    private func open(_ requests: [String: InputRequest], _ state: inout State) -> Int? {
        guard !state.status.isTerminal, state.asked + requests.count <= Self.maxQuestions else {
            return nil
        }
        state.asked += requests.count
        state.lastRound += 1
        state.rounds[state.lastRound] = Round(open: requests.count)
        for (name, request) in requests.sorted(by: { $0.key < $1.key }) {
            let question = Question(request: request, round: state.lastRound, key: name)
            state.questions.append((Self.unusedKey(name, &state), question))
        }
        state.status = .inputRequired
        return state.lastRound
    }

    /// The name itself the first time, then with a number behind it (TASK-15).
    private static func unusedKey(_ name: String, _ state: inout State) -> String {
        var key = name
        while state.usedKeys[key] != nil {
            state.usedKeys[name, default: 1] += 1
            key = "\(name)-\(state.usedKeys[name, default: 1])"
        }
        state.usedKeys[key] = 1
        return key
    }

    private func wait(
        for round: Int, _ continuation: CheckedContinuation<[String: JSONValue], any Error>
    ) {
        let outcome = state.withLock { state -> Result<[String: JSONValue], any Error>? in
            // Gone: the task ended, or the handler's work was cancelled, in the meantime.
            guard var waiting = state.rounds[round] else { return .failure(CancellationError()) }
            if waiting.open == 0 {
                state.rounds[round] = nil
                return .success(waiting.answers)
            }
            waiting.waiting = continuation
            state.rounds[round] = waiting
            return nil
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    /// Takes questions back whose handler does not wait any more.
    private func giveUp(_ round: Int) {
        let waiting = update { state -> Round? in
            guard let waiting = state.rounds.removeValue(forKey: round) else { return nil }
            state.questions.removeAll { $0.question.round == round }
            if state.questions.isEmpty { state.status = .working }
            return waiting
        }
        waiting?.waiting?.resume(throwing: CancellationError())
    }

    /// Takes the client's answers: those to questions that are open, others are ignored (TASK-16).
    ///
    /// - Throws: `MCPError` -32602 when an answer has not the shape of its kind; then none is taken.
    func take(_ answers: JSONObject) throws(MCPError) {
        let open = state.withLock { $0.questions }
        for (key, question) in open {
            guard let answer = answers[key] else { continue }
            if let problem = question.request.problem(with: answer) {
                throw .invalidParams("The answer for \"\(key)\" does not fit its request: \(problem)")
            }
        }
        let done = update { state -> [(Round, [String: JSONValue])]? in
            var isChanged = false
            for (key, question) in state.questions {
                guard let answer = answers[key] else { continue }
                isChanged = true
                state.rounds[question.round]?.answers[question.key] = answer
                state.rounds[question.round]?.open -= 1
            }
            guard isChanged else { return nil }
            state.questions.removeAll { answers[$0.key] != nil }
            if state.questions.isEmpty, !state.status.isTerminal { state.status = .working }
            // A round that nobody waits for yet is taken by `wait`.
            let complete = state.rounds.filter { $0.value.open == 0 && $0.value.waiting != nil }
            for number in complete.keys { state.rounds[number] = nil }
            return complete.values.map { ($0, $0.answers) }
        }
        for (round, answers) in done ?? [] { round.waiting?.resume(returning: answers) }
    }
}
