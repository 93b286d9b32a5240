import Synchronization

/// Requests of the server that a handler works on: so many at a time, and each can be taken back.
final class ServerRequestHandler: Sendable {
    /// One more is dropped.
    static let maximum = 64

    private struct Entry {
        let task: Task<Void, Never>
        /// The call on whose HTTP exchange it came.
        let call: Int64?
    }

    private struct State {
        var entries: [RequestID: Entry] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    /// Runs `body`; false when too many run already.
    func run(_ id: RequestID, call: Int64?, _ body: @escaping @Sendable () async -> Void) -> Bool {
        state.withLock { state -> Bool in
            guard state.count < Self.maximum, state.entries[id] == nil else { return false }
            state.count += 1
            let task = Task { [self] in
                await body()
                self.state.withLock { state in
                    state.entries[id] = nil
                    state.count -= 1
                }
            }
            state.entries[id] = Entry(task: task, call: call)
            return true
        }
    }

    /// Whether an answer of ours is awaited for the sake of this call, or of any on this connection.
    func isBusy(for call: Int64) -> Bool {
        state.withLock { state in
            state.count > 0 && state.entries.values.contains { $0.call == nil || $0.call == call }
        }
    }

    /// The server does not want the answer any more (CANC-11).
    func cancel(_ id: RequestID) { state.withLock { $0.entries[id] }?.task.cancel() }

    /// A call was given up: what the server asked for its sake is of no use, and its stream, on which the
    /// server would say so, is closed.
    func cancel(for call: Int64) {
        for entry in state.withLock({ Array($0.entries.values) }) where entry.call == call {
            entry.task.cancel()
        }
    }

    func cancelAll() {
        for entry in state.withLock({ Array($0.entries.values) }) { entry.task.cancel() }
    }
}
