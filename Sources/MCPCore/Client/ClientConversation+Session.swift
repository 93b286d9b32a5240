import Synchronization

/// What a session of the handshake revisions is told once, and told again when it is a new one.
extension ClientConversation {
    /// Whether something that the server says by itself is of interest: then its stream is opened.
    var wantsServerStream: Bool {
        options.onNotification != nil || options.onLog != nil || options.onElicit != nil
            || options.onSample != nil || options.onRoots != nil || listeners.hasAny
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
