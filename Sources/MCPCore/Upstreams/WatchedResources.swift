import Synchronization

/// The resources of one server whose changes somebody wants to hear of: each connection subscribes to them.
///
/// One subscription names all of them; a server before 2026-07-28 is asked for each.
final class WatchedResources: Sendable {
    private let state = Mutex(WatchedState())

    /// The time for which subscriptions are put together.
    private static let window = Duration.milliseconds(20)
    /// The time for which a subscription goes on beside its successor: what the server has sent in it may
    /// come after the acknowledgement of the successor, which takes another way.
    private static let overlap = Duration.milliseconds(250)

    /// The time that a server has for its answer; one that does not say anything refuses. Shorter than the
    /// time that callers wait for it.
    static let patience = Duration.seconds(8)

    /// Sets what receives the URI of each resource that has changed.
    func observe(_ onChange: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.onChange = onChange }
    }

    private func report(_ uris: some Sequence<String>) {
        guard let onChange = state.withLock({ $0.onChange }) else { return }
        for uri in uris { onChange(uri) }
    }

    /// Changes the state, and keeps the connection, or lets it go, as it says then.
    private func change<T: Sendable>(_ body: (inout WatchedState) -> T) -> T {
        let (result, link, keeps) = state.withLock { state -> (T, UpstreamLink?, Bool?) in
            let result = body(&state)
            let keeps = state.watched.values.contains { !$0.isRefused }
            guard keeps != state.keepsLink else { return (result, nil, nil) }
            state.keepsLink = keeps
            return (result, state.link, keeps)
        }
        if let keeps { keeps ? link?.beginWatch() : link?.endWatch() }
        return result
    }

    /// Subscribes to a resource, at each connection, for as long as the returned object exists; returns nil
    /// when there are too many.
    ///
    /// - Parameter mayHaveChanged: whether the first subscription is reported as a change, as some may have
    ///   been missed.
    func watch(
        _ uri: String, for principal: String, at link: UpstreamLink, mayHaveChanged: Bool
    ) -> ResourceWatch? {
        let found = change { state in
            state.link = link
            return state.watch(uri, for: principal, mayHaveChanged: mayHaveChanged)
        }
        guard let (number, isNew) = found else { return nil }
        if isNew { subscribe(over: link) }
        return ResourceWatch(
            isRefused: { [weak self] in await self?.isRefused(uri, number) ?? false },
            end: { [weak self] in self?.unwatch(uri, number, for: principal) })
    }

    /// Returns whether the server does not report a resource, once it has been asked.
    private func isRefused(_ uri: String, _ number: Int) async -> Bool {
        let answer = state.withLock { $0.watched[uri]?.number == number ? $0.watched[uri]?.answer : nil }
        await answer?.wait()
        return state.withLock { $0.watched[uri]?.number == number && $0.watched[uri]?.isRefused == true }
    }

    /// Subscribes to what is due once there is a connection.
    private func subscribe(over link: UpstreamLink) {
        Task { [weak self] in
            // Otherwise the next connection subscribes.
            guard (try? await link.acquire()) != nil else {
                self?.state.withLock { $0.cannotAsk() }
                return
            }
            self?.update()
            link.release()
        }
    }

    private func unwatch(_ uri: String, _ number: Int, for principal: String) {
        Self.cancel(change { $0.unwatch(uri, number, for: principal) })
        update()
    }

    private static func cancel(_ subscriptions: [Subscription]) {
        for subscription in subscriptions { Task { await subscription.cancel() } }
    }

    /// Subscribes to all resources at a new connection.
    func connected(_ client: MCPClient) {
        change { $0.begin(client) }
        update()
    }

    /// Asks again for what the server refused, as it may report other resources now.
    func listsChanged() {
        state.withLock { $0.refusedAreDue() }
        update()
    }

    // MARK: Subscribing

    /// Subscribes to what is due, and leaves out what nobody watches any more.
    private func update() {
        let connection = state.withLock { state -> Int? in
            guard !state.isAsking, state.hasQuestions else { return nil }
            state.isAsking = true
            return state.connection
        }
        guard let connection else { return }
        Task { [weak self] in
            try? await Task.pause(for: Self.window)
            self?.ask(at: connection)
        }
    }

    private func ask(at connection: Int) {
        let questions = state.withLock { state -> [WatchedState.Question] in
            guard state.connection == connection else { return [] }
            let questions = state.takeQuestions()
            state.isAsking = questions.contains(where: \.isAboutAll)
            return questions
        }
        for question in questions { Task { await ask(question) } }
    }

    private func ask(_ question: WatchedState.Question) async {
        let start = SystemClock().now
        let asking = Task { [client = question.client, uris = question.uris] in
            try await client.listen(SubscriptionFilter(resourceURIs: uris))
        }
        let isLate = Task {
            do { try await Task.pause(for: Self.patience) } catch { return false }
            asking.cancel()
            return true
        }
        let subscription: Subscription
        do {
            defer { isLate.cancel() }
            subscription = try await asking.value
        } catch {
            // A server that is gone has refused nothing.
            var refusal = SubscriptionRefusal.mayPass(error) ? nil : error as? MCPError
            if refusal == nil, await isLate.value { refusal = .internalError() }
            let left = change { [refusal] in $0.fail(question, refusal) }
            isAnswered(question)
            return askAgain(left, question, after: SystemClock().now - start)
        }
        begin(subscription, question)
        do {
            for try await change in subscription {
                switch change {
                case .resourceUpdated(let uri): report(question.uris.filter { WatchedState.covers($0, uri) })
                case .resubscribed:
                    report(question.uris)
                    await resume(subscription, question)
                default: break
                }
            }
        } catch {
            // The connection has ended, or the server has ended the subscription.
        }
        let ended = change { $0.end(question) }
        askAgain(ended, question, after: SystemClock().now - start)
    }

    private func begin(_ subscription: Subscription, _ question: WatchedState.Question) {
        let (changed, refused, unused) = change { $0.begin(subscription, question) }
        report(changed)
        askAgain(refused, question, after: .zero)
        Task { [weak self] in
            if question.isAboutAll, !unused.isEmpty { try? await Task.pause(for: Self.overlap) }
            Self.cancel(unused)
            self?.isAnswered(question)
        }
    }

    /// Finds out what the server still reports: one that was started again may refuse for some time.
    private func resume(_ subscription: Subscription, _ question: WatchedState.Question) async {
        if question.isAboutAll {
            let (refused, unused) = change { $0.resume(subscription, question) }
            Self.cancel(unused)
            return askAgain(refused, question, after: .zero)
        }
        for uri in question.uris {
            do {
                try await question.client.renewSubscription(to: uri)
            } catch {
                // It has ended, and is asked for again. A session that is lost again is resumed once more.
                if error is MCPError, !SubscriptionRefusal.mayPass(error) { await subscription.cancel() }
            }
        }
    }

    private func isAnswered(_ question: WatchedState.Question) {
        guard question.isAboutAll else { return }
        let isCurrent = state.withLock { state -> Bool in
            guard state.connection == question.connection else { return false }
            state.isAsking = false
            return true
        }
        if isCurrent { update() }
    }

    /// Subscribes again after a pause, if the connection is still there then; otherwise the next one does.
    private func askAgain(_ uris: [String], _ question: WatchedState.Question, after time: Duration) {
        let again = state.withLock { $0.pause(before: uris, question, after: time) }
        guard let (pause, link, numbers) = again else { return }
        Task { [weak self, weak client = question.client, connection = question.connection] in
            try? await Task.pause(for: pause)
            guard let self, let client, link.isCurrent(client) else { return }
            self.state.withLock { $0.isDue(numbers, connection) }
            self.update()
        }
    }
}
