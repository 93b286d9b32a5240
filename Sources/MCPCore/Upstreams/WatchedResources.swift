import Synchronization

/// The resources of one server whose changes somebody wants to hear of: each connection subscribes to them.
final class WatchedResources: Sendable {
    private struct Watched {
        /// Distinguishes it from an earlier one with the same URI.
        let number: Int
        /// The principal who was the first.
        let owner: String
        let link: UpstreamLink
        /// How many watch it.
        var count = 1
        /// The connection at which it is watched, or about to be.
        var connection: ObjectIdentifier?
        var subscription: Subscription?
        /// Whether it keeps the connection; one that the server refuses does not.
        var keepsLink = true
        /// Whether a change may have been missed.
        var mayHaveChanged: Bool
        /// The time before the next attempt at the same connection.
        var pause = UpstreamLimits.refreshPause.first
    }

    private struct State {
        var watched: [String: Watched] = [:]
        var lastNumber = 0
        var onChange: (@Sendable (String) -> Void)?

        /// Returns a resource if it is still watched, and at this connection.
        func current(_ uri: String, _ number: Int, _ client: MCPClient) -> Watched? {
            guard let found = watched[uri], found.number == number,
                found.connection == ObjectIdentifier(client)
            else { return nil }
            return found
        }
    }

    private let state = Mutex(State())

    /// Sets what receives the URI of each resource that has changed.
    func observe(_ onChange: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.onChange = onChange }
    }

    private func report(_ uri: String) { state.withLock { $0.onChange }?(uri) }

    /// Subscribes to a resource, at each connection, for as long as the returned object exists; returns nil
    /// when there are too many.
    ///
    /// - Parameter mayHaveChanged: whether the first subscription is reported as a change, as some may have
    ///   been missed.
    func watch(
        _ uri: String, for principal: String, at link: UpstreamLink, mayHaveChanged: Bool
    ) -> ResourceWatch? {
        let found = state.withLock { state -> (number: Int, isNew: Bool)? in
            if let number = state.watched[uri]?.number {
                state.watched[uri]?.count += 1
                return (number, false)
            }
            guard state.watched.count < UpstreamLimits.watched else { return nil }
            let own = principal.isEmpty ? 0 : state.watched.values.count { $0.owner == principal }
            guard own < UpstreamLimits.watchedByOne else { return nil }
            state.lastNumber += 1
            state.watched[uri] = Watched(
                number: state.lastNumber, owner: principal, link: link, mayHaveChanged: mayHaveChanged)
            return (state.lastNumber, true)
        }
        guard let (number, isNew) = found else { return nil }
        if isNew {
            link.beginWatch()
            Task { [weak self] in
                // Otherwise the next connection subscribes.
                guard let client = try? await link.acquire() else { return }
                self?.subscribe(to: uri, number, client)
                link.release()
            }
        }
        return ResourceWatch { [weak self] in self?.unwatch(uri, number) }
    }

    private func unwatch(_ uri: String, _ number: Int) {
        let ended = state.withLock { state -> Watched? in
            guard let watched = state.watched[uri], watched.number == number else { return nil }
            guard watched.count == 1 else {
                state.watched[uri]?.count -= 1
                return nil
            }
            return state.watched.removeValue(forKey: uri)
        }
        guard let ended else { return }
        if ended.keepsLink { ended.link.endWatch() }
        if let subscription = ended.subscription { Task { await subscription.cancel() } }
    }

    /// Subscribes to all resources at a new connection.
    func connected(_ client: MCPClient) {
        let all = state.withLock { state -> [String: Int] in
            for (uri, watched) in state.watched where watched.connection != ObjectIdentifier(client) {
                if watched.connection != nil { state.watched[uri]?.mayHaveChanged = true }
                state.watched[uri]?.connection = nil
                state.watched[uri]?.subscription = nil
                state.watched[uri]?.pause = UpstreamLimits.refreshPause.first
            }
            return state.watched.mapValues(\.number)
        }
        for (uri, number) in all { subscribe(to: uri, number, client) }
    }

    /// Subscribes at a connection, unless that has been done.
    private func subscribe(to uri: String, _ number: Int, _ client: MCPClient) {
        let (isNew, waking) = state.withLock { state -> (Bool, UpstreamLink?) in
            guard let watched = state.watched[uri], watched.number == number,
                watched.connection != ObjectIdentifier(client)
            else { return (false, nil) }
            state.watched[uri]?.connection = ObjectIdentifier(client)
            state.watched[uri]?.keepsLink = true
            return (true, watched.keepsLink ? nil : watched.link)
        }
        waking?.beginWatch()
        guard isNew else { return }
        Task { [weak self] in
            let start = SystemClock().now
            do {
                let subscription = try await client.listen(SubscriptionFilter(resourceURIs: [uri]))
                guard subscription.accepted.resourceURIs.contains(uri) else {
                    self?.wasRefused(uri, number, client)
                    return
                }
                guard self?.begin(subscription, uri, number, client) == true else {
                    return await subscription.cancel()
                }
                for try await change in subscription {
                    switch change {
                    case .resourceUpdated, .resubscribed: self?.report(uri)
                    default: break
                    }
                }
            } catch {
                // A server that is gone has refused nothing.
                if error is MCPError, !SubscriptionRefusal.mayPass(error) {
                    self?.wasRefused(uri, number, client)
                    return
                }
            }
            self?.ended(uri, number, client, after: SystemClock().now - start)
        }
    }

    /// Returns whether the subscription is wanted still.
    private func begin(
        _ subscription: Subscription, _ uri: String, _ number: Int, _ client: MCPClient
    ) -> Bool {
        let (isWanted, isChange) = state.withLock { state -> (Bool, Bool) in
            guard let watched = state.current(uri, number, client) else { return (false, false) }
            state.watched[uri]?.subscription = subscription
            state.watched[uri]?.mayHaveChanged = false
            return (true, watched.mayHaveChanged)
        }
        if isChange { report(uri) }
        return isWanted
    }

    /// Lets the connection go for a resource that the server does not report; the next one asks again.
    private func wasRefused(_ uri: String, _ number: Int, _ client: MCPClient) {
        let link = state.withLock { state -> UpstreamLink? in
            guard let watched = state.current(uri, number, client), watched.keepsLink else { return nil }
            state.watched[uri]?.keepsLink = false
            return watched.link
        }
        link?.endWatch()
    }

    /// Subscribes again after a pause, if the connection is still there then; otherwise the next one does.
    private func ended(_ uri: String, _ number: Int, _ client: MCPClient, after time: Duration) {
        let again = state.withLock { state -> (Duration, UpstreamLink)? in
            guard let watched = state.current(uri, number, client) else { return nil }
            let pause = time < UpstreamLimits.goodRun ? watched.pause : UpstreamLimits.refreshPause.first
            state.watched[uri]?.subscription = nil
            state.watched[uri]?.mayHaveChanged = true
            state.watched[uri]?.pause = min(pause * 2, UpstreamLimits.refreshPause.longest)
            return (pause, watched.link)
        }
        guard let (pause, link) = again else { return }
        Task { [weak self, weak client] in
            try? await Task.pause(for: pause)
            guard let self, let client, link.isCurrent(client) else { return }
            let isWanted = self.state.withLock { state in
                guard state.current(uri, number, client) != nil else { return false }
                state.watched[uri]?.connection = nil
                return true
            }
            if isWanted { self.subscribe(to: uri, number, client) }
        }
    }
}
