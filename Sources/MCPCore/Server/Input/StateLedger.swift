import Synchronization

/// A ledger of the rounds of questions that are being answered, and of those that are used up (MRTR-11).
///
/// A `requestState` cannot record its own use. This instance remembers the use until the state would have
/// expired; another instance with the same key knows about it through `SharedState`, if there is a store.
final class StateLedger: Sendable {
    enum Refusal: Sendable {
        /// Another request with a state of these rounds is being served.
        case inUse
        /// The call has been completed.
        case used
    }

    private struct State {
        /// One entry for each request that answers questions.
        var inUse: Set<RequestState.Chain> = []
        /// The expiry times, in the order of use: all entries live equally long.
        var used: BoundedTable<RequestState.Chain, Int64>
    }

    private let state: Mutex<State>

    /// - Parameter capacity: the number of used rounds that are remembered; beyond it, the
    ///   oldest is forgotten.
    init(capacity: Int = defaultCapacity) {
        state = Mutex(State(used: BoundedTable(capacity: capacity, policy: .evictOldest)))
    }

    static let defaultCapacity = 100_000

    /// The number of rounds that are remembered.
    var count: Int { state.withLock { $0.inUse.count + $0.used.count } }

    /// Whether the call has been completed.
    func isUsed(_ chain: RequestState.Chain) -> Bool { state.withLock { $0.used.contains(chain) } }

    /// Marks rounds as being answered.
    func begin(_ chain: RequestState.Chain, now: Int64) -> Refusal? {
        state.withLock { state in
            state.used.removeOldest { _, until in until <= now }
            if state.used.contains(chain) { return .used }
            return state.inUse.insert(chain).inserted ? nil : .inUse
        }
    }

    /// Marks the call as complete: none of its states is valid any more.
    func use(_ chain: RequestState.Chain, until expiry: Int64) {
        state.withLock { state in
            state.inUse.remove(chain)
            state.used.insert(expiry, for: chain)
        }
    }

    /// Releases the rounds of a call that continues or has failed: its states stay valid.
    func release(_ chain: RequestState.Chain) {
        state.withLock { state in
            state.inUse.remove(chain)
            state.used.remove(chain)
        }
    }
}
