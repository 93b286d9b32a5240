/// The caller of the last request of a connection: most connections present the same token all their life,
/// and comparing its bytes costs less than its digest.
///
/// The bytes stay in memory as long as the connection, and no longer.
final class KnownCaller: ConnectionMemory {
    /// The longest value of `Authorization` that is kept; the digest of a longer one is computed each time.
    static let maxFieldBytes = 4 << 10

    private let field: [UInt8]?
    private let identity: Caller.Identity
    private let generation: UInt64
    private let until: MonotonicInstant

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

    /// Returns who presents this value, if that was decided and still applies.
    func identity(
        presenting value: ByteSlice?, at clock: any TimeSource, generation: UInt64
    ) -> Caller.Identity? {
        guard generation == self.generation, isField(value), until > clock.now else { return nil }
        if let end = identity.principal.expiresAt, end <= clock.wallTime.secondsSinceEpoch { return nil }
        return identity
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
