import Synchronization

/// The time in which changes cannot be received, from the first attempt in vain to open their stream.
struct Outage {
    /// Why the last attempt was in vain.
    var error: ClientError
    /// The number of attempts in a row that were.
    var attempts: Int
    /// Whether all who wait for changes know of it.
    var isReported = false

    /// Whether it lasts long enough to be reported.
    var isLong: Bool { attempts >= ClientOptions.outageAttempts }
}

/// Outages of the stream of a session; since 2026-07-28 each subscription has its own stream.
extension ClientConnection {
    /// The reason why changes cannot be received for now; nil if they can, as far as that is known.
    var outage: ClientError? { state.withLock { $0.outage?.error } }

    /// Adds a subscriber, who does not know of an outage that began before.
    func addListener(
        _ filter: SubscriptionFilter, _ subscription: Subscription, needsStream: Bool = false
    ) -> Int {
        let number = listeners.add(filter, subscription, needsStream: needsStream)
        state.withLock { $0.outage?.isReported = false }
        return number
    }

    /// Records an attempt in vain. Reports the outage once it is long, if anybody waits for changes.
    func noteOutage(_ error: ClientError, attempts: Int) {
        state.withLock { state in
            state.outage = Outage(
                error: error, attempts: attempts, isReported: state.outage?.isReported ?? false)
        }
        reportOutage(when: \.isLong)
    }

    /// Reports an outage of which somebody who waits for changes does not know yet.
    ///
    /// - Parameter isDue: whether it is to be reported now.
    func reportOutage(when isDue: (Outage) -> Bool) {
        guard listeners.hasAny else { return }
        let error = state.withLock { state -> ClientError? in
            guard let outage = state.outage, !outage.isReported, isDue(outage) else { return nil }
            state.outage?.isReported = true
            return outage.error
        }
        if let error { options.onOutage?(error) }
    }

    /// Records that the stream is there again, or that nobody tries to open it any more.
    func endOutage() { state.withLock { $0.outage = nil } }
}

extension MCPClient {
    /// The reason why changes cannot be received for now, in a session of the revisions before 2026-07-28;
    /// nil if they can, as far as that is known.
    package var outage: ClientError? { connection.outage }
}
