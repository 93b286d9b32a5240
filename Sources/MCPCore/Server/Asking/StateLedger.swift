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

    private enum Mark: Equatable {
        case inUse
        case used(until: Int64)
    }

    private struct State {
        var marks: [RequestState.Chain: Mark] = [:]
        /// The used ones in the order of their expiry; those before `first` are forgotten.
        var used: [(chain: RequestState.Chain, until: Int64)] = []
        var first = 0
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: how many used ones are remembered; then the oldest is forgotten.
    init(capacity: Int = defaultCapacity) { self.capacity = capacity }

    static let defaultCapacity = 100_000

    /// How many are remembered.
    var count: Int { state.withLock { $0.marks.count } }

    /// Marks rounds as being answered.
    func begin(_ chain: RequestState.Chain, now: Int64) -> Refusal? {
        state.withLock { state in
            Self.forget(&state) { $0 <= now }
            switch state.marks[chain] {
            case .inUse: return .inUse
            case .used: return .used
            case nil:
                state.marks[chain] = .inUse
                return nil
            }
        }
    }

    /// The call is complete: none of its states is good any more.
    func use(_ chain: RequestState.Chain, until expiry: Int64) {
        state.withLock { state in
            state.marks[chain] = .used(until: expiry)
            state.used.append((chain, expiry))
            if state.used.count - state.first > capacity {
                Self.forgetFirst(&state)
            }
        }
    }

    /// The call goes on, or came to nothing: its states stay good.
    func release(_ chain: RequestState.Chain) {
        state.withLock { $0.marks[chain] = nil }
    }

    private static func forget(_ state: inout State, _ isOver: (Int64) -> Bool) {
        while state.first < state.used.count, isOver(state.used[state.first].until) { forgetFirst(&state) }
    }

    private static func forgetFirst(_ state: inout State) {
        let (chain, until) = state.used[state.first]
        if state.marks[chain] == .used(until: until) { state.marks[chain] = nil }
        state.first += 1
        guard state.first > state.used.count / 2 else { return }
        state.used.removeFirst(state.first)
        state.first = 0
    }
}
