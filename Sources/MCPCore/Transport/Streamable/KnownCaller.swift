/// The caller of the last request of a connection: most connections present the same token all their life,
/// and comparing its bytes costs less than its digest.
///
/// The bytes stay in memory as long as the connection, and no longer.
final class KnownCaller: ConnectionMemory {
    /// The longest value of `Authorization` that is kept; the digest of a longer one is computed each time.
    static let maxFieldBytes = 4 << 10

    /// The longest time for which the date is not looked at, which may be set meanwhile.
    private static let dateTime = Duration.seconds(1)

    let identity: Caller.Identity
    private let field: [UInt8]?
    private let generation: UInt64
    private let until: MonotonicInstant
    /// The time at which the date has to be looked at again.
    private var nextLook = MonotonicInstant(nanoseconds: 0)
    /// The handler of the last request.
    private var request: GuardedRequest?

    /// - Parameters:
    ///   - field: the value of `Authorization`; nil for a process that presents none.
    ///   - generation: the generation of the verifier that decided.
    ///   - until: the time at which the decision ends, unless the token expires before.
    init?(_ identity: Caller.Identity, field: ByteSlice?, generation: UInt64, until: MonotonicInstant) {
        if let field, field.count > Self.maxFieldBytes { return nil }
        self.field = field.map { Array($0) }
        self.identity = identity
        self.generation = generation
        self.until = until
    }

    /// Returns whether the caller presents this value, if that was decided and still applies.
    func isGood(presenting value: ByteSlice?, at clock: any TimeSource, generation: UInt64) -> Bool {
        guard generation == self.generation, isField(value) else { return false }
        let now = clock.now
        return now < nextLook || look(at: clock, now)
    }

    /// Compares the date with the expiry of the token, and finds out when to do so again.
    private func look(at clock: any TimeSource, _ now: MonotonicInstant) -> Bool {
        guard now < until else { return false }
        nextLook = min(until, now + Self.dateTime)
        guard let end = identity.principal.expiresAt else { return true }
        let date = clock.wallTime.nanosecondsSinceEpoch
        let (expiry, overflow) = end.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return end > 0 }
        guard date < expiry else { return false }
        nextLook = min(nextLook, now + .nanoseconds(expiry - date))
        return true
    }

    /// Returns the handler for a request at an endpoint.
    func request(at endpoint: StreamableEndpoint) -> GuardedRequest {
        if let request, request.endpoint === endpoint, request.isUnused { return request }
        let made = GuardedRequest(endpoint, Caller(identity, generation: generation))
        request = made
        return made
    }

    private func isField(_ value: ByteSlice?) -> Bool {
        guard let field, let value else { return field == nil && value == nil }
        return unsafe value.withBytes { value in
            unsafe field.withUnsafeBufferPointer { field in
                guard value.count == field.count else { return false }
                // Without an early end: the time does not tell where they differ.
                var difference: UInt8 = 0
                for index in 0 ..< field.count {
                    difference |= unsafe value[index] ^ field[index]
                }
                return difference == 0
            }
        }
    }
}
