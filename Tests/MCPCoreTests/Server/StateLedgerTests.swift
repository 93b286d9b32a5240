import Testing

@testable import MCPCore

/// Which rounds are used up (MRTR-11).
@Suite struct StateLedgerTests {
    private func chain(_ number: Int) -> RequestState.Chain { .init(high: 0, low: UInt64(number)) }

    /// Answers the rounds with a state that expires at `expiry`.
    private func begin(
        _ ledger: StateLedger, _ number: Int, of principal: String = "", until expiry: Int64 = 1_000,
        now: Int64
    ) -> StateLedger.Refusal? {
        ledger.begin(chain(number), of: principal, until: expiry, now: now)
    }

    @Test func usedOnce() {
        let ledger = StateLedger()
        #expect(begin(ledger, 1, now: 0) == nil)
        #expect(begin(ledger, 1, now: 0) == .inUse)
        ledger.use(chain(1), of: "", until: 10)
        #expect(begin(ledger, 1, now: 9) == .used)
        #expect(begin(ledger, 2, now: 9) == nil)
        ledger.release(chain(2))
        #expect(begin(ledger, 2, now: 9) == nil)
        ledger.release(chain(2))
        #expect(ledger.count == 1)
        // Its states have expired: nothing need be remembered.
        #expect(begin(ledger, 3, now: 10) == nil)
        ledger.release(chain(3))
        #expect(ledger.count == 0)
    }

    @Test func releasedAfterUse() {
        let ledger = StateLedger()
        #expect(begin(ledger, 1, now: 0) == nil)
        ledger.use(chain(1), of: "", until: 10)
        ledger.release(chain(1))
        #expect(begin(ledger, 1, now: 1) == nil)
        ledger.use(chain(1), of: "", until: 11)
        // The older entry goes, the newer one stays.
        #expect(begin(ledger, 1, now: 10) == .used)
        #expect(begin(ledger, 1, now: 11) == nil)
    }

    // What was used and forgotten is not valid again, and neither is what may be as old.
    @Test func bounded() {
        let ledger = StateLedger(capacity: 100)
        for number in 0 ..< 1000 {
            // Each state is made when it is used, and lives for 600 s.
            let expiry = Int64(number) + 600
            #expect(begin(ledger, number, until: expiry, now: 0) == nil)
            ledger.use(chain(number), of: "", until: expiry)
        }
        #expect(ledger.count == 100)
        #expect(begin(ledger, 999, until: 1_599, now: 0) == .used)
        #expect(begin(ledger, 900, until: 1_500, now: 0) == .used)
        // The oldest are forgotten first.
        #expect(begin(ledger, 899, until: 1_499, now: 0) == .forgotten)
        #expect(begin(ledger, 0, until: 600, now: 0) == .forgotten)
        // One that nobody has used, but that is no newer than the last one that was forgotten.
        #expect(begin(ledger, 5_000, until: 1_499, now: 0) == .forgotten)
        #expect(begin(ledger, 5_001, until: 1_500, now: 0) == nil)
        // Another caller has lost nothing.
        #expect(begin(ledger, 5_002, of: "alice", until: 700, now: 0) == nil)
    }

    // Who uses many rounds loses its own, not those of others.
    @Test func shares() {
        let ledger = StateLedger(capacity: 8, share: 2)
        let use = { (number: Int, principal: String) in
            ledger.use(chain(number), of: principal, until: Int64(number))
        }
        for number in 100 ..< 102 { use(number, "alice") }
        for number in 200 ..< 300 { use(number, "eve") }
        for number in 100 ..< 102 {
            #expect(begin(ledger, number, of: "alice", until: Int64(number), now: 0) == .used)
        }
        #expect(ledger.count == 8)
        #expect(begin(ledger, 293, of: "eve", until: 293, now: 0) == .forgotten)
        #expect(begin(ledger, 294, of: "eve", until: 294, now: 0) == .used)
        // Whoever has less than a share gets the place of the oldest.
        use(300, "bob")
        #expect(begin(ledger, 100, of: "alice", until: 100, now: 0) == .forgotten)
        #expect(begin(ledger, 101, of: "alice", until: 101, now: 0) == .used)
        #expect(begin(ledger, 300, of: "bob", until: 300, now: 0) == .used)
        // Nothing is left of what has expired.
        #expect(begin(ledger, 400, of: "carol", until: 1_000, now: 300) == nil)
        ledger.release(chain(400))
        #expect(ledger.count == 0)
    }

    // Of more callers than are told apart, all lose what is as old.
    @Test func manyCallers() {
        let ledger = StateLedger(capacity: 1, share: 1, callers: 2)
        for number in 0 ..< 5 { ledger.use(chain(number), of: "\(number)", until: Int64(10 + number)) }
        for number in 0 ..< 4 {
            #expect(begin(ledger, number, of: "\(number)", until: Int64(10 + number), now: 0) == .forgotten)
        }
        #expect(begin(ledger, 9, of: "other", until: 13, now: 0) == .forgotten)
        #expect(begin(ledger, 9, of: "other", until: 14, now: 0) == nil)
        #expect(begin(ledger, 4, of: "4", until: 14, now: 0) == .used)
    }
}
