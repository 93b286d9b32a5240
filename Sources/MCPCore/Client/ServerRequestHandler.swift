import Synchronization

/// The requests from the server that handlers are working on: their number is limited, and each can be
/// cancelled.
final class ServerRequestHandler: Sendable {
    /// The maximum number of requests; a further one is refused.
    static let maximum = 64

    private struct Entry {
        let task: Task<Void, Never>
        /// The call on whose HTTP exchange the request arrived.
        let call: Int64?
        /// The call that the request is about, as far as that is known.
        let owner: Int64?
        /// Whether a handler of the program works on it, which may wait for a person.
        var isHandled = false
        /// Whether that call has ended: the request is still answered.
        var isLate = false
    }

    private struct State {
        var entries: [RequestID: Entry] = [:]
        var count = 0
        /// The refusals that are being sent.
        var refusals = 0
    }

    /// What becomes of a request.
    enum Admission { case runs, tooMany, isKnown }

    private let state = Mutex(State())

    /// Runs `body`, unless too many are already running, or one with this id.
    ///
    /// - Parameter owner: the call that the request is about, with which it ends.
    func run(
        _ id: RequestID, call: Int64?, owner: Int64?, _ body: @escaping @Sendable () async -> Void
    ) -> Admission {
        state.withLock { state -> Admission in
            if state.entries[id] != nil { return .isKnown }
            guard state.count < Self.maximum else { return .tooMany }
            state.count += 1
            let task = Task { [self] in
                await body()
                self.state.withLock { state in
                    state.entries[id] = nil
                    state.count -= 1
                }
            }
            state.entries[id] = Entry(task: task, call: call, owner: owner)
            return .runs
        }
    }

    /// Runs `body`, which refuses a request; returns false when as many refusals are on their way.
    func refuse(_ body: @escaping @Sendable () async -> Void) -> Bool {
        state.withLock { state -> Bool in
            guard state.refusals < Self.maximum else { return false }
            state.refusals += 1
            Task { [self] in
                await body()
                self.state.withLock { $0.refusals -= 1 }
            }
            return true
        }
    }

    /// Records that a handler of the program begins to work on a request, or ends.
    func setHandled(_ id: RequestID, _ isHandled: Bool) {
        state.withLock { $0.entries[id]?.isHandled = isHandled }
    }

    /// Returns whether the server waits for a handler of the program on behalf of this call, or of any call
    /// on this connection. What the client answers by itself takes no time.
    func isBusy(for call: Int64) -> Bool {
        state.withLock { state in
            state.count > 0
                && state.entries.values.contains { $0.isHandled && ($0.call == nil || $0.call == call) }
        }
    }

    /// Cancels a request whose response the server no longer wants (CANC-11).
    func cancel(_ id: RequestID) { state.withLock { $0.entries[id] }?.task.cancel() }

    /// Cancels the requests on behalf of a call that was abandoned: their responses are of no use, and the
    /// stream on which the server would cancel them is closed.
    func cancel(for call: Int64) {
        for entry in state.withLock({ Array($0.entries.values) })
        where [entry.call, entry.owner].contains(call) {
            entry.task.cancel()
        }
    }

    /// Ends the requests on behalf of a call that has its response. The server did not wait for them, but may
    /// not know that they are of no use any more, and receives what their handlers return.
    func end(with call: Int64) {
        let tasks = state.withLock { state in
            guard state.count > 0 else { return [Task<Void, Never>]() }
            return state.entries.filter { [$0.value.call, $0.value.owner].contains(call) }.map { id, entry in
                state.entries[id]?.isLate = true
                return entry.task
            }
        }
        for task in tasks { task.cancel() }
    }

    /// Whether the call of a request has ended.
    func isLate(_ id: RequestID) -> Bool { state.withLock { $0.entries[id]?.isLate ?? false } }

    func cancelAll() {
        for entry in state.withLock({ Array($0.entries.values) }) { entry.task.cancel() }
    }
}
