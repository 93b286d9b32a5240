import MCPCore

/// One line of JSON under construction, as bytes.
///
/// Values come from peers: everything that could end the line, move a terminal's cursor or reverse the
/// reading direction is escaped.
struct LineText {
    /// The most bytes of one text, if no other limit is given.
    static let maxTextBytes = 1_024

    private(set) var bytes: [UInt8]

    init(reserving count: Int = 512) {
        bytes = []
        bytes.reserveCapacity(count)
    }

    mutating func literal(_ text: StaticString) {
        unsafe bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    mutating func number(_ value: Int) {
        if (0 ..< 10).contains(value) { return bytes.append(0x30 + UInt8(value)) }
        guard value > 0, value < 1_000_000_000_000 else {
            return bytes.append(contentsOf: String(value).utf8)
        }
        var power = 10
        while value / power >= 10 { power *= 10 }
        while power > 0 {
            bytes.append(0x30 + UInt8(truncatingIfNeeded: value / power % 10))
            power /= 10
        }
    }

    /// Appends a duration in milliseconds with three digits after the point.
    mutating func milliseconds(nanoseconds: Int64) {
        let micros = Int(max(0, nanoseconds) / 1_000)
        number(micros / 1_000)
        let rest = micros % 1_000
        byte(0x2E)
        byte(0x30 + UInt8(rest / 100))
        byte(0x30 + UInt8(rest / 10 % 10))
        byte(0x30 + UInt8(rest % 10))
    }

    /// Appends a text as a JSON string, cut after `limit` bytes.
    mutating func string(_ text: String, limit: Int = maxTextBytes) {
        byte(0x22)
        escaped(text.utf8.prefix(limit), isJSON: false)
        if text.utf8.count > limit { literal("…") }
        byte(0x22)
    }

    /// Appends the content of a JSON string, which is escaped as JSON already if `isJSON`.
    mutating func escaped(_ text: some Collection<UInt8>, isJSON: Bool) {
        let isPlain: Bool? = text.withContiguousStorageIfAvailable { buffer in
            guard unsafe buffer.allSatisfy({ Self.isPlain($0) || (isJSON && ($0 == 0x5C || $0 == 0x22)) })
            else {
                return false
            }
            unsafe bytes.append(contentsOf: buffer)
            return true
        }
        if isPlain == true { return }
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            // In JSON, a backslash precedes it.
            case 0x22: literal(isJSON ? "\"" : "\\\"")
            case 0x5C: literal(isJSON ? "\\" : "\\\\")
            case 0x0A: literal("\\n")
            // Control characters, line separators, and marks and overrides of the writing direction.
            case 0 ..< 0x20, 0x7F ... 0x9F, 0x2028 ... 0x202E, 0x2066 ... 0x2069, 0x200E, 0x200F, 0x61C:
                let digits = String(scalar.value, radix: 16)
                literal("\\u")
                bytes.append(contentsOf: String(repeating: "0", count: max(0, 4 - digits.count)).utf8)
                bytes.append(contentsOf: digits.utf8)
            default: bytes.append(contentsOf: String(scalar).utf8)
            }
        }
    }

    mutating func append(_ other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func truncate(to count: Int) { bytes.removeSubrange(min(count, bytes.count)...) }

    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x5C
    }
}
