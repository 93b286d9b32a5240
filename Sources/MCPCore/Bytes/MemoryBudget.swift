import Synchronization

/// The total memory, in bytes, that the connections of one server may use for messages.
///
/// Memory is counted once it is allocated, never when a peer merely announces a size, so that an announcement
/// uses up no other connection's memory. A small amount per connection is not counted (see
/// `HTTPConnection.ownBytes`): small messages still get through when the budget is used up, and need no
/// atomic operation.
final class MemoryBudget: Sendable {
    let limit: Int
    private let counted = Atomic<Int>(0)

    init(limit: Int) { self.limit = limit }

    /// The number of bytes in use.
    var used: Int { counted.load(ordering: .relaxed) }

    /// Whether more is in use than allowed, so that every holder of a share must give something up.
    var isOverdrawn: Bool { used > limit }

    /// Whether little is left, so that no holder keeps memory that it only might need.
    var isScarce: Bool { used > limit - limit / 8 }

    /// Whether this many more bytes are available now; does not reserve them.
    func has(_ bytes: Int) -> Bool { bytes <= limit - used }

    fileprivate func change(by difference: Int) { counted.add(difference, ordering: .relaxed) }
}

/// The part of a budget that one owner uses; returned to the budget when the owner is destroyed.
struct MemoryShare: ~Copyable {
    let budget: MemoryBudget
    private(set) var bytes: Int

    init(of budget: MemoryBudget, bytes: Int = 0) {
        self.budget = budget
        self.bytes = bytes
        if bytes != 0 { budget.change(by: bytes) }
    }

    deinit { if bytes != 0 { budget.change(by: -bytes) } }

    /// Sets the number of bytes that the owner uses now.
    mutating func set(_ bytes: Int) {
        if bytes == self.bytes { return }
        budget.change(by: bytes - self.bytes)
        self.bytes = bytes
    }
}
