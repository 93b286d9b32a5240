public import MCPCore

/// A parser for arguments that a model is still writing.
public enum PartialJSON {
    /// The longest text that is completed: 1 MiB.
    public static let maxBytes = 1 << 20

    /// Returns the value of a truncated JSON text, with its open structures closed (MCP Apps 2026-01-26
    /// "Notifications (Host → View)"); nil when the text is not the beginning of JSON, contains no value yet,
    /// is nested deeper than 64 levels, or is longer than `maxBytes`. The time is linear in the length of the
    /// text.
    ///
    /// An incomplete string is kept as far as it goes; an incomplete number, word, escape or member name is
    /// omitted.
    public static func heal(_ text: String) -> JSONValue? {
        guard text.utf8.count <= maxBytes else { return nil }
        var healer = Healer(Array(text.utf8))
        guard let healed = healer.heal() else { return nil }
        return try? JSONValue(parsing: healed)
    }
}

/// The bytes that structure a text.
private enum Byte {
    static let quote: UInt8 = 0x22
    static let comma: UInt8 = 0x2C
    static let colon: UInt8 = 0x3A
    static let openBracket: UInt8 = 0x5B
    static let backslash: UInt8 = 0x5C
    static let closeBracket: UInt8 = 0x5D
    static let openBrace: UInt8 = 0x7B
    static let closeBrace: UInt8 = 0x7D
}

/// A parser that finds the longest prefix of a text that closing brackets can complete. It checks only the
/// structure, since the result is then read by the strict parser.
private struct Healer {
    /// The token that may come next in the innermost container.
    enum Place {
        /// A value: at the beginning, after a colon, or after a comma in an array.
        case value
        /// A value or the end of the array that was just opened.
        case firstElement
        /// A name or the end of the object that was just opened.
        case firstName
        case name
        case colon
        /// A comma or the closing bracket.
        case end
    }

    private let bytes: [UInt8]
    private var position = 0
    /// The brackets that close the open containers, the outermost first.
    private var closers: [UInt8] = []
    private var place = Place.value
    /// The end of the prefix that is complete once these brackets are appended.
    private var goodEnd = 0
    private var goodClosers: [UInt8]?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func heal() -> [UInt8]? {
        while position < bytes.count {
            guard step() else { return nil }
        }
        guard let goodClosers else { return nil }
        return bytes[..<goodEnd] + goodClosers.reversed()
    }

    private mutating func note(_ end: Int) {
        goodEnd = end
        goodClosers = closers
    }

    /// Reads one token. Returns false when the text is invalid, not merely truncated.
    private mutating func step() -> Bool {
        let byte = bytes[position]
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: position += 1
        case Byte.quote: return string()
        case Byte.openBrace, Byte.openBracket: return open(byte)
        case Byte.closeBrace, Byte.closeBracket: return close(byte)
        case Byte.comma:
            guard place == .end, let closer = closers.last else { return false }
            place = closer == Byte.closeBrace ? .name : .value
            position += 1
        case Byte.colon:
            guard place == .colon else { return false }
            place = .value
            position += 1
        default: return scalar()
        }
        return true
    }

    private mutating func open(_ byte: UInt8) -> Bool {
        guard place == .value || place == .firstElement, closers.count < JSONLimits().maxDepth else {
            return false
        }
        let isObject = byte == Byte.openBrace
        closers.append(isObject ? Byte.closeBrace : Byte.closeBracket)
        place = isObject ? .firstName : .firstElement
        position += 1
        note(position)
        return true
    }

    private mutating func close(_ byte: UInt8) -> Bool {
        guard closers.last == byte, place == .end || place == .firstName || place == .firstElement else {
            return false
        }
        closers.removeLast()
        position += 1
        endValue()
        return true
    }

    private mutating func endValue() {
        place = .end
        note(position)
    }

    /// Reads a name or a string value. A truncated value ends before an escape or a character that is
    /// incomplete.
    private mutating func string() -> Bool {
        let isName = place == .name || place == .firstName
        guard isName || place == .value || place == .firstElement else { return false }
        position += 1
        while position < bytes.count, bytes[position] != Byte.quote {
            let length = bytes[position] == Byte.backslash ? escapeLength() : 1
            guard position + length <= bytes.count else { break }
            position += length
        }
        if position < bytes.count, bytes[position] == Byte.quote {
            position += 1
            if isName { place = .colon } else { endValue() }
            return true
        }
        if !isName {
            goodEnd = position
            goodClosers = closers + [Byte.quote]
        }
        position = bytes.count
        return true
    }

    /// Returns the number of bytes of the escape at the current position; both halves of a surrogate pair
    /// count as one escape.
    private func escapeLength() -> Int {
        guard position + 1 < bytes.count, bytes[position + 1] == 0x75 else { return 2 }
        let digits = bytes[min(position + 2, bytes.count) ..< min(position + 4, bytes.count)]
        guard digits.count == 2, let first = digits.first, let second = digits.last else { return 6 }
        let isHigh = (first | 0x20) == 0x64 && [0x38, 0x39, 0x61, 0x62].contains(second | 0x20)
        return isHigh ? 12 : 6
    }

    /// Reads a number or a word. One at the end of the text may be incomplete and is omitted.
    private mutating func scalar() -> Bool {
        guard place == .value || place == .firstElement else { return false }
        while position < bytes.count, isScalar(bytes[position]) { position += 1 }
        if position < bytes.count {
            guard !isDelimiterMissing else { return false }
            endValue()
        }
        return true
    }

    /// Whether the byte at the current position cannot follow a value.
    private var isDelimiterMissing: Bool {
        ![0x20, 0x09, 0x0A, 0x0D, Byte.comma, Byte.closeBrace, Byte.closeBracket]
            .contains(bytes[position])
    }

    private func isScalar(_ byte: UInt8) -> Bool {
        (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7A) || byte == 0x2B || byte == 0x2D
            || byte == 0x2E
            || byte == 0x45
    }
}
