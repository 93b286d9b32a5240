/// A time limit on waiting for work, whatever the work waits for: a `Race` with a client's errors.
enum TimeLimit {
    /// Runs `work`; throws the error that `late` returns if the work has not ended after `limit`, and
    /// `.cancelled` if the waiting task is cancelled. `more` returns the time that is left at the limit after
    /// all; without it there is none.
    static func run(
        _ limit: Duration, late: @escaping @Sendable () -> any Error,
        more: (@Sendable () -> Duration)? = nil, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let cancelled = ClientError(.cancelled, "the work was cancelled")
        try await Race.run(within: limit, late: late, more: more, ifCancelled: cancelled, work)
    }
}

extension Duration {
    /// The duration in words for error messages, such as `2 s` or `500 ms`.
    var inWords: String {
        let milliseconds = milliseconds
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
