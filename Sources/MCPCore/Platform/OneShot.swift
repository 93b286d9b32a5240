import Synchronization

/// A result that tasks can wait for. Only the first one set counts. Any number of tasks may wait, before and
/// after it is set.
package final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        /// The continuations of the waiting tasks.
        var waiting: [Int: CheckedContinuation<Value, Never>] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())

    /// Creates an instance without a result.
    package init() {}

    var isFinished: Bool { state.withLock { $0.value != nil } }

    /// Sets the result. Returns false if one is already set.
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

    /// Waits for the result. A task that is cancelled while it waits receives `cancelled` at once; the others
    /// continue to wait.
    package func value(ifCancelled cancelled: Value) async -> Value {
        let waiter = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = state.withLock { state -> Value? in
                    if let value = state.value { return value }
                    // The cancellation handler has already run and found no continuation.
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
    /// - Parameter cancelled: the error that is thrown at once when the waiting task is cancelled.
    package func get<Success>(
        ifCancelled cancelled: any Error = CancellationError()
    ) async throws -> Success where Value == Result<Success, any Error> {
        try await value(ifCancelled: .failure(cancelled)).get()
    }
}

/// An event that happens once.
typealias OneTimeEvent = OneShot<Void>

extension OneShot<Void> {
    /// Signals the event. Returns false if it has happened before.
    @discardableResult
    func happen() -> Bool { finish(()) }

    /// Waits until the event has happened or the waiting task is cancelled.
    func wait() async { await value(ifCancelled: ()) }
}
