import TestSupport
import Testing

@testable import MCPCore

@Suite struct LineFramerTests {
    enum Cut: Equatable {
        case line(String)
        case tooLong
        case dropped

        init?(_ line: LineFramer.Line) {
            switch line {
            case .line(let bytes): self = .line(String(bytes))
            case .tooLong: self = .tooLong
            case .dropped: self = .dropped
            case .needMore: return nil
            }
        }
    }

    private static func cut(_ chunks: [[UInt8]], maximum: Int = 100) -> (cuts: [Cut], rest: String?) {
        var framer = LineFramer(maxBytes: maximum)
        var cuts: [Cut] = []
        for chunk in chunks {
            framer.append(ByteSlice(chunk))
            while let cut = Cut(framer.next()) { cuts.append(cut) }
        }
        return (cuts, framer.rest().map { String($0) })
    }

    // STDIO-02
    @Test func splitAtEveryPosition() {
        let text = Array("{\"a\":1}\r\n\n\r\nx\r\rlast é\nrest\r".utf8)
        let expected: [Cut] = [.line("{\"a\":1}"), .line(""), .line(""), .line("x\r\rlast é")]
        for first in 0 ... text.count {
            for second in first ... text.count {
                let chunks = [Array(text[..<first]), Array(text[first ..< second]), Array(text[second...])]
                let outcome = Self.cut(chunks)
                #expect(outcome.cuts == expected)
                #expect(outcome.rest == "rest\r")
            }
        }
    }

    @Test func everyByteAlone() {
        let outcome = Self.cut(Array("a\nbc\r\n\n".utf8).map { [$0] })
        #expect(outcome.cuts == [.line("a"), .line("bc"), .line("")])
        #expect(outcome.rest == nil)
    }

    // SEC-10: the limit counts the bytes before the newline.
    @Test(arguments: [1, 3, 7, 1000]) func longLines(_ piece: Int) {
        let ten = String(repeating: "x", count: 10)
        let text = Array("\(ten)\n\(ten)y\nok\n\(ten)\(ten)\(ten)\n\nend\n\(ten)z".utf8)
        let chunks = stride(from: 0, to: text.count, by: piece).map {
            Array(text[$0 ..< min($0 + piece, text.count)])
        }
        let outcome = Self.cut(chunks, maximum: 10)
        // The last one is reported as soon as it is longer than the limit, and is no rest.
        #expect(
            outcome.cuts == [
                .line(ten), .tooLong, .dropped, .line("ok"), .tooLong, .dropped, .line(""), .line("end"),
                .tooLong,
            ])
        #expect(outcome.rest == nil)
    }

    @Test func aLongLineTakesNoMemory() {
        var framer = LineFramer(maxBytes: 1000)
        let piece = ByteSlice([UInt8](repeating: 0x78, count: 500))
        var reports = 0
        for _ in 0 ..< 10_000 {
            framer.append(piece)
            while let cut = Cut(framer.next()) { reports += cut == .tooLong ? 1 : 100 }
            #expect(framer.pendingBytes <= 1500)
        }
        // Once when it is too long, and once when its end is not waited for any more.
        #expect(reports == 101)
        framer.append(ByteSlice("x\nback\n"))
        #expect(Cut(framer.next()) == .line("back"))
    }

    @Test func theEndOfALongLine() {
        var framer = LineFramer(maxBytes: 1000)
        framer.append(ByteSlice(String(repeating: "x", count: 2_000) + "end\nnext\n"))
        guard case .tooLong(let head) = framer.next(), case .dropped(let tail) = framer.next() else {
            Issue.record("not reported")
            return
        }
        #expect(head.count == LongMessage.headBytes)
        #expect(tail.count == LongMessage.tailBytes && String(tail).hasSuffix("xend"))
        #expect(Cut(framer.next()) == .line("next"))
    }

    /// What the beginning of a message says of it, when it is too long to be read.
    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":7,"result":"#, LongMessage.response(7)), (#"{"id":"7","method":"#, .other),
        (#"{"method":"x""#, .other), (#"{"id":1e9,"#, .other), (#"{"jsonrpc":"2.0"}"#, .unknown),
        (#"{"result":{"#, .unknown), ("[", .unknown), ("", .unknown),
    ])
    func beginningsOfLongMessages(text: String, expected: LongMessage) {
        #expect(LongMessage(ByteSlice(text)) == expected)
    }

    @Test func restAtTheEnd() {
        #expect(Self.cut([Array("a\nb".utf8)]).rest == "b")
        #expect(Self.cut([Array("a\n".utf8)]).rest == nil)
        #expect(Self.cut([]).rest == nil)
    }

    @Test func readingIntoTheBuffer() {
        var framer = LineFramer(maxBytes: 100)
        let text = Array("one\ntwo\n".utf8)
        let count = unsafe framer.fill(reserving: 64) { room in
            for (place, byte) in text.enumerated() { unsafe room[place] = byte }
            return text.count
        }
        #expect(count == 8)
        #expect(Cut(framer.next()) == .line("one"))
        #expect(Cut(framer.next()) == .line("two"))
        #expect(Cut(framer.next()) == nil)
        framer.shrink(keeping: 0)
        #expect(framer.pendingBytes == 0)
    }

    /// A connection whose lines arrive whole reads into one block, which is no larger than it may keep.
    @Test func theBlockIsKept() {
        var framer = LineFramer(maxBytes: 100)
        for _ in 0 ..< 3 {
            _ = unsafe framer.fill(reserving: 1_024) { room in
                unsafe (room[0], room[1]) = (0x61, 0x0A)
                return 2
            }
            #expect(Cut(framer.next()) == .line("a"))
            #expect(Cut(framer.next()) == nil)
            framer.shrink(keeping: 1_024)
            #expect(framer.capacity == 1_024)
        }
    }
}
