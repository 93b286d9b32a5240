import Synchronization

/// One time in which the server is down and being started again: calls wait here for its end.
final class ServerRestart: Sendable {
    private struct State {
        /// The program ended while it was being opened.
        var setback: ClientError?
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    /// Nil: the server is back; otherwise why it is not.
    private let end = OneShot<ClientError?>()

    /// Keeps the task that does the work, so that the end of the client can cut its waits short.
    func keep(_ task: Task<Void, Never>) {
        state.withLock { $0.task = task }
        if end.isFinished { task.cancel() }
    }

    // MARK: Setbacks

    /// The program ended again.
    func failed(_ error: ClientError) { state.withLock { $0.setback = error } }

    /// Why the attempt that is under way cannot succeed any more.
    func takeSetback() -> ClientError? {
        state.withLock { state in
            defer { state.setback = nil }
            return state.setback
        }
    }

    // MARK: Waiting

    /// Waits for the end; nil when the server is back.
    func wait(atMost limit: Duration) async -> ClientError? {
        let late = { @Sendable in
            ClientError(
                .connectionClosed,
                "the server is being started again and was not back within \(limit.milliseconds) ms",
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

    /// Lets everybody go on; nil: the server is back. Once only, later calls have no effect.
    func finish(_ error: ClientError?) {
        guard end.finish(error) else { return }
        let task = state.withLock { $0.task.take() }
        if error != nil { task?.cancel() }
    }
}
