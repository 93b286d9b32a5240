import Synchronization

/// The time in which one prompt or question reads what is typed, and which others can end: there is one
/// reader of the terminal at a time.
final class TerminalTurn: Sendable {
    private struct State {
        var isOver = false
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Whether somebody else is to read now.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Ends the reading, and all reading that follows.
    func end() {
        let cancel = state.withLock { state in
            state.isOver = true
            return state.cancel
        }
        cancel?()
    }

    /// Reads something, until it is there, the turn is over or the task is cancelled.
    ///
    /// It returns when `read` has: nothing reads behind its back.
    func read<T: Sendable>(_ read: @escaping @Sendable () async -> T?) async -> T? {
        if isOver { return nil }
        let task = Task { await read() }
        let isLate = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.isOver
        }
        if isLate { task.cancel() }
        defer { state.withLock { $0.cancel = nil } }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
