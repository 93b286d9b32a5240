import Synchronization

/// Waits for work, for a time-out and for cancellation, whichever comes first. Work that does not heed its
/// cancellation goes on by itself, and nobody waits for it.
enum Race {
    struct TimedOut: Error {}

    private enum State<T: Sendable>: Sendable {
        case running
        case waiting(CheckedContinuation<T, any Error>)
        case ended(Result<T, any Error>)
    }

    /// Ends once.
    private final class Finish<T: Sendable>: Sendable {
        private let state = Mutex(State<T>.running)

        func end(_ result: Result<T, any Error>) {
            let waiting = state.withLock { state -> CheckedContinuation<T, any Error>? in
                switch state {
                case .running:
                    state = .ended(result)
                    return nil
                case .waiting(let continuation):
                    state = .ended(result)
                    return continuation
                case .ended: return nil
                }
            }
            waiting?.resume(with: result)
        }

        func value() async throws -> T {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<T, any Error>? in
                    if case .ended(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }

    /// Work whose caller has given up already does not begin.
    /// - Throws: `TimedOut`, `CancellationError`, or what the work throws.
    static func run<T: Sendable>(
        within timeout: Duration?, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try Task.checkCancellation()
        let finish = Finish<T>()
        let task = Task {
            do {
                finish.end(.success(try await work()))
            } catch {
                finish.end(.failure(error))
            }
        }
        let timer = timeout.map { timeout in
            Task {
                try await Task.pause(for: timeout)
                finish.end(.failure(TimedOut()))
                task.cancel()
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await finish.value()
        } onCancel: {
            finish.end(.failure(CancellationError()))
            task.cancel()
        }
    }
}
