import Synchronization

/// The open streams of authenticated callers. A stream ends when its token has expired, and when its token is
/// checked again and is no longer valid: every `interval`, and at once after a change of the verifier.
final class StreamWatch: Sendable {
    /// The time between two checks of all open streams.
    static let interval = Duration.seconds(60)
    /// The time for which a stream continues while its token cannot be checked.
    static let patience = Duration.seconds(300)
    /// The number of checks at a time.
    static let maxChecks = 8

    /// The reason why a stream ends.
    enum End: Sendable {
        /// The token has expired, or could not be checked for too long. A call that is being served
        /// continues.
        case expired
        /// The token is not good any more: a call that is being served ends, too.
        case refused
    }

    /// The outcome of a check.
    enum Judgement: Sendable { case good, refused, unknown }

    typealias Judge = @Sendable (AccessGuard.Credential) async -> Judgement

    /// An entry for one stream; the stream is forgotten with it.
    final class Entry: Sendable {
        fileprivate let number: UInt64
        fileprivate let credential: AccessGuard.Credential
        /// The time of expiry; `never` without one.
        fileprivate let expiry: MonotonicInstant
        fileprivate let lastGood: Mutex<MonotonicInstant>
        fileprivate let end: @Sendable (End) -> Void
        private weak let watch: StreamWatch?

        fileprivate init(
            _ number: UInt64, _ watch: StreamWatch, _ credential: AccessGuard.Credential,
            expiry: MonotonicInstant, now: MonotonicInstant, _ end: @escaping @Sendable (End) -> Void
        ) {
            self.number = number
            self.watch = watch
            self.credential = credential
            self.expiry = expiry
            lastGood = Mutex(now)
            self.end = end
        }

        deinit { watch?.forget(number) }
    }

    private struct WeakEntry: Sendable {
        weak let entry: Entry?
        /// The time at which the stream ends because of its token's expiry.
        let moment: MonotonicInstant
    }

    private struct State: Sendable {
        var entries: [UInt64: WeakEntry] = [:]
        var nextCheck = MonotonicInstant.never
        var judge: Judge?
        var generation: (@Sendable () -> UInt64)?
    }

    /// The streams of one check, shared by the tasks that work through them.
    private final class Round: Sendable {
        private let entries: [Entry]
        private let next = Atomic<Int>(0)

        init(_ entries: [Entry]) { self.entries = entries }

        func takeNext() -> Entry? {
            let place = next.add(1, ordering: .relaxed).oldValue
            return place < entries.count ? entries[place] : nil
        }
    }

    private let state = Mutex(State())
    private let lastNumber = Atomic<UInt64>(0)
    private let clock: any TimeSource
    private let alarm: Alarm

    init(clock: any TimeSource) {
        self.clock = clock
        alarm = Alarm(label: "mcp.streams", clock: clock)
    }

    /// Sets how tokens are checked, before the first stream.
    ///
    /// - Parameter generation: returns a number that changes when the verifier changes.
    func begin(generation: @escaping @Sendable () -> UInt64, _ judge: @escaping Judge) {
        state.withLock { state in
            state.judge = judge
            state.generation = generation
        }
    }

    /// The number of streams that are watched.
    var count: Int { state.withLock { $0.entries.count } }

    /// Calls `end` when the stream has to end, as long as the entry is kept. Returns nil for a caller without
    /// a credential.
    func watch(
        _ caller: Caller?, _ credential: AccessGuard.Credential?, _ end: @escaping @Sendable (End) -> Void
    ) -> Entry? {
        guard let caller, let credential else { return nil }
        let now = clock.now
        let expiry = moment(of: caller.identity.principal.expiresAt, now)
        let entry = Entry(
            lastNumber.add(1, ordering: .relaxed).newValue, self, credential, expiry: expiry, now: now, end)
        let moment = expiry + .seconds(AccessGuard.skewSeconds)
        let (check, judge, generation) = state.withLock {
            state -> (MonotonicInstant, Judge?, (@Sendable () -> UInt64)?) in
            state.entries[entry.number] = WeakEntry(entry: entry, moment: moment)
            if state.nextCheck == .never { state.nextCheck = now + Self.interval }
            return (state.nextCheck, state.judge, state.generation)
        }
        alarm.set(for: min(moment, check), waking: self) { $0.wake() }
        // After the entry is in the table: a change from here on finds it there.
        if let judge, let generation, generation() != caller.generation {
            Task { [weak self] in self?.settle(entry, await judge(credential)) }
        }
        return entry
    }

    private func moment(of expiry: Int64?, _ now: MonotonicInstant) -> MonotonicInstant {
        guard let expiry else { return .never }
        let (left, overflow) = expiry.subtractingReportingOverflow(clock.wallTime.secondsSinceEpoch)
        // Beyond a hundred years it does not matter.
        guard !overflow, left < 3_200_000_000 else { return .never }
        return now + .seconds(max(0, left))
    }

    private func forget(_ number: UInt64) { _ = state.withLock { $0.entries.removeValue(forKey: number) } }

    // MARK: Ending

    private func wake() {
        let now = clock.now
        let (due, isCheck, next) = state.withLock { state -> ([Entry], Bool, MonotonicInstant) in
            var next = MonotonicInstant.never
            var due: [Entry] = []
            for (number, known) in state.entries {
                if known.moment > now {
                    next = min(next, known.moment)
                    continue
                }
                if let entry = known.entry { due.append(entry) }
                state.entries[number] = nil
            }
            let isCheck = state.nextCheck <= now
            if isCheck { state.nextCheck = state.entries.isEmpty ? .never : now + Self.interval }
            return (due, isCheck, min(next, state.nextCheck))
        }
        for entry in due { entry.end(.expired) }
        if isCheck { check() }
        if next < .never { alarm.set(for: next, waking: self) { $0.wake() } }
    }

    /// Checks the tokens of all open streams again.
    func check() {
        let (judge, open) = state.withLock { ($0.judge, $0.entries.values.compactMap(\.entry)) }
        guard let judge, !open.isEmpty else { return }
        let round = Round(open)
        for _ in 0 ..< min(Self.maxChecks, open.count) {
            Task { [weak self] in
                while let entry = round.takeNext() { self?.settle(entry, await judge(entry.credential)) }
            }
        }
    }

    private func settle(_ entry: Entry, _ judgement: Judgement) {
        let now = clock.now
        // From its expiry on, only the time for differences between clocks is left.
        if entry.expiry <= now { return }
        switch judgement {
        case .good: entry.lastGood.withLock { $0 = now }
        case .refused: entry.end(.refused)
        case .unknown:
            if entry.lastGood.withLock({ $0 }) + Self.patience <= now { entry.end(.expired) }
        }
    }
}
