import Synchronization

/// A ledger of the rounds of questions that are being answered, and of those that are used up (MRTR-11).
///
/// A `requestState` cannot record its own use. This instance remembers the use until the state would have
/// expired; another instance with the same key knows about it through `SharedState`, if there is a store.
/// When it has to forget a use, it refuses all states of the same caller that may be as old: none is valid a
/// second time.
final class StateLedger: Sendable {
    enum Refusal: Sendable {
        /// Another request with a state of these rounds is being served.
        case inUse
        /// The call has been completed.
        case used
        /// Whether the call has been completed is not known any more.
        case forgotten
    }

    fileprivate struct Use {
        let principal: String
        /// The time at which all states of the rounds have expired.
        var expiry: Int64
    }

    fileprivate struct State {
        /// One entry for each request that answers questions.
        var inUse: Set<RequestState.Chain> = []
        /// The uses in their order: all entries live equally long.
        var used: BoundedTable<RequestState.Chain, Use>
        /// The uses of each caller, in their order.
        var chains: [String: BoundedTable<RequestState.Chain, Void>] = [:]
        /// The latest expiry of a use that was forgotten, by caller.
        var forgotten: BoundedTable<String, Int64>
        /// The same of callers that are themselves forgotten.
        var forgottenOfOthers = Int64.min
    }

    private let state: Mutex<State>
    private let capacity: Int
    private let share: Int

    /// - Parameters:
    ///   - capacity: the number of used rounds that are remembered.
    ///   - share: the number that a caller keeps when all are taken: one with more loses its own oldest,
    ///     otherwise the oldest is forgotten.
    ///   - callers: the number of callers of whom uses were forgotten that are told apart.
    init(capacity: Int = defaultCapacity, share: Int = defaultShare, callers: Int = defaultCallers) {
        self.capacity = capacity
        self.share = share
        state = Mutex(
            State(
                used: BoundedTable(capacity: capacity, policy: .refuse),
                forgotten: BoundedTable(capacity: callers, policy: .refuse)))
    }

    static let defaultCapacity = 100_000
    static let defaultShare = 25_000
    static let defaultCallers = 1_000

    /// The number of rounds that are remembered.
    var count: Int { state.withLock { $0.inUse.count + $0.used.count } }

    /// Whether the call has been completed.
    func isUsed(_ chain: RequestState.Chain) -> Bool { state.withLock { $0.used.contains(chain) } }

    /// Marks rounds as being answered.
    ///
    /// - Parameter expiry: that of the state.
    func begin(
        _ chain: RequestState.Chain, of principal: String, until expiry: Int64, now: Int64
    ) -> Refusal? {
        state.withLock { state in
            state.removeExpired(at: now)
            if state.used.contains(chain) { return .used }
            let forgotten = max(state.forgotten[principal] ?? .min, state.forgottenOfOthers)
            if expiry <= forgotten { return .forgotten }
            return state.inUse.insert(chain).inserted ? nil : .inUse
        }
    }

    /// Marks the call as complete: none of its states is valid any more.
    ///
    /// - Parameter expiry: the time at which all of them have expired.
    func use(_ chain: RequestState.Chain, of principal: String, until expiry: Int64) {
        state.withLock { state in
            state.inUse.remove(chain)
            if !state.used.contains(chain), state.used.isFull {
                state.forgetOne(for: principal, share: share)
            }
            state.used.insert(Use(principal: principal, expiry: expiry), for: chain)
            if state.chains[principal] == nil {
                state.chains[principal] = BoundedTable(capacity: capacity, policy: .refuse)
            }
            state.chains[principal]?.insert((), for: chain)
        }
    }

    /// Releases the rounds of a call that continues or has failed: its states stay valid.
    func release(_ chain: RequestState.Chain) {
        state.withLock { state in
            state.inUse.remove(chain)
            state.remove(chain)
        }
    }
}

extension StateLedger.State {
    @discardableResult
    mutating func remove(_ chain: RequestState.Chain) -> StateLedger.Use? {
        guard let use = used.remove(chain) else { return nil }
        chains[use.principal]?.remove(chain)
        if chains[use.principal]?.isEmpty == true { chains[use.principal] = nil }
        return use
    }

    mutating func removeExpired(at now: Int64) {
        while let (chain, use) = used.oldest, use.expiry <= now { remove(chain) }
        while let (principal, expiry) = forgotten.oldest, expiry <= now { forgotten.remove(principal) }
    }

    /// Makes room for a use of a caller.
    mutating func forgetOne(for principal: String, share: Int) {
        let own = chains[principal].flatMap { $0.count >= share ? $0.oldest?.key : nil }
        guard let chain = own ?? used.oldest?.key, let use = remove(chain) else { return }
        let expiry = max(use.expiry, forgotten.remove(use.principal) ?? .min)
        if case .refused = forgotten.insert(expiry, for: use.principal) {
            forgottenOfOthers = max(forgottenOfOthers, expiry)
        }
    }
}
