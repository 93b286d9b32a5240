import Dispatch
import Synchronization

/// What is known about the tokens of one endpoint's callers, and the verifications that find it out.
///
/// Tasks and alarms refer to it weakly, which makes each reference to it cost more. A request whose
/// connection knows its caller does not touch it (`AccessGuard`).
final class TokenVerifications: Sendable {
    /// The maximum number of verifications at a time; a request that needs another one is answered with 503.
    static let maxOpen = 64
    /// The maximum time of a verification; then the requests that wait for it are answered with 503.
    static let time = Duration.seconds(5)
    /// The maximum number of principals whose requests and responses are counted; the least recently used one
    /// is forgotten.
    static let maxMeters = 10_000

    typealias Cache = TokenCache<Caller.Identity>
    typealias Credential = AccessGuard.Credential
    typealias UnverifiedCredential = AccessGuard.UnverifiedCredential
    /// Receives the caller, or the refusal, on any thread.
    typealias Waiter = @Sendable (Result<Caller.Identity, EarlyResponse>) -> Void

    private struct Verification: Sendable {
        var waiters: [Waiter]
        let task: Task<Void, Never>
        let deadline: MonotonicInstant
        let generation: UInt64
        /// The process that it is about; nil for a token.
        let peer: PeerUser?
        /// Whether its time is over. It keeps its place until it returns.
        var isLate = false
    }

    private struct State {
        var cache = Cache()
        var open: [SHA256.Digest: Verification] = [:]
        var meters = BoundedTable<String, RateMeter>(capacity: maxMeters, policy: .evictLeastRecentlyUsed)
        var waiting = BoundedTable<String, WaitingResponses>(
            capacity: maxMeters, policy: .evictLeastRecentlyUsed)
    }

    private let authorization: ServerAuthorization
    private let verifier: any TokenVerifier
    private let refusals: AccessRefusals
    private let clock: any TimeSource
    private let alarm: Alarm
    private let state = Mutex(State())

    init(_ authorization: ServerAuthorization, _ refusals: AccessRefusals, clock: any TimeSource) {
        self.authorization = authorization
        verifier = authorization.verifier
        self.refusals = refusals
        self.clock = clock
        alarm = Alarm(label: "mcp.authorization", clock: clock)
    }

    deinit { for verification in state.withLock({ $0.open.values }) { verification.task.cancel() } }

    /// The number of verifications that have not returned.
    var openCount: Int { state.withLock { $0.open.count } }
    /// The numbers of tokens that are remembered.
    var cachedTokens: (good: Int, refused: Int) { state.withLock { $0.cache.counts } }

    /// Returns the decision about a credential if it still applies.
    func known(_ digest: SHA256.Digest, generation: UInt64) -> Cache.Entry? {
        let moment = Cache.Moment(clock)
        return state.withLock { $0.cache.entry(digest, at: moment, generation: generation) }
    }

    /// Whether a token without a decision was good when it was verified last.
    func wasGood(_ digest: SHA256.Digest) -> Bool { state.withLock { $0.cache.wasGood(digest) } }

    /// Verifies a credential and calls `waiter` once, at the latest when the time is over. Requests with the
    /// same token share one verification.
    func verify(_ unverified: UnverifiedCredential, _ waiter: @escaping Waiter) {
        let generation = verifier.generation
        let moment = Cache.Moment(clock)
        let deadline = moment.now + Self.time
        let digest = unverified.digest
        let known: Result<Caller.Identity, EarlyResponse>? = state.withLock { state in
            switch state.cache.entry(digest, at: moment, generation: generation) {
            case .good(let identity, _): return .success(identity)
            case .refused(let fault): return refused(fault, unverified.credential.peer)
            case nil: break
            }
            if let open = state.open[digest] {
                if open.isLate { return .failure(refusals.unavailable) }
                state.open[digest]?.waiters.append(waiter)
                return nil
            }
            guard state.open.count < Self.maxOpen else { return .failure(refusals.unavailable) }
            // Under the lock, so that it cannot end before it is in the table.
            state.open[digest] = Verification(
                waiters: [waiter], task: task(for: unverified), deadline: deadline, generation: generation,
                peer: unverified.credential.peer)
            return nil
        }
        if let known { return waiter(known) }
        alarm.set(for: deadline, waking: self) { $0.endLate() }
    }

    private func refused(
        _ fault: TokenRefusal.Fault, _ peer: PeerUser?
    ) -> Result<Caller.Identity, EarlyResponse> {
        guard let peer else { return .failure(refusals.refusal(for: fault)) }
        do throws(EarlyResponse) { return .success(try refusals.nobody(peer)) } catch {
            return .failure(error)
        }
    }

    private func task(for unverified: UnverifiedCredential) -> Task<Void, Never> {
        let verifier = authorization.verifier
        let rules = authorization.peers
        // Weak: a verifier that does not return must not keep the server alive.
        return Task { [weak self] in
            let outcome: Result<Principal, TokenRefusal>
            do throws(TokenRefusal) {
                switch unverified.credential {
                case .token(let token): outcome = .success(try await verifier.verify(token))
                case .peer(let peer): outcome = .success(try await Self.principal(of: peer, by: rules))
                }
            } catch {
                outcome = .failure(error)
            }
            self?.end(unverified.digest, outcome)
        }
    }

