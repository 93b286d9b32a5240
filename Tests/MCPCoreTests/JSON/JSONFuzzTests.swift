import TestSupport
import Testing

@testable import MCPCore

/// Random texts with fixed seeds: what is read can be written, and every reader has the same opinion.
@Suite struct JSONFuzzTests {
    /// A random tree with all kinds of names, strings and numbers.
    private func tree(_ random: inout SeededRandom, depth: Int) -> JSONValue {
        switch Int.random(in: 0 ..< (depth > 0 ? 8 : 6), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return JSONValue(Int64(bitPattern: random.next()))
        case 3: return JSONValue(Double(bitPattern: random.next()))
        case 4, 5: return .string(string(&random))
        case 6:
            let count = Int.random(in: 0 ..< 6, using: &random)
            return .array((0 ..< count).map { _ in tree(&random, depth: depth - 1) })
        default:
            var object = JSONObject()
            for _ in 0 ..< Int.random(in: 0 ..< 20, using: &random) {
                object[string(&random)] = tree(&random, depth: depth - 1)
            }
            return .object(object)
        }
    }

    private func string(_ random: inout SeededRandom) -> String {
        let pool: [Unicode.Scalar] = [
            "a", "b", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", " ", "é", "€", "😀", "\u{301}",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0 ..< Int.random(in: 0 ..< 40, using: &random) {
            text.append(
                Int.random(in: 0 ..< 3, using: &random) == 0 ? pool.randomElement(using: &random) ?? "x" : "x"
            )
        }
        return String(text)
    }

    @Test(arguments: 0 ..< 8) func roundTrip(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        for _ in 0 ..< 150 {
            let value = tree(&random, depth: 5)
            let text = value.serialized()
            let back = try JSONValue(parsing: text)
            #expect(back == value)
            #expect(back.serialized() == text)
            #expect(try JSONValue(parsing: value.serialized(pretty: true)) == value)
            let raw = try RawJSON(validating: text)
            #expect(raw.value == value)
            #expect(try RawJSON(encoding: raw.decode(JSONValue.self)) == raw)
            for (key, member) in value.objectValue ?? [:] { #expect(raw[key]?.value == member) }
            for (place, element) in (value.arrayValue ?? []).enumerated() {
                #expect(raw[place]?.value == element)
            }
        }
    }

    @Test(arguments: 0 ..< 8) func mutations(_ seed: Int) throws {
        var random = SeededRandom(seed: 1000 + UInt64(seed))
        let marks =
            Array("\"\\{}[]:,0123456789.-+eEtfnu \n".utf8) + [
                0x00, 0x1F, 0x80, 0xBF, 0xC2, 0xE2, 0xED, 0xF0, 0xFF,
            ]
        var accepted = 0
        for _ in 0 ..< 1500 {
            let base = Int.random(in: 0 ..< 3, using: &random)
            var bytes =
                base == 0
                ? (JSONDecisions.all.filter { $0.input.count < 200 }.randomElement(using: &random)?.input
                    ?? [])
                : Array(tree(&random, depth: 3).serialized().utf8)
            for _ in 0 ..< Int.random(in: 1 ..< 4, using: &random) {
                let place = Int.random(in: 0 ... bytes.count, using: &random)
                let mark = marks.randomElement(using: &random) ?? 0
                switch Int.random(in: 0 ..< 4, using: &random) {
                case 0: bytes.insert(mark, at: place)
                case 1 where place < bytes.count: bytes.remove(at: place)
                case 2 where place < bytes.count: bytes[place] = mark
                default: bytes.removeSubrange(place...)
                }
            }
            if agree(bytes) { accepted += 1 }
        }
        #expect(accepted > 0 && accepted < 1500)
    }

    /// Whether the bytes are JSON, to all readers alike.
    private func agree(_ bytes: [UInt8]) -> Bool {
        let slice = ByteSlice(bytes)
        let scanned = Result { () throws(JSONError) in
            unsafe try slice.withBytes { bytes throws(JSONError) in
                var scanner = unsafe JSONScanner(bytes)
                try scanner.scanValue(depth: 0)
                try scanner.finish()
            }
        }
        let read = Result { () throws(JSONError) in try JSONValue(parsing: bytes) }
        let raw = Result { () throws(JSONError) in try RawJSON(validating: slice) }
        switch (scanned, read, raw) {
        case (.success, .success(let value), .success(let raw)):
            #expect(String(validating: bytes, as: UTF8.self) != nil)
            #expect(raw.value == value)
            #expect((try? JSONValue(parsing: value.serialized())) == value)
            #expect((try? raw.decode(JSONValue.self)) == value)
            return true
        case (.failure(let a), .failure(let b), .failure(let c)):
            #expect(a == b && b == c)
            return false
        default:
            Issue.record("the readers disagree about \(bytes)")
            return false
        }
    }
}
