import TestSupport
import Testing

@testable import MCPCore

/// What a store says, also when it is not one.
@Suite struct RESPReplyTests {
    private static func parse(_ bytes: [UInt8]) -> RESPReply.Parsed {
        unsafe bytes.withUnsafeBufferPointer { unsafe RESPReply.parse($0) }
    }

    private static func parse(_ text: String) -> RESPReply.Parsed { parse(Array(text.utf8)) }

    static let good: [(String, RESPReply)] = [
        ("+OK\r\n", .text("OK")), ("+\r\n", .text("")), ("-ERR no\r\n", .error("ERR no")),
        (":1\r\n", .integer(1)), (":-9223372036854775808\r\n", .integer(.min)),
        ("$-1\r\n", .null), ("$0\r\n\r\n", .bytes([])), ("$3\r\na\r\n\r\n", .bytes(Array("a\r\n".utf8))),
    ]

    @Test(arguments: good) func replies(_ text: String, _ reply: RESPReply) {
        let bytes = Array(text.utf8)
        #expect(Self.parse(bytes) == .reply(reply, byteCount: bytes.count))
        // What follows belongs to the next reply.
        #expect(Self.parse(bytes + Array("+X\r\n".utf8)) == .reply(reply, byteCount: bytes.count))
        for count in bytes.indices { #expect(Self.parse(Array(bytes.prefix(count))) == .needMore) }
    }

    @Test(arguments: [
        "OK\r\n", "*1\r\n$1\r\na\r\n", "%0\r\n", "_\r\n", "HTTP/1.1 200 OK\r\n\r\n", "+OK\n", "\r\n", "\n",
        ":\r\n", ":x\r\n", ":+1\r\n", ":9223372036854775808\r\n", ":1 \r\n", "$-2\r\n", "$x\r\n",
        "$65537\r\n", "$99999999999999999999999\r\n", "$1\r\nab\r\n", "$1\r\na\n\n",
    ]) func junk(_ text: String) {
        guard case .failed = Self.parse(text) else {
            Issue.record("\(text): \(Self.parse(text))")
            return
        }
    }

    @Test func limits() {
        let line = String(repeating: "x", count: RESPReply.maxLineBytes - 1)
        #expect(Self.parse("+\(line)\r\n") == .reply(.text(line), byteCount: line.utf8.count + 3))
        #expect(Self.parse("+\(line)x\r\n") == .failed("a line is too long"))
        // Before its end.
        #expect(Self.parse("+\(line)xx") == .failed("a line is too long"))
        let value = [UInt8](repeating: 0x78, count: RESPReply.maxValueBytes)
        let head = Array("$\(value.count)\r\n".utf8)
        #expect(
            Self.parse(head + value + [13, 10])
                == .reply(.bytes(value), byteCount: head.count + value.count + 2))
        #expect(Self.parse("$\(value.count + 1)\r\n") == .failed("a value is too long"))
    }

    @Test func mutations() {
        var random = SeededRandom(seed: 77)
        let all = Self.good.flatMap { Array($0.0.utf8) }
        for _ in 0 ..< 20_000 {
            var rest = all
            for _ in 0 ... Int.random(in: 0 ..< 4, using: &random) {
                let place = Int.random(in: 0 ..< rest.count, using: &random)
                switch Int.random(in: 0 ..< 3, using: &random) {
                case 0: rest[place] = UInt8.random(in: 0 ... 255, using: &random)
                case 1: rest.remove(at: place)
                default: rest.insert(UInt8.random(in: 0 ... 255, using: &random), at: place)
                }
            }
            while case .reply(_, let count) = Self.parse(rest) {
                #expect((1 ... rest.count).contains(count))
                rest.removeFirst(min(count, rest.count))
            }
        }
    }

    @Test func commands() {
        #expect(
            RESPCommand([Array("SET".utf8), Array("a b".utf8), [0, 13, 10]]).bytes
                == Array("*3\r\n$3\r\nSET\r\n$3\r\na b\r\n$3\r\n\0\r\n\r\n".utf8))
    }
}