    /// Finds the rule about a process; the system may ask a directory service for its groups.
    private static func principal(
        of peer: PeerUser, by rules: [PeerRule]
    ) async throws(TokenRefusal) -> Principal {
        let principal = await withCheckedContinuation { continuation in
            peerQueue.async { continuation.resume(returning: PeerRule.principal(of: peer, by: rules)) }
        }
        guard let principal else { throw .invalid(.unknown) }
        return principal
    }

    private static let peerQueue = DispatchQueue(label: "mcp.peers", attributes: .concurrent)

    private func end(_ digest: SHA256.Digest, _ outcome: Result<Principal, TokenRefusal>) {
        let moment = Cache.Moment(clock)
        let generation = verifier.generation
        let decision = decision(on: outcome, at: moment)
        let ended = state.withLock { state -> Verification? in
            guard let open = state.open.removeValue(forKey: digest) else { return nil }
            // Otherwise a token of this verification may have been revoked in the meantime.
            guard open.generation == generation else { return open }
            switch decision {
            case .good(let identity, _):
                state.cache.insert(
                    identity, expiresAt: identity.principal.expiresAt,
                    lifetime: identity.principal.verifiedFor, for: digest, at: moment,
                    generation: generation)
            case .refused(let fault):
                state.cache.insert(fault, for: digest, at: moment, generation: generation)
            case nil: break
            }
            return open
        }
        guard let ended, !ended.waiters.isEmpty else { return }
        let answer: Result<Caller.Identity, EarlyResponse> =
            switch decision {
            case .good(let identity, _): .success(identity)
            case .refused(let fault): refused(fault, ended.peer)
            case nil: .failure(refusals.unavailable)
            }
        for waiter in ended.waiters { waiter(answer) }
    }

    /// Returns what the outcome of a verification means; nil when it means nothing about the token.
    private func decision(
        on outcome: Result<Principal, TokenRefusal>, at moment: Cache.Moment
    ) -> Cache.Entry? {
        switch outcome {
        case .success(let principal):
            if let end = principal.expiresAt, Self.lastSecond(of: end) <= moment.date {
                return .refused(.expired)
            }
            let scopes = authorization.granted(by: principal.scopes)
            // Processes of this machine have no token that could grant a scope.
            let hasRequired =
                principal.kind == .peer || authorization.requiredScopes.allSatisfy(scopes.contains)
            let identity = Caller.Identity(
                principal, grantedScopes: scopes, hasRequiredScopes: hasRequired, rules: authorization.rules,
                meter: meter(of: principal, at: moment.now), waiting: waiting(of: principal.key),
                onAccess: authorization.onAccess,
                reportsAllowedAccess: authorization.reportsAllowedAccess)
            return .good(identity, until: .never)
        case .failure(.invalid(let fault)): return .refused(fault)
        case .failure(.unavailable): return nil
        }
    }

    /// Returns the meter of a principal, which all of its tokens share; nil without a limit.
    func meter(of principal: Principal, at now: MonotonicInstant) -> RateMeter? {
        (principal.rate ?? authorization.rate).map { meter(for: principal.key, $0, at: now) }
    }

    func meter(for key: String, _ limit: RateLimit, at now: MonotonicInstant) -> RateMeter {
        state.withLock { state in
            if let meter = state.meters.use(key), meter.limit == limit { return meter }
            let meter = RateMeter(limit, at: now)
            state.meters.remove(key)
            state.meters.insert(meter, for: key)
            return meter
        }
    }

    /// Returns the counter of a principal, which all of its tokens share, or of others who are counted
    /// together.
    func waiting(of key: String) -> WaitingResponses {
        state.withLock { state in
            if let known = state.waiting.use(key) { return known }
            let waiting = WaitingResponses()
            state.waiting.insert(waiting, for: key)
            return waiting
        }
    }

    private static func lastSecond(of expiry: Int64) -> Int64 {
        let (sum, overflow) = expiry.addingReportingOverflow(AccessGuard.skewSeconds)
        return overflow ? .max : sum
    }

    /// Answers the requests whose verification takes too long, and cancels it.
    private func endLate() {
        let now = clock.now
        var next = MonotonicInstant.never
        let late = state.withLock { state -> [Verification] in
            var late: [Verification] = []
            for (digest, verification) in state.open where !verification.isLate {
                if verification.deadline > now {
                    next = min(next, verification.deadline)
                    continue
                }
                late.append(verification)
                state.open[digest]?.isLate = true
                state.open[digest]?.waiters = []
            }
            return late
        }
        for verification in late {
            verification.task.cancel()
            for waiter in verification.waiters { waiter(.failure(refusals.unavailable)) }
        }
        if next < .never { alarm.set(for: next, waking: self) { $0.endLate() } }
    }
}
