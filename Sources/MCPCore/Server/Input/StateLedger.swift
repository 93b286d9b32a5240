import Synchronization

/// Which rounds of questions are being answered, and which are used up (MRTR-11).
///
/// A `requestState` cannot know by itself that it was used. This instance remembers it until the state would
/// have expired; another instance with the same key does not know.
final class StateLedger: Sendable {
    enum Refusal: Sendable {
        /// Another request with a state of these rounds is being served.
        case inUse
        /// The call has been completed.
        case used
    }

    private struct State {
        /// As many as there are requests that answer questions.
        var inUse: Set<RequestState.Chain> = []
        /// Until when, in the order of their use: all live equally long.
        var used: BoundedTable<RequestState.Chain, Int64>
    }

    private let state: Mutex<State>

    /// - Parameter capacity: how many used ones are remembered; then the oldest is forgotten.
    init(capacity: Int = defaultCapacity) {
        state = Mutex(State(used: BoundedTable(capacity: capacity, policy: .evictOldest)))
    }

    static let defaultCapacity = 100_000

    /// How many are remembered.
    var count: Int { state.withLock { $0.inUse.count + $0.used.count } }

    /// Marks rounds as being answered.
    func begin(_ chain: RequestState.Chain, now: Int64) -> Refusal? {
        state.withLock { state in
            state.used.removeOldest { _, until in until <= now }
            if state.used.contains(chain) { return .used }
            return state.inUse.insert(chain).inserted ? nil : .inUse
        }
    }

    /// The call is complete: none of its states is good any more.
    func use(_ chain: RequestState.Chain, until expiry: Int64) {
        state.withLock { state in
            state.inUse.remove(chain)
            state.used.insert(expiry, for: chain)
        }
    }

    /// The call goes on, or came to nothing: its states stay good.
    func release(_ chain: RequestState.Chain) {
        state.withLock { state in
            state.inUse.remove(chain)
            state.used.remove(chain)
        }
    }
}
