import Synchronization

/// The places for calls that run at the same time; others wait. Callers have their turns one after another,
/// however many calls of each wait.
final class UpstreamSlots: Sendable {
    /// Who makes a call.
    struct Caller: Sendable {
        /// What tells callers apart.
        var key = ""
        /// Whether it is somebody, and not just a connection.
        var isPrincipal = false
    }

    private struct Waiter {
        let id: Int
        let caller: Caller
        /// The round of turns in which it has its own.
        let round: Int
        let turn: OneShot<Bool>
    }

    private struct State {
        var free: Int
        /// The places by caller.
        var held: [String: Int] = [:]
        var waiting: [Waiter] = []
        var lastID = 0
        /// The round of the last turn.
        var round = 0
    }

    private let count: Int
    private let areShared: Bool
    private let state: Mutex<State>

    /// - Parameter areShared: whether one principal may have only three quarters of the places, and one
    ///   caller three quarters of the line.
    init(_ count: Int, areShared: Bool = false) {
        let count = max(1, count)
        self.count = count
        self.areShared = areShared
        state = Mutex(State(free: count))
    }

    /// The number of calls that wait.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Returns the number of places that a caller may have.
    func share(of caller: Caller) -> Int {
        areShared && caller.isPrincipal ? max(1, count - count / 4) : count
    }

    private func mayRun(_ caller: Caller, _ state: State) -> Bool {
        state.free > 0 && state.held[caller.key, default: 0] < share(of: caller)
    }

    /// Waits for a place.
    ///
    /// - Parameter call: the request that needs it, which is refused when this server stops meanwhile.
    /// - Throws: `MCPError` 503 when too many wait, `CancellationError` when the caller left.
    func enter(_ caller: Caller = Caller(), for call: DeferredCall? = nil) async throws {
        let entry = try state.withLock { state -> Waiter? in
            // Those that wait could not use it.
            if mayRun(caller, state) {
                state.free -= 1
                state.held[caller.key, default: 0] += 1
                return nil
            }
            let own = state.waiting.filter { $0.caller.key == caller.key }
            guard state.waiting.count < UpstreamLimits.waiting,
                !areShared || own.count < UpstreamLimits.waitingOfOne
            else {
                throw MCPError(
                    code: MCPError.overloadedCode,
                    message: "Too many calls wait for this server; try again later")
            }
            state.lastID += 1
            let entry = Waiter(
                id: state.lastID, caller: caller, round: max(state.round, own.last?.round ?? 0) + 1,
                turn: OneShot())
            state.waiting.append(entry)
            return entry
        }
        guard let entry else { return }
        let wait = { await entry.turn.value(ifCancelled: false) }
        if let call {
            if (try? await call.dispatcher.beforeWork(of: call.exchange, wait)) == true { return }
        } else if await wait() {
            return
        }
        let wasGiven = state.withLock { state -> Bool in
            let count = state.waiting.count
            state.waiting.removeAll { $0.id == entry.id }
            return state.waiting.count == count
        }
        // The place was given away at the moment of the cancellation.
        if wasGiven { leave(caller) }
        throw CancellationError()
    }

    /// Gives the place to the one whose turn it is.
    func leave(_ caller: Caller = Caller()) {
        let next = state.withLock { state -> OneShot<Bool>? in
            let left = state.held[caller.key, default: 1] - 1
            state.held[caller.key] = left > 0 ? left : nil
            state.free += 1
            return takeNext(&state)
        }
        next?.finish(true)
    }

    private func takeNext(_ state: inout State) -> OneShot<Bool>? {
        let places = state.waiting.indices.filter { mayRun(state.waiting[$0].caller, state) }
        let next = places.min { a, b in
            (state.waiting[a].round, a) < (state.waiting[b].round, b)
        }
        guard let next else { return nil }
        let waiter = state.waiting.remove(at: next)
        state.free -= 1
        state.held[waiter.caller.key, default: 0] += 1
        state.round = max(state.round, waiter.round)
        return waiter.turn
    }
}
