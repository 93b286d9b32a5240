/// Waits for work until a limit and no longer, whatever the work waits for: a `Race` with a client's errors.
enum TimeLimit {
    /// Runs `work`; ends with what `late` makes when it has not ended after `limit`, and with `.cancelled`
    /// when the task that waits is cancelled.
    static func run(
        _ limit: Duration, late: @escaping @Sendable () -> any Error,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let cancelled = ClientError(.cancelled, "the work was cancelled")
        try await Race.run(within: limit, late: late, ifCancelled: cancelled, work)
    }
}

extension Duration {
    /// `2 s`, `500 ms`: for error messages.
    var inWords: String {
        let milliseconds = milliseconds
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
