import Testing

@testable import MCPCore

/// Which rounds are used up (MRTR-11).
@Suite struct StateLedgerTests {
    private func chain(_ number: Int) -> RequestState.Chain { .init(high: 0, low: UInt64(number)) }

    @Test func usedOnce() {
        let ledger = StateLedger()
        #expect(ledger.begin(chain(1), now: 0) == nil)
        #expect(ledger.begin(chain(1), now: 0) == .inUse)
        ledger.use(chain(1), until: 10)
        #expect(ledger.begin(chain(1), now: 9) == .used)
        #expect(ledger.begin(chain(2), now: 9) == nil)
        ledger.release(chain(2))
        #expect(ledger.begin(chain(2), now: 9) == nil)
        ledger.release(chain(2))
        #expect(ledger.count == 1)
        // Its states have expired: nothing need be remembered.
        #expect(ledger.begin(chain(3), now: 10) == nil)
        ledger.release(chain(3))
        #expect(ledger.count == 0)
    }

    @Test func releasedAfterUse() {
        let ledger = StateLedger()
        #expect(ledger.begin(chain(1), now: 0) == nil)
        ledger.use(chain(1), until: 10)
        ledger.release(chain(1))
        #expect(ledger.begin(chain(1), now: 1) == nil)
        ledger.use(chain(1), until: 11)
        // The older entry goes, the newer one stays.
        #expect(ledger.begin(chain(1), now: 10) == .used)
        #expect(ledger.begin(chain(1), now: 11) == nil)
    }

    @Test func bounded() {
        let ledger = StateLedger(capacity: 100)
        for number in 0 ..< 1000 {
            #expect(ledger.begin(chain(number), now: 0) == nil)
            ledger.use(chain(number), until: 10)
        }
        #expect(ledger.count == 100)
        #expect(ledger.begin(chain(999), now: 0) == .used)
        #expect(ledger.begin(chain(900), now: 0) == .used)
        // The oldest are forgotten first.
        #expect(ledger.begin(chain(899), now: 0) == nil)
    }
}
