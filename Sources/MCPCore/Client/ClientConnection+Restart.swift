import Synchronization

/// The restart of a server that ended on its own (STDIO-16, STDIO-17).
extension ClientConnection {
    /// Handles the end of the server. Returns true when it is restarted: pending calls have failed, and calls
    /// made later wait.
    func restarts(after error: ClientError) -> Bool {
        guard options.restart.maxAttempts > 0, transport.canRestart else { return false }
        let now = clock.now
        let found = state.withLock { state -> (restart: ServerRestart, isNew: Bool, from: Revision)? in
            guard state.end == nil, let revision = state.profile?.revision else { return nil }
            if let running = state.restart {
                running.failed(error)
                return (running, false, revision)
            }
            let restart = ServerRestart()
            state.restart = restart
            if now - state.openedAt >= options.restart.maximum { state.restarts = nil }
            return (restart, true, revision)
        }
        guard let (restart, isNew, revision) = found else { return false }
        var told = error
        told.hint =
            "the server is being restarted; the request may have been executed, "
            + "so repeat it only if that is safe"
        // Before the first attempt, whose own requests must not fail with those of the program that ended.
        failAll(told)
        if isNew { restart.keep(Task { await run(restart, from: revision, after: error) }) }
        return true
    }

    private func run(_ restart: ServerRestart, from revision: Revision, after first: ClientError) async {
        var last = first
        while let delay = nextDelay() {
            try? await Task.pause(for: delay)
            guard state.withLock({ $0.end }) == nil else { return }
            _ = restart.takeSetback()
            do {
                try await transport.restart()
                try await Negotiation(self).openAgain(as: revision)
            } catch {
                last = restart.takeSetback() ?? (error as? ClientError) ?? Self.refused(error)
                continue
            }
            if let setback = settle(restart) {
                last = setback
                continue
            }
            restart.finish(nil)
            state.withLock { $0.onReconnect }?()
            return
        }
        var error = last
        error.message =
            "gave up after \(options.restart.maxAttempts) attempts to restart it: \(last.message)"
        conclude(error)
    }

    /// Returns the wait before the next attempt. The attempts of a program that keeps ending are counted
    /// together.
    private func nextDelay() -> Duration? {
        state.withLock { state in
            let policy = options.restart
            var backoff =
                state.restarts ?? Backoff(maximum: policy.maximum, maxAttempts: policy.maxAttempts)
            defer { state.restarts = backoff }
            return backoff.next(policy.initial)
        }
    }

    /// Ends the restart: the connection is open again, unless the server has ended in the meantime.
    private func settle(_ restart: ServerRestart) -> ClientError? {
        state.withLock { state in
            if let setback = restart.takeSetback() { return setback }
            state.restart = nil
            return nil
        }
    }

    private static func refused(_ error: any Error) -> ClientError {
        ClientError(.connectionClosed, "the server refused to reopen the connection", details: ["\(error)"])
    }
}
