import Synchronization

/// The memory that the connections of one server may use together for messages, in bytes.
///
/// Memory is counted once it is there, never for what somebody merely announces, so that announcing costs
/// nobody anything. A little of every connection stays uncounted (see `HTTPConnection.ownBytes`): small
/// messages go on when the budget is used up, and cost no atomic operation.
final class MemoryBudget: Sendable {
    let limit: Int
    private let counted = Atomic<Int>(0)

    init(limit: Int) { self.limit = limit }

    /// The bytes that are in use.
    var used: Int { counted.load(ordering: .relaxed) }

    /// More is in use than may be: whoever has a part of it gives something up.
    var isOverdrawn: Bool { used > limit }

    /// Little is left: nobody keeps what it only might need.
    var isScarce: Bool { used > limit - limit / 8 }

    /// Whether so many more bytes are left now; it keeps none.
    func has(_ bytes: Int) -> Bool { bytes <= limit - used }

    fileprivate func change(by difference: Int) { counted.add(difference, ordering: .relaxed) }
}

/// The part of a budget that one owner uses; it is given back with the owner.
struct MemoryShare: ~Copyable {
    let budget: MemoryBudget
    private(set) var bytes: Int

    init(of budget: MemoryBudget, bytes: Int = 0) {
        self.budget = budget
        self.bytes = bytes
        if bytes != 0 { budget.change(by: bytes) }
    }

    deinit { if bytes != 0 { budget.change(by: -bytes) } }

    /// What the owner uses now.
    mutating func set(_ bytes: Int) {
        if bytes == self.bytes { return }
        budget.change(by: bytes - self.bytes)
        self.bytes = bytes
    }
}
