@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// JSON: three readers agree, writing and reading is a fixed point, and numbers are those of `strtod`.
enum JSONTarget {
    static func check(_ input: [UInt8]) throws {
        let isValid = unsafe withExactCopy(of: input) { bytes in
            var scanner = unsafe JSONScanner(bytes)
            do {
                try scanner.scanValue(depth: 0)
                try scanner.finish()
                return true
            } catch {
                return false
            }
        }
        let raw = try? RawJSON(validating: ByteSlice(input))
        let tree = try? JSONValue(parsing: ByteSlice(input))
        try require((raw != nil) == isValid, "scanner \(isValid), raw \(raw != nil)")
        try require((tree != nil) == isValid, "scanner \(isValid), tree \(tree != nil)")
        guard let raw, let tree else { return }
        try require(raw.value == tree, "the tree of the raw value differs")
        let text = tree.serialized()
        let again = try? JSONValue(parsing: text)
        try require(again == tree, "written and read again: \(text.prefix(200))")
        try require(again?.serialized() == text, "written twice")
        try require(again?.hashValue == tree.hashValue, "equal values with two hashes")
        try require((try? JSONValue(parsing: tree.serialized(pretty: true))) == tree, "pretty")
        try require((try? raw.decode(JSONValue.self)) == tree, "Codable")
        try walk(raw, tree)
    }

    private static func walk(_ raw: RawJSON, _ tree: JSONValue) throws {
        switch tree {
        case .number(let number):
            let reference = unsafe strtod(number.text, nil)
            try require(
                number.double == reference,
                "\(number.text.prefix(80)) is \(number.double), but \(reference) for strtod")
            try require(raw.double == nil || raw.double == number.double, "raw double of \(number.text)")
            if let value = number.int64 {
                try require(JSONNumber(value) == number, "\(number.text) as Int64")
            }
            if let value = number.uint64 {
                try require(JSONNumber(value) == number, "\(number.text) as UInt64")
            }
        case .string(let text): try require(raw.string == text, "raw string")
        case .array(let array):
            let elements = raw.elements ?? []
            try require(elements.count == array.count, "\(elements.count) elements of \(array.count)")
            for (element, value) in zip(elements, array) { try walk(element, value) }
        case .object(let object):
            for (key, value) in object { try require(raw[key]?.value == value, "member \(key)") }
        case .null, .bool: break
        }
    }

    /// Messages: accepted exactly when the text is JSON, and each part that was found is JSON. Lines: of any text.
    static func checkMessage(_ input: [UInt8]) throws {
        try checkLines(input)
        let limits = JSONLimits()
        let head = unsafe withExactCopy(of: input) { unsafe try? MessageScanner.scan($0, limits: limits) }
        let raw = try? RawJSON(validating: ByteSlice(input), limits: limits)
        try require((head != nil) == (raw != nil), "message \(head != nil), JSON \(raw != nil)")
        guard let head, let raw else { return }
        let parts = [
            head.id, head.method, head.params, head.result, head.error, head.meta, head.name, head.arguments,
            head.uri, head.metaVersion, head.metaCapabilities, head.progressToken, head.metaLogLevel,
        ]
        for part in parts where part.isPresent {
            try require(part.range.upperBound <= input.count, "a part ends behind the message")
            let bytes = ByteSlice(input[part.range])
            try require((try? RawJSON(validating: bytes, limits: limits)) != nil, "a part is not JSON")
        }
        if raw.kind == .object, head.kind == .request {
            try require(raw["id"]?.bytes == ByteSlice(input[head.id.range]), "another id")
            try require(raw["method"]?.bytes == ByteSlice(input[head.method.range]), "another method")
        }
    }

    /// The same lines come out of the framer, however its input is cut.
    private static func checkLines(_ input: [UInt8]) throws {
        func lines(_ step: Int) -> [String] {
            var framer = LineFramer(maxBytes: 64)
            var lines: [String] = []
            for start in stride(from: 0, to: input.count, by: step) {
                framer.append(ByteSlice(input[start ..< min(input.count, start + step)]))
                reading: while true {
                    switch framer.next() {
                    case .line(let line): lines.append(line.array.text)
                    case .tooLong: lines.append("(too long)")
                    // When the end of a line is not waited for depends on the pieces.
                    case .dropped: break
                    case .needMore: break reading
                    }
                }
            }
            return lines
        }
        let (whole, pieces) = (lines(max(1, input.count)), lines(input.step))
        try require(whole == pieces, "lines \(pieces) in pieces of \(input.step), but \(whole)")
    }
}
