import Synchronization

/// What a session of the handshake revisions is told once, and told again when it is a new one.
extension ClientConnection {
    /// Whether something that the server says by itself is of interest: then its stream is opened.
    var wantsServerStream: Bool {
        options.onNotification != nil || options.onLog != nil || options.onElicit != nil
            || options.onSample != nil || options.onRoots != nil || listeners.hasAny
    }

    /// Opens a new session for those who listen: they make no call that would find the old one gone
    /// (LEG-25).
    ///
    /// A server that is still starting is tried again, with growing pauses, for as long as somebody listens.
    func renewSession() {
        Task { [weak self] in
            var backoff = Backoff(maximum: .seconds(30))
            while await self?.isLeftWithoutSession() == true {
                guard let pause = backoff.next(.seconds(1)) else { return }
                guard (try? await Task.pause(for: pause)) != nil else { return }
            }
        }
    }

    /// Opens a new session; true when that may succeed later.
    private func isLeftWithoutSession() async -> Bool {
        let (generation, end) = state.withLock { ($0.generation, $0.end) }
        guard end == nil, wantsServerStream, let error = await reopen(after: generation) else { return false }
        if error.isTransient || error.kind == .timeout { return true }
        serverStreamRefused(error)
        return false
    }

    /// Tells each new session what the ones before it were told.
    func remembersInterests() {
        state.withLock { state in
            state.onReconnect = { [weak self] in
                // Perhaps it is another program, and what changed meanwhile was not told.
                self?.changed(.resubscribed)
                // The reconnection itself waits for nothing.
                Task { await self?.tellInterests(isAgain: true) }
            }
        }
    }

    /// Tells a session which log messages and which resources are of interest (STDIO-17).
    ///
    /// - Parameter limit: how long one answer may take.
    func tellInterests(isAgain: Bool, atMost limit: Duration = .seconds(10)) async {
        guard speech?.isModern == false else { return }
        let options = CallOptions(timeout: limit, deadline: limit)
        // A server without logging, or one that refuses, is used all the same.
        if let logLevel, profile?.capabilities.hasLogging == true {
            _ = await call("logging/setLevel", ["level": .string(logLevel.rawValue)], options)
        }
        guard isAgain else { return }
        for uri in listeners.watchedURIs {
            _ = await call("resources/subscribe", ["uri": .string(uri)], options)
        }
        listeners.publish(.resubscribed)
    }
}
