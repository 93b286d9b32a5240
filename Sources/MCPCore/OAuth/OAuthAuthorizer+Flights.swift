import Synchronization

/// One flow at a time: whoever needs one that is under way waits for it.
extension OAuthAuthorizer {
    /// Renews tokens that expire soon, if that needs no user.
    func renewIfNeeded() async throws(AuthorizationError) {
        let generation = state.withLock { state -> Int? in
            guard let tokens = state.entry?.tokens, tokens.isExpired(at: clock.wallTime) else { return nil }
            if tokens.refreshToken != nil { return state.generation }
            return settings.grant.needsUser ? nil : state.generation
        }
        if let generation { try await perform(.renewal, after: generation) }
    }

    /// Makes tokens newer than those of `generation`, or waits until others have made them.
    ///
    /// The work goes on when the task that waits is cancelled, because others may wait for it.
    func perform(_ work: Work, after generation: Int) async throws(AuthorizationError) {
        while true {
            let flight = Flight()
            let found = state.withLock { state -> (work: Work, flight: Flight)? in
                if state.presented > generation { return nil }
                if let running = state.flight { return (running.work, running.flight) }
                state.flight = (work, flight, nil)
                return (work, flight)
            }
            guard let found else { return }
            if found.flight === flight { start(work, flight) }
            let cancelled = AuthorizationError(.cancelled, "the request was abandoned during a login")
            let result = await found.flight.value(ifCancelled: .failure(cancelled))
            if found.flight === flight, Task.isCancelled { cancelLogin(work, flight) }
            if found.flight === flight || found.work == work || Task.isCancelled { return try result.get() }
        }
    }

    /// Waits for a renewal that is under way, also if the task is cancelled: a refresh token that was sent is
    /// used up, so that a process which ends before it has stored the new one loses the login.
    package func finishRenewal() async {
        let found = state.withLock { state -> Flight? in
            if case .flow(.challenge(_, isForced: true))? = state.flight?.work { return nil }
            return state.flight?.flight
        }
        guard let found else { return }
        let cancelled = AuthorizationError(.cancelled, "the renewal was abandoned")
        // A task that nobody cancels.
        await Task { _ = await found.value(ifCancelled: .failure(cancelled)) }.value
    }

    /// Ends a login that a program has asked for and abandoned; flows of requests go on.
    private func cancelLogin(_ work: Work, _ flight: Flight) {
        guard case .flow(.challenge(_, isForced: true)) = work else { return }
        state.withLock { $0.flight?.flight === flight ? $0.flight?.task : nil }?.cancel()
    }

    private func start(_ work: Work, _ flight: Flight) {
        let task = Task {
            let result = await self.limited(work)
            self.state.withLock { state in
                if state.flight?.flight === flight { state.flight = nil }
            }
            flight.finish(result)
        }
        state.withLock { state in
            if state.flight?.flight === flight { state.flight?.task = task }
        }
    }

    /// Runs the work within its time.
    private func limited(_ work: Work) async -> Result<Void, AuthorizationError> {
        let isForUser = settings.grant.needsUser && canLogIn
        let limit = isForUser ? settings.loginTimeout + settings.silentTimeout : settings.silentTimeout
        let late = AuthorizationError(.timedOut, "\(serverText): no login within \(limit.inWords)")
        let cancelled = AuthorizationError(.cancelled, "the login was cancelled")
        do {
            return try await Race.run(within: limit, late: { late }, ifCancelled: cancelled) {
                await self.result(of: work)
            }
        } catch {
            return .failure(error as? AuthorizationError ?? cancelled)
        }
    }

    private func result(of work: Work) async -> Result<Void, AuthorizationError> {
        do throws(AuthorizationError) {
            switch work {
            case .renewal: try await renew()
            case .flow(let purpose): try await run(purpose)
            }
            return .success(())
        } catch {
            return .failure(error.masked(by: secrets))
        }
    }

    /// Whether there is a way to the person who logs in.
    var canLogIn: Bool {
        if case .device(show: let show) = settings.grant { show != nil } else { user != nil }
    }

    func makeFlow() throws(AuthorizationError) -> OAuthFlow {
        guard let server, let discovery, server.isConfidential || settings.allows(server.host) else {
            throw AuthorizationError(
                .usage, "\(serverText) is not an https URL, and tokens are sent nowhere else",
                hint: "http is only used on this machine")
        }
        return OAuthFlow(
            server: server, settings: settings, store: store, user: user, discovery: discovery,
            http: LimitedHTTP(http), pollingHTTP: http, clock: clock, proofs: proofs)
    }

    private func run(_ purpose: OAuthFlow.Purpose) async throws(AuthorizationError) {
        let flow = try makeFlow()
        let refused = state.withLock { $0.entry?.tokens?.accessToken }
        guard let outcome = try await flow.run(purpose, refused: refused) else { return }
        try await store.setKey(outcome.key, forServer: flow.server.storeName)
        adopt(outcome)
        flow.discovery.forgetResource()
    }

    private func renew() async throws(AuthorizationError) {
        let (key, tokens) = state.withLock { ($0.key, $0.entry?.tokens) }
        guard let key, let tokens else { return }
        let flow = try makeFlow()
        var entry: StoredAuthorization?
        if tokens.refreshToken == nil {
            entry = try await SilentGrant(flow: flow).renew(key)
        } else {
            entry = try await flow.renewal().run(key, refused: tokens.accessToken)
        }
        if let entry { return adopt(OAuthFlow.Outcome(key: key, entry: entry, isNewLogin: false)) }
        // The refresh token is no longer valid: the next request has no token, and the server decides.
        state.withLock { state in
            if state.entry?.tokens?.accessToken == tokens.accessToken { state.entry?.tokens = nil }
        }
    }
}
