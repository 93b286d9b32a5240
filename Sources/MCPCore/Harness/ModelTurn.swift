/// One answer of the model, read from its stream.
struct ModelTurn: Sendable {
    private(set) var text = ""
    private(set) var calls: [ModelToolCall] = []
    private(set) var usage = ModelUsage()
    private var bytes = 0

    /// Reads the answer to its end.
    /// - Throws: what the model throws; `HarnessError.responseTooLarge`.
    static func read(
        _ model: any LanguageModel, _ request: ModelRequest, limit: Int,
        _ emit: @Sendable (HarnessEvent) -> Void
    ) async throws -> ModelTurn {
        var turn = ModelTurn()
        for try await event in model.respond(to: request) {
            try turn.take(event, limit, emit)
        }
        // A stream that ends because its reader was cancelled ends like a good one.
        try Task.checkCancellation()
        return turn
    }

    private mutating func take(
        _ event: ModelEvent, _ limit: Int, _ emit: @Sendable (HarnessEvent) -> Void
    ) throws(HarnessError) {
        switch event {
        case .textDelta(let delta):
            try count(delta, limit)
            text += delta
            emit(.textDelta(delta))
        case .toolCallDelta(let callID, let name, let partial):
            emit(.toolInputDelta(callID: callID, name: name, partialArguments: partial))
        case .toolCall(let call):
            try count(call.arguments, limit)
            calls.append(named(call))
        case .usage(let cost):
            usage = usage + cost
            emit(.usage(cost))
        case .stop: break
        }
    }

    private mutating func count(_ text: String, _ limit: Int) throws(HarnessError) {
        bytes += text.utf8.count
        if bytes > limit { throw .responseTooLarge(limit: limit) }
    }

    /// Results are told apart by the id, so that each call needs one of its own.
    private func named(_ call: ModelToolCall) -> ModelToolCall {
        guard call.callID.isEmpty || calls.contains(where: { $0.callID == call.callID }) else { return call }
        var call = call
        call.callID = "\(call.callID)#\(calls.count + 1)"
        return call
    }
}
