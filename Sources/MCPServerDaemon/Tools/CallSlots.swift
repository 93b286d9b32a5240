import Synchronization

/// Lets a limited number of calls run at the same time. Of those that wait, the one whose caller has the
/// fewest running goes first; among equals, callers have their turns one after another, however many calls of
/// each wait.
final class CallSlots: Sendable {
    private struct Waiter {
        var id: Int
        var caller: String
        /// The round of turns in which it has its own.
        var round: Int
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var free: Int
        var nextID = 0
        var waiters: [Waiter] = []
        /// The number of slots by caller.
        var held: [String: Int] = [:]
        /// The round of the last turn.
        var round = 0
    }

    /// The number of calls that may wait; further ones are turned away at once.
    static let maxWaiting = 64
    /// The number of calls of one caller that may wait, so that there is room for those of others.
    static let maxWaitingOfOne = maxWaiting - maxWaiting / 4

    /// The number of slots that one caller may have.
    let maxOfOne: Int
    private let state: Mutex<State>

    /// - Parameter areShared: whether a caller may have only three quarters of the slots, so that others are
    ///   served while its calls run.
    init(_ count: Int, areShared: Bool = false) {
        maxOfOne = areShared ? max(1, count - count / 4) : count
        state = Mutex(State(free: count))
    }

    /// The number of calls that wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Waits for a slot until `timeout` has passed or the task is cancelled.
    ///
    /// - Returns: whether there is a slot; the caller must release it.
    func acquire(for caller: String = "", timeout: Duration) async -> Bool {
        let id = state.withLock { state -> Int? in
            // Those that wait could not use it.
            if state.free > 0, state.held[caller, default: 0] < maxOfOne, !Task.isCancelled {
                state.free -= 1
                state.held[caller, default: 0] += 1
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let id else { return true }
        return await withTaskCancellationHandler {
            let timer = Task {
                try await Task.sleep(for: timeout)
                giveUp(id)
            }
            defer { timer.cancel() }
            return await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    // The task was cancelled before it got here: nothing would resume it.
                    if Task.isCancelled { return false }
                    if state.free > 0, state.held[caller, default: 0] < maxOfOne {
                        state.free -= 1
                        state.held[caller, default: 0] += 1
                        return true
                    }
                    let own = state.waiters.filter { $0.caller == caller }
                    if state.waiters.count >= Self.maxWaiting || own.count >= Self.maxWaitingOfOne {
                        return false
                    }
                    let round = max(state.round, own.last?.round ?? 0) + 1
                    state.waiters.append(
                        Waiter(id: id, caller: caller, round: round, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    /// Passes a slot on to the next call in line.
    func release(for caller: String = "") {
        let next = state.withLock { state -> Waiter? in
            let left = state.held[caller, default: 1] - 1
            state.held[caller] = left > 0 ? left : nil
            state.free += 1
            return takeNext(&state)
        }
        next?.continuation.resume(returning: true)
    }

    /// Takes the call that goes next from the line, and a slot for it.
    private func takeNext(_ state: inout State) -> Waiter? {
        let places = state.waiters.indices.filter {
            state.held[state.waiters[$0].caller, default: 0] < maxOfOne
        }
        let next = places.min { a, b in
            (state.held[state.waiters[a].caller, default: 0], state.waiters[a].round, a)
                < (state.held[state.waiters[b].caller, default: 0], state.waiters[b].round, b)
        }
        guard let next else { return nil }
        let waiter = state.waiters.remove(at: next)
        state.free -= 1
        state.held[waiter.caller, default: 0] += 1
        state.round = max(state.round, waiter.round)
        return waiter
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state -> Waiter? in
            if let index = state.waiters.firstIndex(where: { $0.id == id }) {
                return state.waiters.remove(at: index)
            }
            return nil
        }
        waiter?.continuation.resume(returning: false)
    }
}
