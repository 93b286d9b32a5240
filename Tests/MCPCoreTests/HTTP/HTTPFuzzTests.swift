import TestSupport
import Testing

@testable import MCPCore

/// Seeded mutations of good messages: no input may trap, and the verdict may not depend on how it is cut.
@Suite struct HTTPFuzzTests {
    private struct Random {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(truncatingIfNeeded: state >> 33) % bound
        }
    }

    private static let seeds: [String] = [
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nMcp-Param-A: 1\r\n"
            + "Accept: application/json, text/event-stream\r\nContent-Length: 12\r\nConnection: close"
            + "\r\n\r\n",
        "GET http://[::1]:80/x?y HTTP/1.0\r\nHost: [::1]:80\r\nExpect: 100-continue\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 100 \r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nLocation: x\r\n\r\n",
        "5;a=\"b\"\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\n",
        "\u{feff}: c\nid: 1\nevent: x\r\ndata: a\rdata: b\n\nretry: 10\ndata\n\n",
        "application/json;q=0.5, text/*;v=\"a\\\",b\", */*;q=0", "=?base64?SGVsbG8sIOS4lueVjA==?=",
    ]

    private static let bytes: [UInt8] =
        Array("\r\n\t :;,=\"\\0159aAzZ/?#%[]@-+".utf8) + [0, 0x7F, 0x80, 0xC3, 0xFF]

    private static func mutated(_ input: [UInt8], _ random: inout Random) -> [UInt8] {
        var input = input
        for _ in 0 ... random.next(4) {
            let place = random.next(input.count + 1)
            switch random.next(5) {
            case 0: input.insert(bytes[random.next(bytes.count)], at: place)
            case 1 where place < input.count: input.remove(at: place)
            case 2 where place < input.count: input[place] = bytes[random.next(bytes.count)]
            case 3: input.removeSubrange(min(place, input.count) ..< min(input.count, place + random.next(8)))
            default:
                let end = min(input.count, place + random.next(40))
                input.insert(contentsOf: input[min(place, end) ..< end], at: place)
            }
        }
        return input
    }

    @Test(arguments: 0 ..< 8)
    func mutations(seed: Int) {
        var random = Random(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        let limits = HTTPLimits(maxRequestLineBytes: 60, maxHeaderBytes: 300, maxFields: 9, maxBodyBytes: 40)
        for _ in 0 ..< 200 {
            let input = Self.mutated(Array(Self.seeds[random.next(Self.seeds.count)].utf8), &random)
            let place = 1 + random.next(max(1, input.count))
            for cut in [Cut.bytes, .at(place)] {
                #expect(
                    requestVerdict(input, cut: .whole, limits: limits)
                        == requestVerdict(input, cut: cut, limits: limits),
                    "\(input)")
                #expect(
                    responseVerdict(input, cut: .whole, limits: limits)
                        == responseVerdict(input, cut: cut, limits: limits), "\(input)")
            }
            #expect(chunks(input, size: input.count, limits) == chunks(input, size: 1, limits), "\(input)")
            #expect(events(input, size: input.count) == events(input, size: 1), "\(input)")
            var types = AcceptedTypes()
            types.add(ByteSlice(input))
            _ = MediaType.isJSON(ByteSlice(input))
            if let text = MCPHeaderValue.decode(ByteSlice(input)) {
                #expect(MCPHeaderValue.decode(ByteSlice(MCPHeaderValue.encode(text))) == text)
            }
        }
    }

    private func chunks(_ input: [UInt8], size: Int, _ limits: HTTPLimits) -> String {
        var decoder = ChunkedDecoder(limits: limits)
        var body = ByteBuffer()
        for start in stride(from: 0, to: input.count, by: max(1, size)) {
            let part = Array(input[start ..< min(input.count, start + size)])
            switch unsafe part.withUnsafeBufferPointer({ unsafe decoder.decode($0, into: &body) }) {
            case .needMore: continue
            case .done(let consumed): return "\(start + consumed) \(Array(body.slice(0 ..< body.count)))"
            case .failed(let error): return "\(error)"
            }
        }
        return "needMore"
    }

    private func events(_ input: [UInt8], size: Int) -> [SSEEvent]? {
        var decoder = SSEDecoder(maxEventBytes: 1000)
        var events: [SSEEvent] = []
        for start in stride(from: 0, to: input.count, by: max(1, size)) {
            let part = Array(input[start ..< min(input.count, start + size)])
            do {
                try unsafe part.withUnsafeBufferPointer { (bytes) throws(HTTPError) in
                    try unsafe decoder.decode(bytes, into: &events)
                }
            } catch { return nil }
        }
        return events
    }
}
