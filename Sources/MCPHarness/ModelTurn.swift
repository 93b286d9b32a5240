/// One answer of the model, read from its stream.
package struct ModelTurn: Sendable {
    /// The minimum number of bytes that a piece of an answer counts as, because reporting it has a cost of
    /// its own.
    private static let minEventBytes = 16
    /// The stop reasons with which a model indicates that it has finished, or that it wants its calls to be
    /// made.
    private static let goodReasons: Set<String> = [
        "stop", "tool_calls", "function_call", "end_turn", "endTurn", "tool_use", "toolUse", "stop_sequence",
        "stopSequence",
    ]

    /// The model's text.
    package private(set) var text = ""
    private(set) var calls: [ModelToolCall] = []
    private(set) var usage = ModelUsage()
    /// The bytes kept of the answer, and the bytes shown while it was written: a call may arrive in both
    /// forms.
    private var bytes = 0
    private var shownBytes = 0
    /// The IDs that are in use, in this answer and before it.
    private(set) var ids: CallIDs
    /// The IDs assigned here to calls, by the model's own IDs, from a call's first piece to its end.
    private var begun: [String: String] = [:]

    private init(_ ids: CallIDs) { self.ids = ids }

    /// Reads the answer to its end.
    ///
    /// - Throws: any error of the model; `HarnessError.responseTooLarge`; `.model` for too many calls.
    package static func read(
        _ model: any LanguageModel, _ request: ModelRequest, limit: Int,
        _ emit: @Sendable (HarnessEvent) -> Void
    ) async throws -> ModelTurn {
        try await read(model, request, ids: CallIDs(request.messages), limit: limit, emit)
    }

    /// - Parameter ids: the IDs that are in use before the answer.
    static func read(
        _ model: any LanguageModel, _ request: ModelRequest, ids: CallIDs, limit: Int,
        _ emit: @Sendable (HarnessEvent) -> Void
    ) async throws -> ModelTurn {
        var turn = ModelTurn(ids)
        for try await event in model.respond(to: request) {
            try turn.take(event, limit, emit)
        }
        // A stream that ends because its reader was cancelled looks the same as one that ended normally.
        try Task.checkCancellation()
        return turn
    }

    private mutating func take(
        _ event: ModelEvent, _ limit: Int, _ emit: @Sendable (HarnessEvent) -> Void
    ) throws(HarnessError) {
        switch event {
        case .textDelta(let delta):
            try Self.count([delta], in: &bytes, limit)
            text += delta
            emit(.textDelta(delta))
        case .toolCallDelta(let callID, let name, let partial):
            try Self.count([callID, name ?? "", partial], in: &shownBytes, limit)
            let id = try id(of: callID)
            emit(.toolInputDelta(callID: id, name: name, partialArguments: partial))
        case .toolCall(var call):
            try Self.count([call.callID, call.itemID ?? "", call.name, call.arguments], in: &bytes, limit)
            let id = try id(of: call.callID)
            begun[call.callID] = nil
            call.callID = id
            calls.append(call)
        case .usage(let cost):
            try Self.count([], in: &shownBytes, limit)
            usage = usage + cost
            emit(.usage(cost))
        case .warning(let text):
            try Self.count([text], in: &shownBytes, limit)
            emit(.warning(text))
        case .stop(let reason):
            try Self.count([reason], in: &shownBytes, limit)
            if let warning = Self.warning(of: reason) { emit(.warning(warning)) }
        }
    }

    private static func count(_ texts: [String], in bytes: inout Int, _ limit: Int) throws(HarnessError) {
        bytes += max(minEventBytes, texts.reduce(0) { $0 + $1.utf8.count })
        if bytes > limit { throw .responseTooLarge(limit: limit) }
    }

    /// Returns the ID that a call has from its first piece on.
    private mutating func id(of id: String) throws(HarnessError) -> String {
        if let own = begun[id] { return own }
        guard calls.count + begun.count < CallIDs.maximum else { throw .tooManyCalls }
        let own = ids.claim(id)
        begun[id] = own
        return own
    }

    /// Describes an abnormal stop reason for a person; nil for a normal one.
    private static func warning(of reason: String) -> String? {
        switch reason {
        case _ where goodReasons.contains(reason): nil
        case "length", "max_tokens", "maxTokens":
            "The model's answer is cut off: it reached the maximum length."
        case "content_filter":
            "The model's answer is incomplete: its server left something out (content_filter)."
        default: "The model's answer may be incomplete: it ended with the stop reason \(reason)."
        }
    }
}
