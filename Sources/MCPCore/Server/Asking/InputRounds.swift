import Synchronization

/// Collects the questions of a stateless request, which are the answer to it (basic/patterns/mrtr).
final class InputRounds: InputSource {
    private let open = Mutex<[String: InputRequest]>([:])
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// What was asked and is not answered.
    var questions: [String: InputRequest] { open.withLock { $0 } }

    func ask(_ requests: [String: InputRequest]) async throws -> [String: JSONValue] {
        let isTooMuch = open.withLock { open in
            let all = open.merging(requests) { $1 }
            guard all.count <= limit else { return true }
            open = all
            return false
        }
        if isTooMuch { throw MCPError.tooManyQuestions(limit) }
        throw InputPending()
    }
}

/// What the retry of a stateless request brings along.
struct InputRetry: Sendable {
    /// By key: those of earlier rounds, and those that came with this request.
    var answers: [String: JSONValue]
    /// What the handler gave to be kept.
    var state: JSONValue?
    /// Where the rounds began; nil without a `requestState`.
    var chain: RequestState.Chain?
}

extension MCPError {
    static func tooManyQuestions(_ limit: Int) -> MCPError {
        .internalError("A request may have \(limit) open questions")
    }
}
