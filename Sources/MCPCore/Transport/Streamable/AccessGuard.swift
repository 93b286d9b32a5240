import Dispatch
import Synchronization

/// The check of the callers of one endpoint, by access token or as a process of this machine: a cache on the
/// connections' threads, and verifications elsewhere.
final class AccessGuard: Sendable {
    /// The maximum number of verifications at a time; a request that needs another one is answered with 503.
    static let maxVerifications = 64
    /// The maximum time of a verification; then the requests that wait for it are answered with 503.
    static let verificationTime = Duration.seconds(5)
    /// The difference between clocks that is allowed for: the time after a token's expiry for which the
    /// streams that it opened continue, and for which a verifier may still accept it.
    static let skewSeconds: Int64 = 30

    /// The maximum number of principals whose requests are counted; the least recently used one is forgotten.
    static let maxMeters = 10_000

    typealias Cache = TokenCache<Caller.Identity>
    /// Receives the caller, or the refusal, on any thread.
    typealias Waiter = @Sendable (Result<Caller.Identity, EarlyResponse>) -> Void

    /// What a caller is known by.
    enum Credential: Sendable {
        case token(PresentedToken)
        /// The process at the other end of the connection.
        case peer(PeerUser)

        fileprivate var digest: SHA256.Digest {
            switch self {
            case .token(let token): SHA256.hash(Array(token.value.utf8))
            // Not a token: it contains spaces.
            case .peer(let peer): SHA256.hash(Array("peer \(peer.user) \(peer.group ?? .max)".utf8))
            }
        }

        /// The process; nil for a token.
        fileprivate var peer: PeerUser? { if case .peer(let peer) = self { peer } else { nil } }
    }

    /// A credential that is not in the cache.
    struct UnverifiedCredential: Sendable {
        fileprivate let digest: SHA256.Digest
        fileprivate let credential: Credential
        /// Whether it is verified however many wrong tokens its address presents: it was good when it was
        /// verified last, or is no token.
        let wasGood: Bool
        /// The generation of the verifier when the request came.
        fileprivate let generation: UInt64

        init(_ credential: Credential, wasGood: Bool) {
            self.init(digest: credential.digest, credential: credential, wasGood: wasGood, generation: 0)
        }

        fileprivate init(
            digest: SHA256.Digest, credential: Credential, wasGood: Bool, generation: UInt64
        ) {
            self.digest = digest
            self.credential = credential
            self.wasGood = wasGood
            self.generation = generation
        }
    }

