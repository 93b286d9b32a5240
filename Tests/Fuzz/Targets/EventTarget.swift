@testable import MCPCore

/// Event streams: the same events whole and in pieces, and what is written is one event with the same data.
enum EventTarget {
    static func check(_ input: [UInt8]) throws {
        let whole = events(input, by: max(1, input.count))
        for step in [1, 2, 3, input.step] {
            let pieces = events(input, by: step)
            try require(whole == pieces, "\(pieces) in pieces of \(step), but \(whole)")
        }
        try checkWriting(input)
    }

    private static func events(_ input: [UInt8], by step: Int) -> String {
        var decoder = SSEDecoder(maxEventBytes: 512)
        var events: [SSEEvent] = []
        var outcome = ""
        for start in stride(from: 0, to: input.count, by: step) {
            let part = input[start ..< min(input.count, start + step)]
            do {
                try unsafe withExactCopy(of: part) { unsafe try decoder.decode($0, into: &events) }
            } catch {
                outcome = " failed"
                break
            }
        }
        return events.map { "\($0.type) \($0.id) \($0.data.array)" }.joined(separator: "; ")
            + "\(outcome) \(decoder.lastEventID) \(decoder.retryMilliseconds ?? -1)"
    }

    private static func checkWriting(_ input: [UInt8]) throws {
        var out = ByteBuffer()
        SSEEncoder.write(
            data: ByteSlice(input), event: "message", id: Array(input.prefix(20)).text, retryMilliseconds: 7,
            to: &out)
        SSEEncoder.write(data: ByteSlice("next"), to: &out)
        var decoder = SSEDecoder(maxEventBytes: 1 << 20)
        var events: [SSEEvent] = []
        try unsafe withExactCopy(of: out.slice(0 ..< out.count)) {
            unsafe try decoder.decode($0, into: &events)
        }
        try require(events.count == 2, "\(events.count) events instead of 2")
        // All three ends of a line come back as one.
        var data: [UInt8] = []
        for (place, byte) in input.enumerated() {
            if byte == 0x0A, place > 0, input[place - 1] == 0x0D { continue }
            data.append(byte == 0x0D ? 0x0A : byte)
        }
        try require(events.first?.data.array == data, "other data")
        try require(events.last?.data.array == Array("next".utf8), "another event")
    }
}
