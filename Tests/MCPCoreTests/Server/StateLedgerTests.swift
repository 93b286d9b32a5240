import Testing

@testable import MCPCore

/// Which rounds are used up (MRTR-11).
@Suite struct StateLedgerTests {
    private static func time(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    /// A ledger of states that live for 600 s, created at 0.
    private static func ledger(
        capacity: Int = StateLedger.defaultCapacity, share: Int = StateLedger.defaultShare,
        callers: Int = StateLedger.defaultCallers
    ) -> StateLedger {
        StateLedger(
            lifetime: .seconds(600), start: time(0), capacity: capacity, share: share, callers: callers)
    }

    private func chain(_ number: Int) -> RequestState.Chain { .init(high: 0, low: UInt64(number)) }

    /// Answers the rounds with a state that was made at `made`.
    private func begin(
        _ ledger: StateLedger, _ number: Int, of principal: String = "", made: Int = 0, now: Int
    ) -> StateLedger.Refusal? {
        ledger.begin(chain(number), of: principal, made: Self.time(made), now: Self.time(now))
    }

    private func use(_ ledger: StateLedger, _ number: Int, of principal: String = "", now: Int) {
        ledger.use(chain(number), of: principal, now: Self.time(now))
    }

    @Test func usedOnce() {
        let ledger = Self.ledger()
        #expect(begin(ledger, 1, now: 0) == nil)
        #expect(begin(ledger, 1, now: 0) == .inUse)
        use(ledger, 1, now: 10)
        #expect(begin(ledger, 1, now: 86_409) == .used)
        #expect(begin(ledger, 2, now: 86_409) == nil)
        ledger.release(chain(2))
        #expect(begin(ledger, 2, now: 86_409) == nil)
        ledger.release(chain(2))
        #expect(ledger.count == 1)
        // A day later, no clock that was set back by less makes a state of another instance valid again.
        #expect(begin(ledger, 3, now: 86_410) == nil)
        ledger.release(chain(3))
        #expect(ledger.count == 0)
    }

    @Test func releasedAfterUse() {
        let ledger = Self.ledger()
        #expect(begin(ledger, 1, now: 0) == nil)
        use(ledger, 1, now: 10)
        ledger.release(chain(1))
        #expect(begin(ledger, 1, now: 11) == nil)
        use(ledger, 1, now: 20)
        // The older entry goes, the newer one stays.
        #expect(begin(ledger, 1, now: 86_410) == .used)
        #expect(begin(ledger, 1, now: 86_420) == nil)
    }

    // What was used and forgotten is not valid again, and neither is what may be as old.
    @Test func bounded() {
        let ledger = Self.ledger(capacity: 100)
        // Each state is made when it is used.
        for number in 0 ..< 500 {
            #expect(begin(ledger, number, made: number, now: number) == nil)
            use(ledger, number, now: number)
        }
        #expect(ledger.count == 100)
        #expect(begin(ledger, 499, made: 499, now: 500) == .used)
        #expect(begin(ledger, 400, made: 400, now: 500) == .used)
        // The oldest are forgotten first.
        #expect(begin(ledger, 399, made: 399, now: 500) == .forgotten)
        #expect(begin(ledger, 0, made: 0, now: 500) == .forgotten)
        // One that nobody has used, but that is no newer than the last one that was forgotten.
        #expect(begin(ledger, 5_000, made: 399, now: 500) == .forgotten)
        #expect(begin(ledger, 5_001, made: 400, now: 500) == nil)
        // Another caller has lost nothing.
        #expect(begin(ledger, 5_002, of: "alice", made: 100, now: 500) == nil)
    }

    // Who uses many rounds loses its own, not those of others.
    @Test func shares() {
        let ledger = Self.ledger(capacity: 8, share: 2)
        for number in 100 ..< 102 { use(ledger, number, of: "alice", now: number) }
        for number in 200 ..< 300 { use(ledger, number, of: "eve", now: number) }
        for number in 100 ..< 102 {
            #expect(begin(ledger, number, of: "alice", made: number, now: 300) == .used)
        }
        #expect(ledger.count == 8)
        #expect(begin(ledger, 293, of: "eve", made: 293, now: 300) == .forgotten)
        #expect(begin(ledger, 294, of: "eve", made: 294, now: 300) == .used)
        // Whoever has less than a share gets the place of the oldest.
        use(ledger, 300, of: "bob", now: 300)
        #expect(begin(ledger, 100, of: "alice", made: 100, now: 300) == .forgotten)
        #expect(begin(ledger, 101, of: "alice", made: 101, now: 300) == .used)
        #expect(begin(ledger, 300, of: "bob", made: 300, now: 300) == .used)
        // Nothing is left of what has expired.
        #expect(begin(ledger, 400, of: "carol", made: 86_700, now: 86_700) == nil)
        ledger.release(chain(400))
        #expect(ledger.count == 0)
    }

    // Of more callers than are told apart, all lose what is as old.
    @Test func manyCallers() {
        let ledger = Self.ledger(capacity: 1, share: 1, callers: 2)
        for number in 0 ..< 5 { use(ledger, number, of: "\(number)", now: 10 + number) }
        for number in 0 ..< 4 {
            #expect(begin(ledger, number, of: "\(number)", made: 10 + number, now: 20) == .forgotten)
        }
        #expect(begin(ledger, 9, of: "other", made: 13, now: 20) == .forgotten)
        #expect(begin(ledger, 9, of: "other", made: 14, now: 20) == nil)
        #expect(begin(ledger, 4, of: "4", made: 14, now: 20) == .used)
    }

    /// What a state says that this ledger, or another one, made at `made`.
    private func opened(by ledger: StateLedger, made: Int, remaining: Int64) -> RequestState.Opened {
        RequestState.Opened(
            content: .init(chain: chain(1), answers: [:]), birth: ledger.birth(now: Self.time(made)),
            remaining: remaining)
    }

    // The age of a state of this ledger does not depend on what the wall clock makes of it.
    @Test func ownStates() {
        let ledger = StateLedger(lifetime: .seconds(600), start: Self.time(5))
        for remaining in [1, 300, 660] as [Int64] {
            let state = opened(by: ledger, made: 100, remaining: remaining)
            #expect(ledger.time(of: state, now: Self.time(100)) == Self.time(100))
            #expect(ledger.time(of: state, now: Self.time(699)) == Self.time(100))
            #expect(ledger.time(of: state, now: Self.time(700)) == nil)
            #expect(ledger.time(of: state, now: Self.time(90_000)) == nil)
        }
    }

    // One of another ledger is as old as the wall clock says, and a minute older.
    @Test func statesOfOthers() {
        let ledger = Self.ledger()
        let state = opened(by: Self.ledger(), made: 7, remaining: 500)
        #expect(ledger.time(of: state, now: Self.time(1_000)) == Self.time(1_000 - 100 - 60))
        // However long states live.
        let long = StateLedger(lifetime: .seconds(Int64.max), start: Self.time(0))
        let old = opened(by: ledger, made: 7, remaining: .max)
        #expect(long.time(of: old, now: Self.time(1_000)) != nil)
        #expect(long.begin(chain(1), of: "", made: Self.time(0), now: Self.time(1)) == nil)
        long.use(chain(1), of: "", now: Self.time(1))
        #expect(long.begin(chain(1), of: "", made: Self.time(0), now: Self.time(90_000)) == .used)
    }
}
