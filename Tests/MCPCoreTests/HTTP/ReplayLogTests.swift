import MCPCore
import Testing

@Suite struct ReplayLogTests {
    private static func log(_ events: Int, bytes: Int = 1, maxEvents: Int = 4, maxBytes: Int = 100)
        -> ReplayLog
    {
        var log = ReplayLog(name: "a", maxEvents: maxEvents, maxBytes: maxBytes)
        for number in 0 ..< events { #expect(log.append(event(bytes)) == number + 1) }
        return log
    }

    private static func event(_ bytes: Int) -> ByteSlice { ByteSlice(Array(repeating: 0x78, count: bytes)) }

    private static func numbers(_ log: ReplayLog, after number: Int) -> [Int] {
        log.events(after: number).map(\.number)
    }

    @Test func anEmptyLogHasMissedNothing() {
        let log = Self.log(0)
        #expect(log.isComplete(after: 0))
        #expect(!log.isComplete(after: 1))
        #expect(Self.numbers(log, after: 0) == [])
        #expect(log.id(of: 0) == "a-0")
    }

    @Test func theOldestMakeRoomByCount() {
        let log = Self.log(10)
        #expect(Self.numbers(log, after: 0) == [7, 8, 9, 10])
        #expect((0 ... 11).filter(log.isComplete) == [6, 7, 8, 9, 10])
        #expect(log.bytes == 4)
    }

    @Test func theOldestMakeRoomBySize() {
        var log = Self.log(4, bytes: 40)
        #expect(Self.numbers(log, after: 0) == [3, 4])
        // The newest is kept, however long it is.
        log.append(Self.event(1_000))
        #expect(Self.numbers(log, after: 0) == [5])
        #expect(log.bytes == 1_000)
    }

    @Test func nothingIsKeptWithoutMemory() {
        var log = Self.log(3)
        var used = 3
        var dropped: [Int] = []
        log.append(Self.event(10), isFull: { used > 1 }) { bytes in
            used -= bytes
            dropped.append(bytes)
        }
        #expect(dropped == [1, 1])
        #expect(Self.numbers(log, after: 0) == [3, 4])
        log.append(Self.event(5), isFull: { true })
        #expect(Self.numbers(log, after: 0) == [])
        #expect(log.bytes == 0)
        #expect(log.isComplete(after: 5))
        #expect(!log.isComplete(after: 4))
    }

    @Test(arguments: [
        ("a-0", 0), ("a-17", 17), ("b-1", nil), ("a", nil), ("a-", nil), ("a--1", nil), ("a-1-2", nil),
        ("", nil),
        ("a-+1", nil), ("a-99999999999999999999", nil), ("-1", nil), ("a-１", nil),
    ])
    func ids(_ id: String, _ number: Int?) {
        #expect(ReplayLog(name: "a", maxEvents: 1, maxBytes: 1).number(of: id) == number)
    }
}
