import Synchronization

/// What the instances of a server know in common, through a store.
///
/// While the store cannot be reached, sessions go on: an id is no proof of identity, and an instance knows
/// the sessions that were ended on itself. What must not happen twice does not happen: a session is not
/// ended, and the answers to a round of questions are refused.
///
/// What another client of the store writes does nothing: an instance ignores entries that no holder of the
/// key has made. Such a client can still remove entries, and claim rounds of questions.
final class SharedState: Sendable {
    private let store: any StateStore
    private let keys: StateKeys
    private let log: @Sendable (String) -> Void
    private let quiet: Quiet
    /// The interval between two lines about failures.
    static let logInterval = Duration.seconds(10)

    /// The sign of life of this instance.
    let lease: InstanceLease
    /// The event streams of sessions.
    let streams: SharedStreams
    /// The values of claims of this instance whose outcome is unknown: the store may carry them out later.
    private let doubtful = Mutex(BoundedTable<String, [UInt8]>(capacity: maxDoubtful, policy: .evictOldest))
    /// The claims of unknown outcome that are remembered.
    static let maxDoubtful = 10_000

    enum Claim { case granted, refused, unknown }

    init(
        _ store: any StateStore, keys: StateKeys, clock: any TimeSource, log: (@Sendable (String) -> Void)?
    ) {
        self.store = store
        self.keys = keys
        let log = log ?? { _ in }
        self.log = log
        let lease = InstanceLease(keys: keys, clock: clock)
        self.lease = lease
        let quiet = Quiet(clock: clock)
        self.quiet = quiet
        streams = SharedStreams(store, keys: keys, lease: lease, clock: clock) { consequence, error in
            quiet.log("the state store failed: \(consequence): \(error)", log)
        }
    }

    /// Uses the store. Returns nil, and logs what that means, when it fails.
    func attempt<Value: Sendable>(
        _ consequence: String, _ body: (any StateStore) async throws -> Value
    ) async -> Value? {
        do { return try await body(store) } catch {
            report(consequence, error)
            return nil
        }
    }

    // MARK: Marks

    private static let markBytes = 32

    /// Returns the value of an entry that says nothing but that it is there.
    func mark(of key: String) -> [UInt8] { keys.sign(Self.markBytes, Self.context(ofMark: key)) }

    /// Whether a value is the mark of an entry, made by a holder of the key.
    func isMark(_ value: [UInt8]?, of key: String) -> Bool {
        value.map { keys.verify($0, Self.markBytes, Self.context(ofMark: key)) } ?? false
    }

    private static func context(ofMark key: String) -> (inout HMACSHA256) -> Void {
        { $0.update("shared mark \(key)\0".utf8) }
    }

    // MARK: Sessions

    /// Returns whether a session was ended on any instance.
    func isEnded(_ channelID: UInt64) async -> Bool {
        do {
            let key = Self.key(ofSession: channelID)
            return isMark(try await store.value(for: key), of: key)
        } catch {
            report("whether a session has ended is unknown, so it goes on", error)
            return false
        }
    }

    /// Ends a session for all instances. Returns false when it was not ended.
    func end(_ channelID: UInt64, lifetime: Duration) async -> Bool {
        do {
            let key = Self.key(ofSession: channelID)
            try await store.set(mark(of: key), for: key, lifetime: lifetime)
            return true
        } catch {
            report("a session was not ended", error)
            return false
        }
    }

    // MARK: Rounds of questions

    /// Claims the rounds of a call for this instance, until `release`, or for as long as a use is remembered.
    ///
    /// A claim whose reply was lost has the value of the next one for the same rounds: if the store carries
    /// it out late, the client that tries again here is not refused because of it.
    ///
    /// - Parameter lifetime: the time for which a state is valid.
    func claim(_ chain: RequestState.Chain, lifetime: Duration) async -> Claim {
        let key = Self.key(of: chain)
        let earlier = doubtful.withLock { $0[key] }
        let value = earlier ?? SystemRandom().bytes(16)
        let memory = RequestState.memory(lifetime: lifetime)
        do {
            if try await store.insert(value, for: key, lifetime: memory) { return .granted }
            guard earlier != nil, try await store.value(for: key) == value else { return .refused }
            return .granted
        } catch {
            if earlier == nil { _ = doubtful.withLock { $0.insert(value, for: key) } }
            report("the answers to questions were refused", error)
            return .unknown
        }
    }

    /// Releases rounds whose call continues or has failed. If that fails, the client has to start again.
    func release(_ chain: RequestState.Chain) async {
        do {
            try await store.removeValue(for: Self.key(of: chain))
        } catch {
            report("a round of questions was not released; its client has to start again", error)
        }
    }

    private static func key(ofSession channelID: UInt64) -> String { "ended:\(hex(channelID))" }

    private static func key(of chain: RequestState.Chain) -> String {
        "round:\(hex(chain.high))\(hex(chain.low))"
    }

    static func hex(_ number: UInt64) -> String {
        Hex.encode(stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    /// Logs a failure, at most one in `logInterval`: the store fails for every call at once.
    private func report(_ consequence: String, _ error: any Error) {
        quiet.log("the state store failed: \(consequence): \(error)", log)
    }

    /// Limits the lines about failures.
    private final class Quiet: Sendable {
        private let clock: any TimeSource
        /// The time at which a failure may be logged again.
        private let until = Mutex(MonotonicInstant(nanoseconds: 0))

        init(clock: any TimeSource) { self.clock = clock }

        func log(_ line: @autoclosure () -> String, _ log: (String) -> Void) {
            let now = clock.now
            let isQuiet = until.withLock { until in
                if now < until { return true }
                until = now + SharedState.logInterval
                return false
            }
            if !isQuiet { log(line()) }
        }
    }
}
