import Synchronization

/// A result that tasks wait for: the first one counts. Any number of tasks may wait, before and after.
package final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        /// As many as there are waiting tasks.
        var waiting: [Int: CheckedContinuation<Value, Never>] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    /// Nobody has set a result yet.
    package init() {}

    var isFinished: Bool { state.withLock { $0.value != nil } }

    /// Sets the result. Returns false when there is one already.
    @discardableResult
    package func finish(_ value: Value) -> Bool {
        let waiting = state.withLock { state -> [Int: CheckedContinuation<Value, Never>]? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in (waiting ?? [:]).values { continuation.resume(returning: value) }
        return waiting != nil
    }

    /// Waits for the result. A task that is cancelled meanwhile gets `cancelled` at once; the others go on
    /// waiting.
    func value(ifCancelled cancelled: Value) async -> Value {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = state.withLock { state -> Value? in
                    if let value = state.value { return value }
                    // The cancellation handler came before and has found nobody.
                    if Task.isCancelled { return cancelled }
                    state.waiting[waiter] = continuation
                    return nil
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: waiter) }?.resume(returning: cancelled)
        }
    }
}

extension OneShot {
    /// Waits for a success or throws the failure.
    ///
    /// - Parameter cancelled: thrown at once when the waiting task is cancelled.
    package func get<Success>(
        ifCancelled cancelled: any Error = CancellationError()
    ) async throws -> Success where Value == Result<Success, any Error> {
        try await value(ifCancelled: .failure(cancelled)).get()
    }
}

/// An event that happens once.
typealias OneTimeEvent = OneShot<Void>

extension OneShot<Void> {
    /// Signals the event. Returns false when it has happened before.
    @discardableResult
    func happen() -> Bool { finish(()) }

    /// Returns when the event has happened, or the waiting task is cancelled.
    func wait() async { await value(ifCancelled: ()) }
}
