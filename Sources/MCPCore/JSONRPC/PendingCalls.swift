import Synchronization

/// A client's requests that wait for their responses, by id.
///
/// Ids are integers starting at 1 and are never reused (JRPC-03, JRPC-04). A response is matched by the value
/// and the JSON type of its id (JRPC-05).
final class PendingCalls<Call: Sendable>: Sendable {
    private struct State {
        var next: Int64 = 1
        var calls: [Int64: Call] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// The number of waiting calls.
    var count: Int { state.withLock { $0.calls.count } }

    /// Adds a call with the next id; returns nil if the table is closed.
    func open(_ make: (Int64) throws -> Call) rethrows -> Call? {
        try state.withLock { state in
            if state.isClosed { return nil }
            let call = try make(state.next)
            state.calls[state.next] = call
            state.next += 1
            return call
        }
    }

    /// The id of the most recent call; 0 before the first.
    var lastID: Int64 { state.withLock { $0.next - 1 } }

    func call(_ id: Int64) -> Call? { state.withLock { $0.calls[id] } }

    /// The call with an id that a peer sent; it has none that is a string.
    func call(_ id: RequestID) -> Call? {
        if case .integer(let number) = id.key { call(number) } else { nil }
    }

    /// The waiting call if there is exactly one; nil if there are none or several.
    var only: Call? { state.withLock { $0.calls.count == 1 ? $0.calls.first?.value : nil } }

    /// All waiting calls.
    var all: [Call] { state.withLock { Array($0.calls.values) } }

    func remove(_ id: Int64) { state.withLock { $0.calls[id] = nil } }

    /// Refuses further calls and returns the waiting ones, which stay in the table until they are removed.
    func close() -> [Call] {
        state.withLock { state in
            state.isClosed = true
            return Array(state.calls.values)
        }
    }
}
