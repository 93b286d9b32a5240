/// The tokens that were verified a short while ago, by their digests; the times come from outside.
struct TokenCache<Identity: Sendable>: Sendable {
    /// The maximum number of good tokens; the least recently used one is evicted.
    static var maxGood: Int { 10_000 }
    /// The maximum number of refused tokens; the oldest one is evicted.
    static var maxRefused: Int { 1_000 }
    /// The maximum time for which a good token is not verified again.
    static var goodTime: Duration { .seconds(300) }
    /// The time for which a refused token is not verified again.
    static var refusedTime: Duration { .seconds(10) }

    /// A moment on both clocks: tokens expire by the date, entries by the time that has passed.
    struct Moment: Sendable {
        let now: MonotonicInstant
        /// Seconds since 1970.
        let date: Int64

        init(_ clock: any TimeSource) {
            now = clock.now
            date = clock.wallTime.secondsSinceEpoch
        }
    }

    private struct Good: Sendable {
        let identity: Identity
        let expiresAt: Int64?
        let until: MonotonicInstant
    }

    private struct Refused: Sendable {
        let fault: TokenRefusal.Fault
        let until: MonotonicInstant
    }

    private var good = BoundedTable<SHA256.Digest, Good>(
        capacity: maxGood, policy: .evictLeastRecentlyUsed)
    private var refused = BoundedTable<SHA256.Digest, Refused>(capacity: maxRefused, policy: .evictOldest)
    /// The tokens that were good until they had to be verified again.
    private var former = BoundedTable<SHA256.Digest, Void>(capacity: maxGood, policy: .evictOldest)
    /// The generation of the verifier that the entries are from.
    private var generation: UInt64 = 0

    enum Entry {
        /// Until the given time, unless the token expires before.
        case good(Identity, until: MonotonicInstant)
        case refused(TokenRefusal.Fault)
    }

    /// The numbers of good and of refused tokens.
    var counts: (good: Int, refused: Int) { (good.count, refused.count) }

    /// Returns the decision about a token if it still applies.
    mutating func entry(_ digest: SHA256.Digest, at moment: Moment, generation: UInt64) -> Entry? {
        keepUp(with: generation)
        if let entry = good.use(digest) {
            if entry.until > moment.now, entry.expiresAt.map({ $0 > moment.date }) ?? true {
                return .good(entry.identity, until: entry.until)
            }
            good.remove(digest)
            former.insert((), for: digest)
        }
        if let entry = refused[digest] {
            if entry.until > moment.now { return .refused(entry.fault) }
            refused.remove(digest)
        }
        return nil
    }

    /// Whether a token without an entry was good when it was verified last.
    func wasGood(_ digest: SHA256.Digest) -> Bool { former.contains(digest) }

    mutating func insert(
        _ identity: Identity, expiresAt: Int64?, lifetime: Duration? = nil, for digest: SHA256.Digest,
        at moment: Moment, generation: UInt64
    ) {
        keepUp(with: generation)
        refused.remove(digest)
        former.remove(digest)
        let time = min(lifetime ?? Self.goodTime, Self.goodTime)
        good.insert(Good(identity: identity, expiresAt: expiresAt, until: moment.now + time), for: digest)
    }

    mutating func insert(
        _ fault: TokenRefusal.Fault, for digest: SHA256.Digest, at moment: Moment, generation: UInt64
    ) {
        keepUp(with: generation)
        good.remove(digest)
        former.remove(digest)
        // All entries live equally long, so the oldest go first.
        refused.removeOldest { $1.until <= moment.now }
        refused.remove(digest)
        refused.insert(Refused(fault: fault, until: moment.now + Self.refusedTime), for: digest)
    }

    /// Forgets everything that an earlier generation of the verifier decided.
    private mutating func keepUp(with generation: UInt64) {
        guard generation != self.generation else { return }
        self.generation = generation
        for (digest, _) in good where !former.contains(digest) { former.insert((), for: digest) }
        good.removeAll()
        refused.removeAll()
    }
}
