/// Assigns unique IDs to the calls of a conversation, because results and events are matched to calls by ID,
/// and a model may begin again with its IDs in each answer.
struct CallIDs: Sendable {
    /// The maximum number of calls in one answer; an answer with more is refused.
    static let maximum = 1_024

    private var used: Set<String> = []
    private var last = 0

    /// - Parameter messages: the conversation so far, whose IDs are in use.
    init(_ messages: [ModelMessage] = []) {
        for case .assistant(_, let calls) in messages { used.formUnion(calls.lazy.map(\.callID)) }
    }

    /// Returns the ID itself if it is not yet in use; otherwise an ID derived from it.
    mutating func claim(_ id: String) -> String {
        if !id.isEmpty, used.insert(id).inserted { return id }
        // The number only increases, so all calls together try at most as many numbers as there are calls.
        while true {
            last += 1
            let other = "\(id)#\(last)"
            if used.insert(other).inserted { return other }
        }
    }
}