    enum Admission {
        /// The caller of the last request of the connection.
        case known(KnownCaller)
        case caller(Caller)
        case unverified(UnverifiedCredential)
    }

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
    }

    let authorization: ServerAuthorization
    let streams: StreamWatch
    /// That of the authorization, whose number is read for each request.
    private let verifier: any TokenVerifier
    private let observer: VerifierObserver
    private let challenge: BearerChallenge
    private let clock: any TimeSource
    private let alarm: Alarm
    private let state = Mutex(State())
    /// The identity of callers without a token; nil if there may be none.
    private let anonymous: Caller.Identity?

    init(_ authorization: ServerAuthorization, clock: any TimeSource) {
        self.authorization = authorization
        self.clock = clock
        verifier = authorization.verifier
        challenge = BearerChallenge(authorization)
        alarm = Alarm(label: "mcp.authorization", clock: clock)
        let streams = StreamWatch(clock: clock)
        self.streams = streams
        observer = VerifierObserver { [weak streams] in streams?.check() }
        let rules = authorization.rules
        anonymous =
            rules?.anonymous.isEmpty == false
            ? Caller.Identity(
                Principal(kind: .anonymous, subject: "anonymous"), grantedScopes: [], rules: rules,
                onAccess: authorization.onAccess,
                reportsAllowedAccess: authorization.reportsAllowedAccess) : nil
        streams.begin(generation: { [verifier] in verifier.generation }) { [weak self] in
            await self?.judge($0) ?? .unknown
        }
        authorization.verifier.observe(observer)
    }

    deinit { for verification in state.withLock({ $0.open.values }) { verification.task.cancel() } }

    /// The number of verifications that have not returned.
    var openVerifications: Int { state.withLock { $0.open.count } }
    /// The numbers of tokens that are remembered.
    var cachedTokens: (good: Int, refused: Int) { state.withLock { $0.cache.counts } }

    // MARK: Requests

    /// Judges the caller of a request by the cache.
    ///
    /// - Parameters:
    ///   - peer: returns the process at the other end of the connection, if it is on this machine.
    ///   - memory: the caller of an earlier request of the connection.
    func admit(
        _ head: RequestHead, in bytes: ByteSlice, peer: () -> PeerUser? = { nil },
        _ memory: inout ConnectionMemory?
    ) throws(EarlyResponse) -> Admission {
        guard !head.isRepeated(.authorization) else {
            report("two Authorization fields")
            throw refusal(400, "Send one Authorization header", challenge: nil)
        }
        let generation = verifier.generation
        let field = head.value(.authorization, in: bytes)
        if let known = memory as? KnownCaller {
            if known.isGood(presenting: field, at: clock, generation: generation) {
                try check(known.identity)
                return .known(known)
            }
            memory = nil
        }
        guard let field else {
            guard !authorization.peers.isEmpty, let peer = peer() else {
                return .caller(Caller(try nobody(nil)))
            }
            return try admit(peer, generation, &memory)
        }
        guard let token = Self.token(in: field) else { throw refusal(for: .malformed) }
        let digest = SHA256.hash(token)
        let moment = Cache.Moment(clock)
        switch state.withLock({ $0.cache.entry(digest, at: moment, generation: generation) }) {
        case .good(let identity, let until):
            memory = KnownCaller(identity, field: field, generation: generation, until: until)
            return .caller(try caller(identity, generation))
        case .refused(let fault): throw refusal(for: fault)
        case nil:
            let presented = PresentedToken(String(token), resource: authorization.resource)
            let wasGood = state.withLock { $0.cache.wasGood(digest) }
            return .unverified(
                UnverifiedCredential(
                    digest: digest, credential: .token(presented), wasGood: wasGood, generation: generation))
        }
    }

    private func admit(
        _ peer: PeerUser, _ generation: UInt64, _ memory: inout ConnectionMemory?
    ) throws(EarlyResponse) -> Admission {
        let credential = Credential.peer(peer)
        let digest = credential.digest
        let moment = Cache.Moment(clock)
        switch state.withLock({ $0.cache.entry(digest, at: moment, generation: generation) }) {
        case .good(let identity, let until):
            memory = KnownCaller(identity, field: nil, generation: generation, until: until)
            return .caller(try caller(identity, generation))
        case .refused: return .caller(Caller(try nobody(peer)))
        case nil:
            return .unverified(
                UnverifiedCredential(
                    digest: digest, credential: credential, wasGood: true, generation: generation))
        }
    }

    /// Returns the identity of a caller without a token that no rule is about.
    ///
    /// - Parameter peer: the process, where rules were asked about it. Only the log names its user: behind a
    ///   proxy, it is that of the proxy.
    private func nobody(_ peer: PeerUser?) throws(EarlyResponse) -> Caller.Identity {
        if let anonymous { return anonymous }
        report(peer.map { "no token, and no rule for the user id \($0.user)" } ?? "no token")
        throw refusal(401, EarlyResponse.tokenIsRequired, challenge: challenge.missing)
    }

    /// Returns the caller with a verified credential, if it has what each request requires and sends no more
    /// requests than it may.
    private func caller(
        _ identity: Caller.Identity, _ generation: UInt64
    ) throws(EarlyResponse) -> Caller {
        try check(identity)
        return Caller(identity, generation: generation)
    }

    /// Refuses a request of a caller who lacks what each request requires, or sends more than it may.
    private func check(_ identity: Caller.Identity) throws(EarlyResponse) {
        guard identity.hasRequiredScopes else {
            report("lacks a required scope", of: identity.principal)
            throw refusal(
                403, "The token does not grant the scopes that are required",
                challenge: challenge.insufficient())
        }
        if let meter = identity.meter, let excess = meter.take(at: clock.now) {
            throw refusal(of: identity.principal, beyond: meter.limit, excess)
        }
    }

    /// Returns the caller with a credential that was verified.
    func caller(
        _ identity: Caller.Identity, with credential: UnverifiedCredential
    ) throws(EarlyResponse) -> Caller { try caller(identity, credential.generation) }

    /// Refuses a request of a caller without a token, if its address sends more of them than it may.
    ///
    /// - Parameter address: the address or the network of the client; all clients without one share a rate.
    func checkRate(of caller: Caller, from address: () -> [UInt8]?) throws(EarlyResponse) {
        guard caller.identity.isAnonymous, let limit = authorization.rate else { return }
        let principal = caller.identity.principal
        let now = clock.now
        // Not the key of a principal: it contains a space.
        let meter = meter(for: "anonymous \(Hex.encode(address() ?? []))", limit, at: now)
        if let excess = meter.take(at: now) { throw refusal(of: principal, beyond: limit, excess) }
    }

    /// Returns what the caller of a request is known by, to check it again later; nil for nobody.
    ///
    /// - Parameter field: the value of `Authorization`.
    func credential(
        of caller: Caller?, _ field: ByteSlice?, peer: () -> PeerUser?
    ) -> Credential? {
        switch caller?.identity.principal.kind {
        case nil, .anonymous: nil
        case .peer: peer().map { .peer($0) }
        case .oauth, .token:
            field.flatMap(Self.token).map {
                .token(PresentedToken(String($0), resource: authorization.resource))
            }
        }
    }

    /// Returns the token after `Bearer` (RFC 6750, section 2.1).
    private static func token(in field: ByteSlice) -> ByteSlice? {
        let scheme = "bearer"
        guard field.count > scheme.utf8.count,
            ASCII.equalsIgnoringCase(field[0 ..< scheme.utf8.count], scheme.utf8),
            field[scheme.utf8.count] == ASCII.space
        else { return nil }
        var start = scheme.utf8.count
        while start < field.count, field[start] == ASCII.space { start += 1 }
        let token = field[start ..< field.count]
        var end = token.count
        while end > 0, token[end - 1] == UInt8(ascii: "=") { end -= 1 }
        guard end > 0, token[0 ..< end].allSatisfy(isTokenCharacter) else { return nil }
        return token
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        ASCII.isLetterOrDigit(byte) || [0x2B, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E].contains(byte)
    }

    // MARK: Refusals

    /// The fields of a response to a request that lacks scopes.
    func challengeFields(for caller: Caller) -> HeaderFields {
        fields(challenge.insufficient(for: caller.requiredScopes))
    }

    private func refusal(for fault: TokenRefusal.Fault) -> EarlyResponse {
        report(fault.rawValue)
        var response = refusal(
            401, "The token is refused: \(fault.rawValue)", challenge: challenge.invalid(fault))
        response.isFailedAttempt = true
        return response
    }

    private func refusal(
        of principal: Principal, beyond limit: RateLimit, _ excess: RateMeter.Excess
    ) -> EarlyResponse {
        // One line a second: a flood of requests must not become a flood of lines.
        if excess.reported > 0 {
            let more = excess.reported > 1 ? ", \(excess.reported) times since the last report" : ""
            report("beyond its rate of \(limit)\(more)", of: principal)
        }
        var fields = fields(nil)
        fields.append(sanitizing: "Retry-After", "\(excess.retryAfter)")
        return EarlyResponse(
            status: 429, text: "More than the \(limit) requests that this caller may send", fields: fields)
    }

    private func report(_ reason: String, of principal: Principal? = nil) {
        authorization.onAccess?(AccessEvent(isAllowed: false, principal: principal, reason: reason))
    }

    private func refusal(_ status: Int, _ text: String, challenge: String?) -> EarlyResponse {
        EarlyResponse(status: status, text: text, fields: fields(challenge))
    }

    private func fields(_ challenge: String?) -> HeaderFields {
        var fields = HeaderFields()
        if let challenge { fields.append(sanitizing: "WWW-Authenticate", challenge) }
        fields.append(sanitizing: "Cache-Control", "no-store")
        return fields
    }

    private var unavailable: EarlyResponse {
        var fields = fields(nil)
        fields.append(sanitizing: "Retry-After", "1")
        return EarlyResponse(
            status: 503, text: "The token cannot be verified now; try again later", fields: fields)
    }

    // MARK: Verification

    /// Verifies a credential and calls `waiter` once, at the latest when the time is over. Requests with the
    /// same token share one verification.
    func verify(_ unverified: UnverifiedCredential, _ waiter: @escaping Waiter) {
        let generation = authorization.verifier.generation
        let moment = Cache.Moment(clock)
        let deadline = moment.now + Self.verificationTime
        let digest = unverified.digest
        let known: Result<Caller.Identity, EarlyResponse>? = state.withLock { state in
            switch state.cache.entry(digest, at: moment, generation: generation) {
            case .good(let identity, _): return .success(identity)
            case .refused(let fault): return refused(fault, unverified.credential.peer)
            case nil: break
            }
            if let open = state.open[digest] {
                if open.isLate { return .failure(unavailable) }
                state.open[digest]?.waiters.append(waiter)
                return nil
            }
            guard state.open.count < Self.maxVerifications else { return .failure(unavailable) }
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
        guard let peer else { return .failure(refusal(for: fault)) }
        do throws(EarlyResponse) { return .success(try nobody(peer)) } catch { return .failure(error) }
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
        let generation = authorization.verifier.generation
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
            case nil: .failure(unavailable)
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
                meter: meter(of: principal, at: moment.now), onAccess: authorization.onAccess,
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

    private func meter(for key: String, _ limit: RateLimit, at now: MonotonicInstant) -> RateMeter {
        state.withLock { state in
            if let meter = state.meters.use(key), meter.limit == limit { return meter }
            let meter = RateMeter(limit, at: now)
            state.meters.remove(key)
            state.meters.insert(meter, for: key)
            return meter
        }
    }

    private static func lastSecond(of expiry: Int64) -> Int64 {
        let (sum, overflow) = expiry.addingReportingOverflow(skewSeconds)
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
            for waiter in verification.waiters { waiter(.failure(unavailable)) }
        }
        if next < .never { alarm.set(for: next, waking: self) { $0.endLate() } }
    }
}
