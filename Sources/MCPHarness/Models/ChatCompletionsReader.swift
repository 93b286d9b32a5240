import MCPCore

/// Assembles the pieces of a streamed answer: calls by their index and ID, arguments byte for byte.
struct ChatCompletionsReader {
    private struct Call {
        let index: Int?
        /// The server's ID; it may arrive late, or never.
        var serverID: String
        /// The ID that is reported here, from the first piece on.
        let id: String
        var name = ""
        var arguments = ""
    }

    private let names: ChatCompletionsNames
    private let limit: Int
    /// The key of the model, which no error repeats.
    private let secrets: KnownSecrets
    private var bytes = 0
    private var calls: [Call] = []
    /// The newest call for each index, and for each ID.
    private var byIndex: [Int: Int] = [:]
    private var byID: [String: Int] = [:]
    private var ids = CallIDs()
    private var hasText = false
    private var refusal = ""
    private var stop: String?
    private(set) var isDone = false
    /// Whether the last chunk was a part of an answer; one without any content only keeps the connection
    /// busy.
    private(set) var hasAdvanced = false

    /// Whether the model has given its stop reason.
    var hasStopped: Bool { stop != nil }

    /// - Parameter limit: the maximum total size of the calls and a refusal; 16 MiB.
    init(_ names: ChatCompletionsNames, limit: Int = 16 << 20, secrets: KnownSecrets = KnownSecrets()) {
        self.names = names
        self.secrets = secrets
        self.limit = limit
    }

    static func isEnd(_ data: ByteSlice) -> Bool { data.elementsEqual("[DONE]".utf8) }

    /// Returns the events of one chunk.
    ///
    /// - Throws: `HarnessError.model` for an error that the server streams, and for data that cannot be read;
    ///   `.responseTooLarge`.
    mutating func take(_ data: ByteSlice) throws(HarnessError) -> [ModelEvent] {
        hasAdvanced = true
        if Self.isEnd(data) {
            isDone = true
            return []
        }
        guard let chunk = try? JSONValue(parsing: data) else {
            throw .model("the model's server sent a chunk that is not JSON")
        }
        if let error = chunk["error"], error != .null {
            let text = error["message"]?.stringValue ?? error.serialized()
            throw .model("the model's server reported an error: \(HarnessError.words(secrets.mask(text)))")
        }
        var events: [ModelEvent] = []
        let choice = chunk["choices"]?[0]
        let delta = choice?["delta"]
        let text = Self.text(ofContent: delta?["content"])
        if !text.isEmpty {
            hasText = true
            events.append(.textDelta(text))
        }
        if let text = delta?["refusal"]?.stringValue {
            try count(text)
            refusal += text
        }
        for call in delta?["tool_calls"]?.arrayValue ?? [] { events.append(try take(call: call)) }
        if let reason = choice?["finish_reason"]?.stringValue, !reason.isEmpty { stop = reason }
        if let usage = chunk["usage"], let input = usage["prompt_tokens"]?.intValue {
            let output = usage["completion_tokens"]?.intValue ?? 0
            events.append(.usage(ModelUsage(inputTokens: input, outputTokens: output)))
        }
        hasAdvanced = !events.isEmpty || hasStopped || delta.map(Self.hasContent) == true
        return events
    }

    /// Returns content as text. Some servers send it as parts, as in a request: those of text count.
    private static func text(ofContent content: JSONValue?) -> String {
        guard let parts = content?.arrayValue else { return content?.stringValue ?? "" }
        return parts.compactMap { part -> String? in
            let type = part["type"]?.stringValue ?? "text"
            return part.stringValue ?? (type.hasSuffix("text") ? part["text"]?.stringValue : nil)
        }.joined()
    }

    /// Whether a piece of an answer says anything, such as what a model thinks, which nobody else reads.
    private static func hasContent(_ delta: JSONValue) -> Bool {
        (delta.objectValue ?? [:]).contains { name, value in
            switch value {
            case .null: false
            case .string(let text): name != "role" && !text.isEmpty
            case .array(let values): !values.isEmpty
            case .object(let members): !members.isEmpty
            case .bool, .number: false
            }
        }
    }

    private mutating func count(_ text: String) throws(HarnessError) {
        bytes += text.utf8.count
        if bytes > limit { throw .responseTooLarge(limit: limit) }
    }

    // MARK: Calls

    /// Returns arguments as text. Some servers send them as an object, which is then the whole of them.
    private static func text(_ arguments: JSONValue?) -> String {
        guard let arguments, arguments != .null else { return "" }
        return arguments.stringValue ?? arguments.serialized()
    }

    private mutating func take(call json: JSONValue) throws(HarnessError) -> ModelEvent {
        let (index, id) = (json["index"]?.intValue, json["id"]?.stringValue ?? "")
        let name = json["function"]?["name"]?.stringValue
        let piece = Self.text(json["function"]?["arguments"])
        try count(id)
        try count(name ?? "")
        try count(piece)
        let place = try place(index: index, id: id, begins: name?.isEmpty == false)
        // Some servers repeat the whole name, with the id, in each piece.
        if let name, id.isEmpty || name != calls[place].name { calls[place].name += name }
        // Appended in place: copying for each piece would take quadratic time.
        calls[place].arguments += piece
        return .toolCallDelta(
            callID: calls[place].id, name: name.map { _ in names.own(calls[place].name) },
            partialArguments: piece)
    }

    /// Returns the call that a piece belongs to. Some servers send every call with index 0, and some send no
    /// index at all.
    private mutating func place(index: Int?, id: String, begins: Bool) throws(HarnessError) -> Int {
        if let place = known(index: index, id: id, begins: begins) {
            if calls[place].serverID.isEmpty, !id.isEmpty {
                calls[place].serverID = id
                byID[id] = place
            }
            return place
        }
        guard calls.count < CallIDs.maximum else { throw .tooManyCalls }
        let place = calls.count
        calls.append(Call(index: index, serverID: id, id: ids.claim(id)))
        if let index { byIndex[index] = place }
        if !id.isEmpty { byID[id] = place }
        return place
    }

    private func known(index: Int?, id: String, begins: Bool) -> Int? {
        let same = id.isEmpty ? nil : byID[id]
        guard let index else {
            guard same == nil, let last = calls.indices.last else { return same }
            if !id.isEmpty { return begins || !calls[last].serverID.isEmpty ? nil : last }
            // A name that follows arguments belongs to the next call.
            return begins && !calls[last].arguments.isEmpty ? nil : last
        }
        if let place = byIndex[index] {
            let before = calls[place].serverID
            if id.isEmpty || before.isEmpty || before == id { return place }
        }
        return same.flatMap { calls[$0].index == index ? $0 : nil }
    }

    /// Returns the complete calls and the end of the answer.
    ///
    /// - Throws: `HarnessError.model` when the stream ended prematurely.
    mutating func finish() throws(HarnessError) -> [ModelEvent] {
        guard isDone || stop != nil else {
            throw .model("the model's server ended in the middle of an answer")
        }
        var events: [ModelEvent] = []
        if !hasText, !refusal.isEmpty { events.append(.textDelta(refusal)) }
        let order = calls.indices.sorted {
            (calls[$0].index ?? $0, $0) < (calls[$1].index ?? $1, $1)
        }
        for call in order.map({ calls[$0] }) {
            events.append(
                .toolCall(
                    ModelToolCall(callID: call.id, name: names.own(call.name), arguments: call.arguments)))
        }
        return events + [.stop(stop ?? "stop")]
    }
}
