/// The check of the callers of one endpoint, by access token or as a process of this machine, on the
/// connections' threads.
///
/// Nothing refers to it weakly: an object to which somebody does is retained and released at several times
/// the cost, and each request does that. What is referred to weakly is behind it, in `TokenVerifications`.
final class AccessGuard: Sendable {
    /// The difference between clocks that is allowed for: the time after a token's expiry for which the
    /// streams that it opened continue, and for which a verifier may still accept it.
    static let skewSeconds: Int64 = 30

    enum Admission {
        /// The caller of the last request of the connection.
        case known(KnownCaller)
        case caller(Caller)
        case unverified(UnverifiedCredential)
    }

    let authorization: ServerAuthorization
    let streams: StreamWatch
    let verifications: TokenVerifications
    /// That of the authorization, whose number is read for each request.
    private let verifier: any TokenVerifier
    private let observer: VerifierObserver
    private let refusals: AccessRefusals
    private let clock: any TimeSource

    init(_ authorization: ServerAuthorization, clock: any TimeSource) {
        self.authorization = authorization
        self.clock = clock
        verifier = authorization.verifier
        refusals = AccessRefusals(authorization)
        let verifications = TokenVerifications(authorization, refusals, clock: clock)
        self.verifications = verifications
        let streams = StreamWatch(clock: clock)
        self.streams = streams
        observer = VerifierObserver { [weak streams] in streams?.check() }
        streams.begin(generation: { [verifier] in verifier.generation }) { [weak verifications] in
            await verifications?.judge($0) ?? .unknown
        }
        verifier.observe(observer)
    }

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
            throw refusals.repeatedField()
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
                return .caller(Caller(try refusals.nobody(nil)))
            }
            return try admit(peer, generation, &memory)
        }
        guard let token = Self.token(in: field) else { throw refusals.refusal(for: .malformed) }
        let digest = SHA256.hash(token)
        switch verifications.known(digest, generation: generation) {
        case .good(let identity, let until):
            memory = KnownCaller(identity, field: field, generation: generation, until: until)
            return .caller(try caller(identity, generation))
        case .refused(let fault): throw refusals.refusal(for: fault)
        case nil:
            let presented = PresentedToken(String(token), resource: authorization.resource)
            let wasGood = verifications.wasGood(digest)
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
        switch verifications.known(digest, generation: generation) {
        case .good(let identity, let until):
            memory = KnownCaller(identity, field: nil, generation: generation, until: until)
            return .caller(try caller(identity, generation))
        case .refused: return .caller(Caller(try refusals.nobody(peer)))
        case nil:
            return .unverified(
                UnverifiedCredential(
                    digest: digest, credential: credential, wasGood: true, generation: generation))
        }
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
            throw refusals.withoutScopes(identity.principal)
        }
        if let meter = identity.meter, let excess = meter.take(at: clock.now) {
            throw refusals.refusal(of: identity.principal, excess)
        }
    }

    /// Returns the caller with a credential that was verified.
    func caller(
        _ identity: Caller.Identity, with credential: UnverifiedCredential
    ) throws(EarlyResponse) -> Caller { try caller(identity, credential.generation) }

    /// Returns the connections of the callers from an address who are not known; of those without one, all.
    func waiting(from address: [UInt8]?) -> WaitingResponses {
        // Not the key of a principal: it contains a space.
        verifications.waiting(of: "address \(Hex.encode(address ?? []))")
    }

    /// Returns the connections of a caller who must be verified: its own if its credential was valid before,
    /// otherwise those of its address.
    func waiting(of credential: UnverifiedCredential, from address: () -> [UInt8]?) -> WaitingResponses {
        guard credential.wasGood else { return waiting(from: address()) }
        return verifications.waiting(of: "credential \(Hex.encode(credential.digest.bytes))")
    }

    /// Counts a caller without a token by its address, and refuses its request if that sends more of them
    /// than it may.
    ///
    /// - Parameter address: the address or the network of the client; all clients without one count as one.
    func count(_ caller: Caller, from address: () -> [UInt8]?) throws(EarlyResponse) {
        guard caller.identity.isAnonymous else { return }
        let address = address()
        caller.waits(among: waiting(from: address))
        guard let limit = authorization.rate else { return }
        let principal = caller.identity.principal
        let now = clock.now
        // Not the key of a principal: it contains a space.
        let meter = verifications.meter(for: "anonymous \(Hex.encode(address ?? []))", limit, at: now)
        caller.isCounted(by: meter)
        if let excess = meter.take(at: now) { throw refusals.refusal(of: principal, excess) }
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

    /// The fields of a response to a request that lacks scopes.
    func challengeFields(for caller: Caller) -> HeaderFields { refusals.challengeFields(for: caller) }
}
