import Dispatch
import Synchronization

/// One time in which the server is down and being started again: calls wait here for its end.
final class ServerRestart: Sendable {
    private enum Phase {
        case running([Int: CheckedContinuation<ClientError?, Never>])
        /// Over: the server is back, or this is why it is not.
        case over(ClientError?)
    }

    private struct State {
        var phase = Phase.running([:])
        var lastNumber = 0
        /// The program ended while it was being opened.
        var setback: ClientError?
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// Keeps the task that does the work, so that the end of the client can cut its waits short.
    func keep(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state -> Bool in
            state.task = task
            if case .over = state.phase { return true }
            return false
        }
        if isOver { task.cancel() }
    }

    // MARK: Setbacks

    /// The program ended again.
    func failed(_ error: ClientError) { state.withLock { $0.setback = error } }

    /// Why the attempt that is under way cannot succeed any more.
    func takeSetback() -> ClientError? {
        state.withLock { state in
            defer { state.setback = nil }
            return state.setback
        }
    }

    // MARK: Waiting

    /// Waits for the end; nil when the server is back.
    func wait(atMost limit: Duration) async -> ClientError? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> ClientError?? in
                    if case .over(let error) = state.phase { return .some(error) }
                    if Task.isCancelled { return .some(Self.cancelled) }
                    guard case .running(var waiters) = state.phase else { return .some(nil) }
                    waiters[number] = continuation
                    state.phase = .running(waiters)
                    return .none
                }
                if let outcome { continuation.resume(returning: outcome) } else { expire(number, limit) }
            }
        } onCancel: {
            giveUp(number, Self.cancelled)
        }
    }

    private func expire(_ number: Int, _ limit: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak self] in
            self?.giveUp(
                number,
                ClientError(
                    .connectionClosed,
                    "the server is being started again and was not back within \(limit.milliseconds) ms",
                    hint: "nothing was sent; try again later"))
        }
    }

    private static var cancelled: ClientError { ClientError(.cancelled, "the call was cancelled") }

    private func giveUp(_ number: Int, _ error: ClientError) {
        let waiter = state.withLock { state -> CheckedContinuation<ClientError?, Never>? in
            guard case .running(var waiters) = state.phase else { return nil }
            defer { state.phase = .running(waiters) }
            return waiters.removeValue(forKey: number)
        }
        waiter?.resume(returning: error)
    }

    /// Lets everybody go on; nil: the server is back. Once only, later calls have no effect.
    func finish(_ error: ClientError?) {
        let (waiters, task) = state.withLock {
            state -> ([CheckedContinuation<ClientError?, Never>], Task<Void, Never>?) in
            guard case .running(let waiters) = state.phase else { return ([], nil) }
            state.phase = .over(error)
            defer { state.task = nil }
            return (Array(waiters.values), state.task)
        }
        if error != nil { task?.cancel() }
        for waiter in waiters { waiter.resume(returning: error) }
    }
}
