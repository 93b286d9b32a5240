/// A wait for work, a time-out or cancellation, whichever comes first.
///
/// Work that ignores its cancellation, such as a message to a loop that is stuck, is abandoned.
package enum Race {
    /// An error that reports that the time-out came first.
    package struct TimedOut: Error {}

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
    /// - Throws: the error that `late` creates, `cancelled`, or the error that the work throws.
    static func run<T: Sendable>(
        within timeout: Duration?, late: @escaping @Sendable () -> any Error,
        ifCancelled cancelled: any Error, _ work: @escaping @Sendable () async throws -> T
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
