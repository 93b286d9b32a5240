import Synchronization

/// The check of the access tokens of one endpoint: a cache on the connections' threads, and verifications
/// elsewhere.
final class AccessGuard: Sendable {
    /// The maximum number of verifications at a time; a request that needs another one is answered with 503.
    static let maxVerifications = 64
    /// The maximum time of a verification; then the requests that wait for it are answered with 503.
    static let verificationTime = Duration.seconds(5)
    /// The difference between clocks that is allowed for: the time after a token's expiry for which the
    /// streams that it opened continue, and for which a verifier may still accept it.
    static let skewSeconds: Int64 = 30

    typealias Cache = TokenCache<Caller.Identity>
    /// Receives the caller, or the refusal, on any thread.
    typealias Waiter = @Sendable (Result<Caller.Identity, EarlyResponse>) -> Void

    /// A token that is not in the cache.
    struct UnverifiedToken: Sendable {
        fileprivate let digest: SHA256.Digest
        fileprivate let token: PresentedToken
        /// Whether it was good when it was verified last: it is verified again however many wrong tokens its
        /// address presents.
        let wasGood: Bool
    }

    enum Admission {
        case caller(Caller)
        case unverified(UnverifiedToken)
    }

    private struct Verification: Sendable {
        var waiters: [Waiter]
        let task: Task<Void, Never>
        let deadline: MonotonicInstant
        let generation: UInt64
        /// Whether its time is over. It keeps its place until it returns.
        var isLate = false
    }

    private struct State {
        var cache = Cache()
        var open: [SHA256.Digest: Verification] = [:]
    }

    let authorization: ServerAuthorization
    let expiry: ExpiryWatch
    private let challenge: BearerChallenge
    private let clock: any TimeSource
    private let alarm: Alarm
    private let state = Mutex(State())
    /// The identity of callers without a token; nil if there may be none.
    private let anonymous: Caller.Identity?

    init(_ authorization: ServerAuthorization, clock: any TimeSource) {
        self.authorization = authorization
        self.clock = clock
        challenge = BearerChallenge(authorization)
        alarm = Alarm(label: "mcp.authorization", clock: clock)
        expiry = ExpiryWatch(clock: clock)
        let rules = authorization.rules
        anonymous =
            rules?.anonymous.isEmpty == false
            ? Caller.Identity(
                Principal(kind: .anonymous, subject: "anonymous"), grantedScopes: [], rules: rules,
                onAccess: authorization.onAccess) : nil
    }

    deinit { for verification in state.withLock({ $0.open.values }) { verification.task.cancel() } }

    /// The number of verifications that have not returned.
    var openVerifications: Int { state.withLock { $0.open.count } }
    /// The numbers of tokens that are remembered.
    var cachedTokens: (good: Int, refused: Int) { state.withLock { $0.cache.counts } }

    // MARK: Requests

    /// Judges the token of a request by the cache.
    func admit(_ head: RequestHead, in bytes: ByteSlice) throws(EarlyResponse) -> Admission {
        guard !head.isRepeated(.authorization) else {
            report("two Authorization fields")
            throw refusal(400, "Send one Authorization header", challenge: nil)
        }
        guard let field = head.value(.authorization, in: bytes) else {
            if let anonymous { return .caller(Caller(anonymous)) }
            report("no token")
            throw refusal(
                401, "A token is required; send it as \"Authorization: Bearer TOKEN\"",
                challenge: challenge.missing)
        }
        guard let token = Self.token(in: field) else { throw refusal(for: .malformed) }
        let digest = SHA256.hash(token)
        let generation = authorization.verifier.generation
        let moment = Cache.Moment(clock)
        switch state.withLock({ $0.cache.entry(digest, at: moment, generation: generation) }) {
        case .good(let identity): return .caller(try caller(identity))
        case .refused(let fault): throw refusal(for: fault)
        case nil:
            let presented = PresentedToken(String(token), resource: authorization.resource)
            let wasGood = state.withLock { $0.cache.wasGood(digest) }
            return .unverified(UnverifiedToken(digest: digest, token: presented, wasGood: wasGood))
        }
    }

    /// Returns the caller with a verified token, if it grants what each request requires.
    func caller(_ identity: Caller.Identity) throws(EarlyResponse) -> Caller {
        guard authorization.requiredScopes.allSatisfy(identity.grantedScopes.contains) else {
            report("lacks a required scope", of: identity.principal)
            throw refusal(
                403, "The token does not grant the scopes that are required",
                challenge: challenge.insufficient())
        }
        return Caller(identity)
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

    /// Verifies a token and calls `waiter` once, at the latest when the time is over. Requests with the same
    /// token share one verification.
    func verify(_ unverified: UnverifiedToken, _ waiter: @escaping Waiter) {
        let generation = authorization.verifier.generation
        let moment = Cache.Moment(clock)
        let deadline = moment.now + Self.verificationTime
        let digest = unverified.digest
        let known: Result<Caller.Identity, EarlyResponse>? = state.withLock { state in
            switch state.cache.entry(digest, at: moment, generation: generation) {
            case .good(let identity): return .success(identity)
            case .refused(let fault): return .failure(refusal(for: fault))
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
                waiters: [waiter], task: task(for: unverified), deadline: deadline, generation: generation)
            return nil
        }
        if let known { return waiter(known) }
        alarm.set(for: deadline, waking: self) { $0.endLate() }
    }

    private func task(for unverified: UnverifiedToken) -> Task<Void, Never> {
        let verifier = authorization.verifier
        // Weak: a verifier that does not return must not keep the server alive.
        return Task { [weak self] in
            let outcome: Result<Principal, TokenRefusal>
            do throws(TokenRefusal) {
                outcome = .success(try await verifier.verify(unverified.token))
            } catch {
                outcome = .failure(error)
            }
            self?.end(unverified.digest, outcome)
        }
    }

    private func end(_ digest: SHA256.Digest, _ outcome: Result<Principal, TokenRefusal>) {
        let moment = Cache.Moment(clock)
        let generation = authorization.verifier.generation
        let decision = decision(on: outcome, at: moment)
        let waiters = state.withLock { state -> [Waiter] in
            guard let open = state.open.removeValue(forKey: digest) else { return [] }
            // Otherwise a token of this verification may have been revoked in the meantime.
            guard open.generation == generation else { return open.waiters }
            switch decision {
            case .good(let identity):
                state.cache.insert(
                    identity, expiresAt: identity.principal.expiresAt,
                    lifetime: identity.principal.verifiedFor, for: digest, at: moment,
                    generation: generation)
            case .refused(let fault):
                state.cache.insert(fault, for: digest, at: moment, generation: generation)
            case nil: break
            }
            return open.waiters
        }
        let answer: Result<Caller.Identity, EarlyResponse> =
            switch decision {
            case .good(let identity): .success(identity)
            case .refused(let fault): .failure(refusal(for: fault))
            case nil: .failure(unavailable)
            }
        for waiter in waiters { waiter(answer) }
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
            return .good(
                Caller.Identity(
                    principal, grantedScopes: scopes, rules: authorization.rules,
                    onAccess: authorization.onAccess))
        case .failure(.invalid(let fault)): return .refused(fault)
        case .failure(.unavailable): return nil
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
