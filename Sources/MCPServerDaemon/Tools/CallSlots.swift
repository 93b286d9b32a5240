import Synchronization

/// Lets a limited number of calls run at the same time; the others wait in order.
final class CallSlots: Sendable {
    private struct Waiter {
        var id: Int
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var free: Int
        var nextID = 0
        var waiters: [Waiter] = []
    }

    /// The number of calls that may wait; further ones are turned away at once.
    static let maxWaiting = 64

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    /// Waits for a slot until `timeout` has passed or the task is cancelled.
    ///
    /// - Returns: whether there is a slot; the caller must release it.
    func acquire(timeout: Duration) async -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
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
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    if state.waiters.count >= Self.maxWaiting { return false }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    /// Passes a slot on to the next call in line.
    func release() {
        let next = state.withLock { state -> Waiter? in
            if state.waiters.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.continuation.resume(returning: true)
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
