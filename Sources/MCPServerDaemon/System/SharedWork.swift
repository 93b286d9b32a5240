import Dispatch
import Synchronization

/// Work that blocks and whose result is the same for everybody who asks at the same time: one at a time, and
/// those who come meanwhile wait for the next one together.
///
/// Nobody is given what was begun before they asked: it may be out of date.
final class SharedWork<Value: Sendable>: Sendable {
    private struct State {
        var isRunning = false
        /// As many as there are requests.
        var waiting: [CheckedContinuation<Value, any Error>] = []
    }

    private let state = Mutex(State())

    /// How many wait for work that has not begun.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// - Parameter make: the same for all who ask.
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
