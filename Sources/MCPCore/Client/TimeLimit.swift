import Synchronization

/// Waits for work until a limit and no longer, whatever the work waits for.
///
/// The limit holds also for work that hears of no cancellation, such as a message to a loop that does not
/// come round: it is left to itself then.
final class TimeLimit: Sendable {
    private enum Phase {
        case waiting(CheckedContinuation<Void, any Error>?)
        case over(Result<Void, any Error>)
    }

    private let phase = Mutex(Phase.waiting(nil))

    private init() {}

    /// Runs `work`; ends with what `late` makes when it has not ended after `limit`, and with `.cancelled`
    /// when the task that waits is cancelled.
    static func run(
        _ limit: Duration, late: @escaping @Sendable () -> any Error,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let race = TimeLimit()
        let task = Task {
            do {
                try await work()
                race.end(.success(()))
            } catch {
                race.end(.failure(error))
            }
        }
        let timer = Task {
            guard (try? await Task.pause(for: limit)) != nil else { return }
            race.end(.failure(late()))
            task.cancel()
        }
        defer { timer.cancel() }
        try await withTaskCancellationHandler {
            try await race.wait()
        } onCancel: {
            race.end(.failure(ClientError(.cancelled, "the work was cancelled")))
            task.cancel()
        }
    }

    private func wait() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let result = phase.withLock { phase -> Result<Void, any Error>? in
                if case .over(let result) = phase { return result }
                phase = .waiting(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
        }
    }

    /// The first end counts.
    private func end(_ result: Result<Void, any Error>) {
        let waiting = phase.withLock { phase -> CheckedContinuation<Void, any Error>? in
            guard case .waiting(let continuation) = phase else { return nil }
            phase = .over(result)
            return continuation
        }
        waiting?.resume(with: result)
    }
}

extension Duration {
    /// `2 s`, `500 ms`: for error messages.
    var inWords: String {
        let milliseconds = milliseconds
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
