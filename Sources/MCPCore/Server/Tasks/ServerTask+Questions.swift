import Synchronization

/// Questions of a handler after its call has become a task (ext-tasks "Task Update Requests").
extension ServerTask: InputSource {
    /// The maximum number of questions that one task may ask in total. A faulty handler loses this task, but
    /// does not exhaust the memory.
    static let maxQuestions = 1000

    /// Adds questions to the task and waits until the client has answered them all.
    ///
    /// - Throws: `CancellationError` when the task ends first.
    func ask(_ requests: [String: InputRequest]) async throws -> [String: JSONValue] {
        guard !requests.isEmpty else { return [:] }
        guard let round = update({ open(requests, &$0) }) else {
            if isOver { throw CancellationError() }
            throw MCPError.internalError("A task may ask at most \(Self.maxQuestions) questions")
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

    /// Returns the name itself the first time, then the name with a number appended (TASK-15).
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
            // The round is gone: the task ended, or the handler's work was cancelled, in the meantime.
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

    /// Withdraws questions whose handler no longer waits.
    private func giveUp(_ round: Int) {
        let waiting = update { state -> Round? in
            guard let waiting = state.rounds.removeValue(forKey: round) else { return nil }
            state.questions.removeAll { $0.question.round == round }
            if state.questions.isEmpty { state.status = .working }
            return waiting
        }
        waiting?.waiting?.resume(throwing: CancellationError())
    }

    /// Accepts the client's answers to open questions; other answers are ignored (TASK-16).
    ///
    /// - Throws: `MCPError` -32602 when an answer does not have the shape of its kind; then none is accepted.
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
            // A complete round that no handler waits for yet is picked up by `wait`.
            let complete = state.rounds.filter { $0.value.open == 0 && $0.value.waiting != nil }
            for number in complete.keys { state.rounds[number] = nil }
            return complete.values.map { ($0, $0.answers) }
        }
        for (round, answers) in done ?? [] { round.waiting?.resume(returning: answers) }
    }
}
