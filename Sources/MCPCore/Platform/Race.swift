/// Waits for work, for a time-out and for cancellation, whichever comes first. Work that does not heed its
/// cancellation, such as a message to a loop that does not come round, is left to itself.
package enum Race {
    /// The time-out came first.
    package struct TimedOut: Error {}

    /// Work whose caller has given up already does not begin.
    /// - Throws: `TimedOut`, `CancellationError`, or what the work throws.
    package static func run<T: Sendable>(
        within timeout: Duration?, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try Task.checkCancellation()
        return try await run(
            within: timeout, late: { TimedOut() }, ifCancelled: CancellationError(), work)
    }

    /// The same with other errors; the work begins in any case.
    /// - Throws: what `late` makes, `cancelled`, or what the work throws.
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
