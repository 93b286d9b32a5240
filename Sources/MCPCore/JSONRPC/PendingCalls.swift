import Synchronization

/// The requests of a client that wait for their answer, by id.
///
/// Ids are integers from 1 and never used twice (JRPC-03, JRPC-04). An answer is matched by the value and the
/// JSON type of its id (JRPC-05).
final class PendingCalls<Call: Sendable>: Sendable {
    private struct State {
        var next: Int64 = 1
        var calls: [RequestID: Call] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// How many wait.
    var count: Int { state.withLock { $0.calls.count } }

    /// Takes in a call under the next id; nil when the table is closed.
    func open(_ make: (Int64) throws -> Call) rethrows -> Call? {
        try state.withLock { state in
            if state.isClosed { return nil }
            let call = try make(state.next)
            state.calls[RequestID(state.next)] = call
            state.next += 1
            return call
        }
    }

    /// The id of the call that was opened last; 0 before the first.
    var lastID: Int64 { state.withLock { $0.next - 1 } }

    func call(_ id: RequestID) -> Call? { state.withLock { $0.calls[id] } }

    /// The only call that waits; nil when there are none or several.
    var only: Call? { state.withLock { $0.calls.count == 1 ? $0.calls.first?.value : nil } }

    /// Everything that waits.
    var all: [Call] { state.withLock { Array($0.calls.values) } }

    func remove(_ id: RequestID) { state.withLock { $0.calls[id] = nil } }

    /// Refuses further calls and returns those that wait; they stay until they are removed.
    func close() -> [Call] {
        state.withLock { state in
            state.isClosed = true
            return Array(state.calls.values)
        }
    }
}
