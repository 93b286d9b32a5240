/// Results are told apart by the id of the call, so that each call of an answer needs one of its own.
struct CallIDs: Sendable {
    /// Calls in one answer; an answer with more is refused.
    static let maximum = 1_024

    private var used: Set<String> = []
    private var last = 0

    /// The id itself when nobody has it yet; otherwise one that is made from it.
    mutating func claim(_ id: String) -> String {
        if !id.isEmpty, used.insert(id).inserted { return id }
        // The number only grows: all calls together try no more of them than there are calls.
        while true {
            last += 1
            let other = "\(id)#\(last)"
            if used.insert(other).inserted { return other }
        }
    }
}
