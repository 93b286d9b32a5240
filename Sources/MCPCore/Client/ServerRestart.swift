import Synchronization

/// One period during which the server is down and being restarted; calls wait here for its end.
final class ServerRestart: Sendable {
    private struct State {
        /// The error of a program that ended while the connection was being opened.
        var setback: ClientError?
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    /// The outcome: nil when the server is back, otherwise the reason why it is not.
    private let end = OneShot<ClientError?>()

    /// Stores the task that does the work, so that the end of the client can cut its waits short.
    func keep(_ task: Task<Void, Never>) {
        state.withLock { $0.task = task }
        if end.isFinished { task.cancel() }
    }

    // MARK: Setbacks

    /// Records that the program ended again.
    func failed(_ error: ClientError) { state.withLock { $0.setback = error } }

    /// Returns, and clears, the reason why the attempt in progress can no longer succeed.
    func takeSetback() -> ClientError? {
        state.withLock { state in
            defer { state.setback = nil }
            return state.setback
        }
    }

    // MARK: Waiting

    /// Waits for the end of the restart; returns nil when the server is back.
    func wait(atMost limit: Duration) async -> ClientError? {
        let late = { @Sendable in
            ClientError(
                .connectionClosed,
                "the server is being restarted and was not available again within \(limit.milliseconds) ms",
                hint: "nothing was sent; try again later")
        }
        do {
            try await TimeLimit.run(limit, late: late) { [end] in
                if let error = await end.value(ifCancelled: nil) { throw error }
            }
            return nil
        } catch {
            if Task.isCancelled { return ClientError(.cancelled, "the call was cancelled") }
            return error as? ClientError
        }
    }

    /// Resumes all waiting calls; nil means that the server is back. Only the first call has an effect.
    func finish(_ error: ClientError?) {
        guard end.finish(error) else { return }
        let task = state.withLock { $0.task.take() }
        if error != nil { task?.cancel() }
    }
}
