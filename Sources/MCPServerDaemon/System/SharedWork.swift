import Dispatch
import Synchronization

/// Blocking work whose result is the same for all callers that request it at the same time.
///
/// Only one run is in progress at a time, and callers that arrive during it wait together for the next one.
/// No caller receives the result of a run that began before its request: it may be out of date.
final class SharedWork<Value: Sendable>: Sendable {
    private struct State {
        var isRunning = false
        /// The requests that wait, one continuation for each.
        var waiting: [CheckedContinuation<Value, any Error>] = []
    }

    private let state = Mutex(State())

    /// The number of callers that wait for work that has not begun.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// - Parameter make: the work, which is the same for all callers.
    func value(_ make: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(continuation)
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if isFirst { DispatchQueue.global().async { self.run(make) } }
        }
    }

    private func run(_ make: () throws -> Value) {
        while true {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                state.isRunning = !state.waiting.isEmpty
                return state.waiting
            }
            if waiting.isEmpty { return }
            let result = Result(catching: make)
            for continuation in waiting { continuation.resume(with: result) }
        }
    }
}
