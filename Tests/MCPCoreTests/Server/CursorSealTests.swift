import Testing

@testable import MCPCore

@Suite struct CursorSealTests {
    private static let key = [UInt8](repeating: 3, count: 32)
    private let seal = CursorSeal(keys: StateKeys(key))

    // PAGE-01, PAGE-07
    @Test(arguments: ["", "100.abcdef", "1:äöü", String(repeating: "x", count: 2000)])
    func roundTrip(_ payload: String) {
        let cursor = seal.seal(payload, for: .toolsList)
        #expect(seal.open(cursor, for: .toolsList) == payload)
        #expect(CursorSeal(keys: StateKeys(Self.key)).open(cursor, for: .toolsList) == payload)
        #expect(cursor.utf8.allSatisfy { $0 >= 0x21 && $0 <= 0x7E })
    }

    /// A position may be a name that the caller may not see.
    @Test func thePositionIsHidden() throws {
        let cursors = ["secret-plans/merger.txt", "secret-plans/merger.tx2"].map {
            seal.seal($0, for: .resourcesList)
        }
        for cursor in cursors {
            let text = String(decoding: try #require(Base64URL.decode(cursor)), as: UTF8.self)
            for part in ["secret", "plans", "merger"] { #expect(!text.contains(part)) }
        }
        // A common beginning is not visible either.
        let bytes = try cursors.map { try #require(Base64URL.decode($0)) }
        let equal = zip(bytes[0], bytes[1]).count { $0 == $1 }
        #expect(equal < 12, "\(equal) of \(bytes[0].count) bytes are the same")
        // Nor is the length of a name.
        let lengths = ["", "1:a", String(repeating: "n", count: 63)].map {
            seal.seal($0, for: .resourcesList).utf8.count
        }
        #expect(Set(lengths).count == 1)
    }

    // PAGE-06
    @Test func everyChangedBitIsRefused() throws {
        let cursor = seal.seal("100.abcdef", for: .toolsList)
        let bytes = try #require(Base64URL.decode(cursor))
        for place in bytes.indices {
            for bit in 0 ..< 8 {
                var damaged = bytes
                damaged[place] ^= 1 << bit
                #expect(seal.open(Base64URL.encode(damaged), for: .toolsList) == nil)
            }
        }
        for count in 0 ..< cursor.utf8.count {
            #expect(seal.open(String(cursor.prefix(count)), for: .toolsList) == nil)
        }
    }

    @Test func otherListAndOtherKey() {
        let cursor = seal.seal("1", for: .toolsList)
        #expect(seal.open(cursor, for: .promptsList) == nil)
        #expect(CursorSeal(keys: StateKeys([1])).open(cursor, for: .toolsList) == nil)
    }

    @Test(arguments: ["", "0", "100", "zz", "%%%", String(repeating: "A", count: 5000)])
    func madeUp(_ cursor: String) { #expect(seal.open(cursor, for: .toolsList) == nil) }
}
