import Synchronization

/// The time during which requests waited for their credentials, possibly for a person who logs in.
struct CredentialsTime {
    private var count = 0
    private var since = MonotonicInstant(nanoseconds: 0)
    private var total = Duration.zero

    mutating func change(_ isWaiting: Bool, _ now: MonotonicInstant) {
        if isWaiting {
            if count == 0 { since = now }
            count += 1
        } else if count > 0 {
            count -= 1
            if count == 0 { total += now - since }
        }
    }

    /// Returns the time up to `now`; requests that wait at the same time count once.
    func elapsed(_ now: MonotonicInstant) -> Duration { count == 0 ? total : total + (now - since) }
}

extension ClientConnection {
    func awaitsCredentials(_ id: Int64?, _ isWaiting: Bool) {
        let now = clock.now
        state.withLock { $0.credentials.change(isWaiting, now) }
        guard let id, let call = pending.call(id) else { return }
        // The server is not silent: it waits for this client.
        call.pauseSilence(isWaiting, now)
        if !isWaiting { watch(call.nextDeadline) }
    }

    /// The time that requests have waited for credentials so far.
    var timeForCredentials: Duration {
        guard options.authorizer != nil else { return .zero }
        let now = clock.now
        return state.withLock { $0.credentials.elapsed(now) }
    }

    /// Handles credentials that stand for somebody else: nothing that was received for the one before is used
    /// for them (AUTH-46).
    func identityChanged() {
        changed(.resubscribed)
        let (generation, speech) = state.withLock { ($0.generation, $0.speech) }
        // A call opens a new session itself; listeners make none.
        guard case .legacy = speech, wantsServerStream else { return }
        Task { [weak self] in _ = await self?.reopen(after: generation) }
    }
}
