import Synchronization

/// A ledger of the rounds of questions that are being answered, and of those that are used up (MRTR-11).
///
/// A `requestState` cannot record its own use. This instance remembers the use for a day, or for as long as
/// any state may be valid; another instance with the same key knows about it through `SharedState`, if there
/// is a store.
/// When it has to forget a use, it refuses all states of the same caller that may be as old: none is valid a
/// second time.
///
/// All times are those of the monotonic clock. The wall clock may be set ahead and back: that neither ends a
/// memory early nor makes a used state, whose birth the ledger knows, valid again.
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
        var time: MonotonicInstant
    }

    fileprivate struct State {
        /// One entry for each request that answers questions.
        var inUse: Set<RequestState.Chain> = []
        /// The uses in their order: all entries live equally long.
        var used: BoundedTable<RequestState.Chain, Use>
        /// The uses of each caller, in their order.
        var chains: [String: BoundedTable<RequestState.Chain, Void>] = [:]
        /// The time of the latest use that was forgotten, by caller.
        var forgotten: BoundedTable<String, MonotonicInstant>
        /// The same of callers that are themselves forgotten.
        var forgottenOfOthers = MonotonicInstant(nanoseconds: .min)
    }

    private let state: Mutex<State>
    private let lifetime: Duration
    private let start: MonotonicInstant
    /// Recognises the states that were made since this ledger was created.
    private let name: UInt64
    private let capacity: Int
    private let share: Int

    /// - Parameters:
    ///   - lifetime: the time for which a state is valid.
    ///   - start: the current time.
    ///   - capacity: the number of used rounds that are remembered.
    ///   - share: the number that a caller keeps when all are taken: one with more loses its own oldest,
    ///     otherwise the oldest is forgotten.
    ///   - callers: the number of callers of whom uses were forgotten that are told apart.
    init(
        lifetime: Duration, start: MonotonicInstant, capacity: Int = defaultCapacity,
        share: Int = defaultShare, callers: Int = defaultCallers
    ) {
        self.lifetime = lifetime
        self.start = start
        // Small: eight bytes.
        name = SystemRandom().bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
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

    /// Returns what a state that is made now says about its time.
    func birth(now: MonotonicInstant) -> RequestState.Birth {
        RequestState.Birth(ledger: name, age: (now - start).wholeNanoseconds)
    }

    /// Returns the time at which a state was made, or nil if it has expired.
    ///
    /// A state of another instance, or of an earlier run, is as old as the wall clock says; as that clock may
    /// differ, it counts as older.
    func time(of state: RequestState.Opened, now: MonotonicInstant) -> MonotonicInstant? {
        guard state.birth.ledger == name else {
            let made = (now + .seconds(state.remaining)).advanced(byNanoseconds: -lifetime.wholeNanoseconds)
            return made + .seconds(-RequestState.skew)
        }
        let made = start.advanced(byNanoseconds: state.birth.age)
        return now < made + lifetime ? made : nil
    }

    /// Marks rounds as being answered.
    ///
    /// - Parameter made: the time at which the state was made.
    func begin(
        _ chain: RequestState.Chain, of principal: String, made: MonotonicInstant, now: MonotonicInstant
    ) -> Refusal? {
        state.withLock { state in
            state.removeExpired(at: now, lifetime)
            if state.used.contains(chain) { return .used }
            if let forgotten = state.forgotten[principal], made <= forgotten { return .forgotten }
            if made <= state.forgottenOfOthers { return .forgotten }
            return state.inUse.insert(chain).inserted ? nil : .inUse
        }
    }

    /// Marks the call as complete: none of its states is valid any more.
    func use(_ chain: RequestState.Chain, of principal: String, now: MonotonicInstant) {
        state.withLock { state in
            state.inUse.remove(chain)
            if !state.used.contains(chain), state.used.isFull {
                state.forgetOne(for: principal, share: share)
            }
            state.used.insert(Use(principal: principal, time: now), for: chain)
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

    /// Removes what is about states that have expired, wherever they were made and whatever clocks said.
    mutating func removeExpired(at now: MonotonicInstant, _ lifetime: Duration) {
        let memory = RequestState.memory(lifetime: lifetime)
        func isOver(_ time: MonotonicInstant) -> Bool { time + memory <= now }
        while let (chain, use) = used.oldest, isOver(use.time) { remove(chain) }
        forgotten.removeOldest { _, time in isOver(time) }
    }

    /// Makes room for a use of a caller.
    mutating func forgetOne(for principal: String, share: Int) {
        let own = chains[principal].flatMap { $0.count >= share ? $0.oldest?.key : nil }
        guard let chain = own ?? used.oldest?.key, let use = remove(chain) else { return }
        let time = forgotten.remove(use.principal).map { max($0, use.time) } ?? use.time
        if case .refused = forgotten.insert(time, for: use.principal) {
            forgottenOfOthers = max(forgottenOfOthers, time)
        }
    }
}
