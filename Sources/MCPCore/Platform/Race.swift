/// A wait for work, a time-out or cancellation, whichever comes first.
///
/// Work that ignores its cancellation, such as a message to a loop that is stuck, is abandoned.
package enum Race {
    /// An error that reports that the time-out came first.
    package struct TimedOut: Error {}

    /// The shortest wait for a limit that moves: one that keeps its distance must not cause a busy loop.
    private static let leastPause = Duration.milliseconds(20)

    /// Runs `work` with a time limit. If the caller has already been cancelled, the work does not begin.
    ///
    /// - Throws: `TimedOut`, `CancellationError`, or the error that the work throws.
    package static func run<T: Sendable>(
        within timeout: Duration?, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try Task.checkCancellation()
        return try await run(
            within: timeout, late: { TimedOut() }, ifCancelled: CancellationError(), work)
    }

    /// Runs `work` with a time limit and the given errors; the work begins in any case.
    ///
    /// - Parameter more: the time that is left when the limit is reached, for a limit that may move.
    /// - Throws: the error that `late` creates, `cancelled`, or the error that the work throws.
    static func run<T: Sendable>(
        within timeout: Duration?, late: @escaping @Sendable () -> any Error,
        more: (@Sendable () -> Duration)? = nil, ifCancelled cancelled: any Error,
        _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        let end = OneShot<Result<T, any Error>>()
        let task = Task {
            do {
                end.finish(.success(try await work()))
            } catch {
                end.finish(.failure(error))
            }
        }
        let timer = timeout.map { timeout in
            Task {
                try await Task.pause(for: timeout)
                while let left = more?(), left > .zero {
                    try await Task.pause(for: max(left, leastPause))
                }
                end.finish(.failure(late()))
                task.cancel()
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await end.get(ifCancelled: cancelled)
        } onCancel: {
            task.cancel()
        }
    }
}
