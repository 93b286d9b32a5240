import Synchronization

/// Requests of the server that a handler works on: so many at a time, and each can be taken back.
final class ServerRequests: Sendable {
    /// One more is dropped.
    static let maximum = 64

    private struct State {
        var tasks: [RequestID: Task<Void, Never>] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    /// Runs `body`; false when too many run already.
    func run(_ id: RequestID, _ body: @escaping @Sendable () async -> Void) -> Bool {
        state.withLock { state -> Bool in
            guard state.count < Self.maximum, state.tasks[id] == nil else { return false }
            state.count += 1
            state.tasks[id] = Task { [self] in
                await body()
                self.state.withLock { state in
                    state.tasks[id] = nil
                    state.count -= 1
                }
            }
            return true
        }
    }

    /// The server does not want the answer any more (CANC-11).
    func cancel(_ id: RequestID) { state.withLock { $0.tasks[id] }?.cancel() }

    func cancelAll() {
        for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }
}
