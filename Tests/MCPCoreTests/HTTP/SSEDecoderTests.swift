import TestSupport
import Testing

@testable import MCPCore

/// Fault row 69: the rules of WHATWG HTML, section 9.2.6.
@Suite struct SSEDecoderTests {
    private struct Outcome: Equatable {
        var events: [String]
        var lastEventID: String
        var retry: Int?
    }

    private func decode(_ input: [UInt8], cut: Cut) throws(HTTPError) -> Outcome {
        var decoder = SSEDecoder()
        var events: [SSEEvent] = []
        var start = 0
        for end in cut.steps(input.count) {
            let part = Array(input[start ..< end])
            start = end
            try unsafe part.withUnsafeBufferPointer { (bytes) throws(HTTPError) in
                try unsafe decoder.decode(bytes, into: &events)
            }
        }
        let texts = events.map { "\($0.type)|\(String($0.data))|\($0.id)" }
        return Outcome(events: texts, lastEventID: decoder.lastEventID, retry: decoder.retryMilliseconds)
    }

    private func settled(_ input: some Collection<UInt8>) throws -> Outcome {
        let input = Array(input)
        let whole = try decode(input, cut: .whole)
        for cut in Cut.all(input.count) { #expect(try decode(input, cut: cut) == whole, "\(cut)") }
        return whole
    }

    static let streams: [(String, [String])] = [
        ("data: a\n\n", ["message|a|"]),
        ("data: a\r\n\r\n", ["message|a|"]),
        ("data: a\r\r", ["message|a|"]),
        ("data: a\r\n\rdata: b\n\r\n", ["message|a|", "message|b|"]),
        ("\u{feff}data: a\n\n", ["message|a|"]),
        ("\u{feff}\u{feff}data: a\n\ndata: b\n\n", ["message|b|"]),
        ("data:a\n\n", ["message|a|"]),
        ("data:  a \n\n", ["message| a |"]),
        ("data:\ta\n\n", ["message|\ta|"]),
        ("data: a\ndata: b\ndata:c\n\n", ["message|a\nb\nc|"]),
        ("data\n\ndata\ndata\n\ndata:", ["message||", "message|\n|"]),
        ("data: YHOO\ndata: +2\ndata: 10\n\n", ["message|YHOO\n+2\n10|"]),
        (
            ": test stream\n\ndata: first\nid: 1\n\ndata:second\nid\n\ndata:  third\n\n",
            ["message|first|1", "message|second|", "message| third|"]
        ),
        ("event: add\ndata: 1\n\ndata: 2\n\n", ["add|1|", "message|2|"]),
        ("event: add\n\ndata: 2\n\n", ["message|2|"]),
        ("event:\ndata: 2\n\n", ["message|2|"]),
        ("event: a\nevent: b\ndata: 2\n\n", ["b|2|"]),
        ("id: 1\n\ndata: 2\n\n", ["message|2|1"]),
        ("id: 1\ndata: a\n\nid:\ndata: b\n\n", ["message|a|1", "message|b|"]),
        ("id: 1\nid: a\u{0}b\ndata: c\n\n", ["message|c|1"]),
        ("Data: a\nDATA: b\n data: c\ndatax: d\ndat: e\n\n", []),
        ("data : a\n\n", []),
        ("nonsense\n:data: a\n\n\n\n", []),
        ("data: a\ndata: never ended", []),
        ("data: a\n", []),
        ("data: {\"a\": \"b: c\"}\n\n", ["message|{\"a\": \"b: c\"}|"]),
        ("data: \u{e9}\u{1F600}\n\n", ["message|\u{e9}\u{1F600}|"]),
        ("", []),
    ]

    @Test(arguments: streams)
    func row69Events(stream: String, events: [String]) throws {
        #expect(try settled(stream.utf8).events == events)
    }

    @Test(arguments: [
        ("retry: 1500\n", 1500), ("retry:0\n", 0), ("retry: 1e9\n", nil), ("retry: -1\n", nil),
        ("retry: 1.5\n", nil),
        ("retry:\n", nil), ("retry: 99999999999999999999\n", nil), ("retry: 5\nretry: x\n", 5),
        ("retry:  5\n", nil),
    ])
    func row69Retry(stream: String, retry: Int?) throws {
        #expect(try settled(stream.utf8).retry == retry)
    }

    /// A priming event sets the id for resumption; without data it is not handed out.
    @Test(arguments: [
        ("id: 7\n\n", "7"), ("id: 7\ndata: x\n\nid\n\n", ""), ("id: 7\n", ""), ("id: 7\nid: a\u{0}\n\n", "7"),
    ])
    func row69LastEventID(stream: String, id: String) throws {
        #expect(try settled(stream.utf8).lastEventID == id)
    }

    @Test func whatOnlyLooksLikeAMarkIsText() throws {
        #expect(try settled([0xEF, 0xBB] + Array("data: a\n\n".utf8)).events == [])
        #expect(try settled([0xEF] + Array("\ndata: a\n\n".utf8)).events == ["message|a|"])
    }

    // Fault row 68
    @Test(arguments: [1, 7, 64])
    func row68EndlessEvent(size: Int) {
        let line = Array("data: \(String(repeating: "x", count: 200))".utf8)
        let lines = Array(String(repeating: "data: xxxxxxxxxx\n", count: 20).utf8)
        let comment = Array(":\(String(repeating: "x", count: 200))\n".utf8)
        for input in [line, lines, comment] {
            #expect(throws: HTTPError.eventTooLarge) {
                var decoder = SSEDecoder(maxEventBytes: 100)
                var events: [SSEEvent] = []
                for start in stride(from: 0, to: input.count, by: size) {
                    let part = Array(input[start ..< min(input.count, start + size)])
                    try unsafe part.withUnsafeBufferPointer { (bytes) throws(HTTPError) in
                        try unsafe decoder.decode(bytes, into: &events)
                    }
                }
            }
        }
    }

    @Test func manyShortLinesAreNoFault() throws {
        let carriageReturns = [UInt8](repeating: ASCII.cr, count: 200_000)
        #expect(try decode(carriageReturns, cut: .whole).events.isEmpty)
        let comments = Array(String(repeating: ":\n", count: 50_000).utf8)
        #expect(try decode(comments, cut: .whole).events.isEmpty)
    }
}
