import Testing

@testable import MCPCore

/// Keys that are replaced while instances use them.
@Suite struct StateKeysTests {
    private static let old = [UInt8](repeating: 1, count: 32)
    private static let new = [UInt8](repeating: 2, count: 32)

    /// The three steps of a replacement: known, signing, gone.
    private static let steps = [
        StateKeys(old), StateKeys(old, others: [new]), StateKeys(new, others: [old]), StateKeys(new),
    ]

    @Test(arguments: [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)])
    func neighboursAcceptEachOther(_ pair: (Int, Int)) throws {
        let (one, other) = (Self.steps[pair.0], Self.steps[pair.1])
        let id = LegacySessions(keys: one).make(
            NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "p", now: 1000, uptime: 0,
            random: [UInt8](0 ..< 16))
        _ = try LegacySessions(keys: other).open(ByteSlice(id), principal: "p", now: 1001, uptime: 1)
        #expect(throws: LegacySessions.Refusal.unknown) {
            try LegacySessions(keys: other).open(ByteSlice(id), principal: "q", now: 1001, uptime: 1)
        }
        let cursor = CursorSeal(keys: one).seal("place", for: .toolsList, of: "p")
        #expect(CursorSeal(keys: other).open(cursor, for: .toolsList, of: "p") == "place")
        #expect(CursorSeal(keys: other).open(cursor, for: .toolsList, of: "q") == nil)
        let purpose = RequestState.Purpose(method: "tools/call", name: "t", arguments: [:])
        let content = RequestState.Content(chain: .init(high: 1, low: 2), answers: [:])
        let states = RequestState(keys: one, lifetime: 600)
        let others = RequestState(keys: other, lifetime: 600)
        let state = try #require(
            states.seal(
                content, for: purpose, principal: "p", birth: .init(ledger: 1, age: 2), now: 1000,
                salt: [UInt8](0 ..< 8)))
        #expect(try others.open(state, for: purpose, principal: "p", now: 1001).content == content)
        #expect(others.isMark(states.mark(of: [[1], [2]]), of: [[1], [2]]))
    }

    @Test func aKeyThatIsGoneIsGone() throws {
        let id = LegacySessions(keys: Self.steps[0]).make(
            NegotiatedSession(revision: .newestLegacy, abilities: []), principal: "", now: 1000, uptime: 0,
            random: [UInt8](0 ..< 16))
        #expect(throws: LegacySessions.Refusal.unknown) {
            try LegacySessions(keys: Self.steps[3]).open(ByteSlice(id), principal: "", now: 1001, uptime: 1)
        }
    }

    @Test func aCodeHasItsWholeLength() {
        let keys = StateKeys(Self.old, others: [Self.new])
        let mac = keys.sign(16) { $0.update("text".utf8) }
        #expect(mac.count == 16)
        #expect(keys.verify(mac, 16) { $0.update("text".utf8) })
        #expect(!keys.verify(mac, 16) { $0.update("texts".utf8) })
        #expect(!keys.verify([], 0) { $0.update("text".utf8) })
        for count in 0 ..< 16 { #expect(!keys.verify(mac.prefix(count), 16) { $0.update("text".utf8) }) }
    }
}
