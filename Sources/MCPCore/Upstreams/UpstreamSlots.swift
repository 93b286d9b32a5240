import Synchronization

/// The places for calls that run at the same time; others wait in their order.
final class UpstreamSlots: Sendable {
    private struct State {
        var free: Int
        var waiting: [(id: Int, turn: OneShot<Bool>)] = []
        var lastID = 0
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: max(1, count))) }

    /// Waits for a place.
    ///
    /// - Throws: `MCPError` 503 when too many wait, `CancellationError` when the caller left.
    func enter() async throws {
        let entry = try state.withLock { state -> (id: Int, turn: OneShot<Bool>)? in
            if state.free > 0 {
                state.free -= 1
                return nil
            }
            guard state.waiting.count < UpstreamLimits.waiting else {
                throw MCPError(
                    code: MCPError.overloadedCode,
                    message: "Too many calls wait for this server; try again later")
            }
            state.lastID += 1
            let entry = (id: state.lastID, turn: OneShot<Bool>())
            state.waiting.append(entry)
            return entry
        }
        guard let entry else { return }
        if await entry.turn.value(ifCancelled: false) { return }
        let wasGiven = state.withLock { state -> Bool in
            let count = state.waiting.count
            state.waiting.removeAll { $0.id == entry.id }
            return state.waiting.count == count
        }
        // The place was given away at the moment of the cancellation.
        if wasGiven { leave() }
        throw CancellationError()
    }

    /// Gives the place to the one who has waited longest.
    func leave() {
        let next = state.withLock { state -> OneShot<Bool>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().turn
        }
        next?.finish(true)
    }
}
