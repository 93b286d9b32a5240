import Testing

@testable import MCPCore

@Suite struct ByteBufferTests {
    @Test func contentSurvivesEveryWayToGrow() {
        var buffer = ByteBuffer()
        var wanted: [UInt8] = []
        for number in 0 ..< 5_000 {
            let byte = UInt8(truncatingIfNeeded: number &* 31)
            // One by one, in runs, and behind a start that has moved.
            buffer.append(byte)
            wanted.append(byte)
            if number % 7 == 0 {
                buffer.append([byte, 1, 2, 3])
                wanted += [byte, 1, 2, 3]
            }
            if number % 100 == 99 {
                buffer.consume(50)
                wanted.removeFirst(50)
            }
        }
        #expect(buffer.slice(0 ..< buffer.count).array == wanted)
    }

    @Test func aPartStaysWhatItWasWhenTheBufferGrows() {
        var buffer = ByteBuffer()
        buffer.append("handed out")
        let part = buffer.slice(0 ..< 10)
        buffer.reserve(1 << 20)
        buffer.append("!")
        buffer.removeAll()
        buffer.append("overwritten")
        #expect(String(part) == "handed out")
    }

    @Test func aLongBlockGrowsWithItsContent() {
        var buffer = ByteBuffer()
        let piece = [UInt8](repeating: 7, count: 300_000)
        for _ in 0 ..< 10 { buffer.append(piece) }
        let all = buffer.freeze()
        #expect(all.count == 3_000_000)
        #expect(all.array.allSatisfy { $0 == 7 })
    }

    /// Loops recognise their block by its length.
    @Test func anExactReservationIsExact() {
        var buffer = ByteBuffer()
        buffer.reserve(exactly: 16_384)
        #expect(buffer.capacity == 16_384)
    }
}
