import Synchronization

/// The interests that a session of the handshake revisions is told about once, and again after it is
/// replaced.
extension ClientConnection {
    /// Whether any message that the server sends on its own is of interest; if so, its stream is opened.
    var wantsServerStream: Bool {
        options.onNotification != nil || options.onLog != nil || options.onElicit != nil
            || options.onSample != nil || options.onRoots != nil || listeners.hasAny
    }

    /// Opens a new session for the listeners, which make no call that would discover that the old one is gone
    /// (LEG-25).
    ///
    /// A server that is still starting is tried again, with growing pauses, while there are listeners.
    func renewSession() {
        Task { [weak self] in
            var backoff = Backoff(maximum: .seconds(30))
            while await self?.isLeftWithoutSession() == true {
                guard let pause = backoff.next(.seconds(1)) else { return }
                guard (try? await Task.pause(for: pause)) != nil else { return }
            }
        }
    }

    /// Opens a new session. Returns true when that failed but may succeed later.
    private func isLeftWithoutSession() async -> Bool {
        let (generation, end) = state.withLock { ($0.generation, $0.end) }
        guard end == nil, wantsServerStream, let error = await reopen(after: generation) else { return false }
        if error.isTransient || error.kind == .timeout { return true }
        serverStreamRefused(error)
        return false
    }

    /// Makes each new session receive the interests that earlier ones were told about.
    func remembersInterests() {
        state.withLock { state in
            state.onReconnect = { [weak self] in
                // The server may be a different program, and changes in the meantime were not reported.
                self?.changed(.resubscribed)
                // The reconnection itself does not wait for anything.
                Task { await self?.tellInterests(isAgain: true) }
            }
        }
    }

    /// Tells a session which log messages and which resources are of interest (STDIO-17).
    ///
    /// - Parameter limit: the time limit of each request.
    func tellInterests(isAgain: Bool, atMost limit: Duration = .seconds(10)) async {
        guard speech?.isModern == false else { return }
        // A login may take longer.
        let options = CallOptions(timeout: limit, deadline: self.options.authorizer == nil ? limit : nil)
        // A server that has no logging, or that refuses the level, can still be used.
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
