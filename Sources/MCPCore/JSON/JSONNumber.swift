/// A JSON number with the exact text in which it was written.
///
/// Equality and hashing use the mathematical value: `1`, `1.0` and `1e0` are equal. This also holds beyond
/// the range and the precision of `Double`. Reading and comparing take time linear in the length of the text,
/// whatever the exponent.
public struct JSONNumber: Sendable {
    /// The number as it appears in the JSON text, such as `1.0` or `1e400`.
    public let text: String

    /// Creates an integer.
    public init(_ value: some BinaryInteger) { text = String(value) }

    /// Creates a finite number in its shortest decimal form (`3`, not `3.0`); nil for infinities and NaN,
    /// which JSON lacks.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = Self.shortest(value.description)
    }

    /// Creates a number from a text that is exactly one JSON number (RFC 8259 section 6) without surrounding
    /// whitespace; nil for any other text.
    public init?(text: String) {
        var text = text
        let isNumber = text.withUTF8 { bytes in
            let scanner = unsafe JSONScanner(bytes)
            guard let end = try? scanner.afterNumber(0) else { return false }
            return end == bytes.count
        }
        guard isNumber else { return nil }
        self.text = text
    }

    /// Creates a number from a text that the scanner has recognized as one.
    @inline(__always)
    init(scanned text: String) { self.text = text }

    /// The value if it is integral and fits, whatever the spelling: `100`, `100.0`, `1e2` and `1000e-1` are
    /// 100.
    public var int64: Int64? {
        var text = text
        return text.withUTF8 { unsafe JSONDecimal($0).integer() }
    }

    /// The same as ``int64``, but for values up to 2^64 - 1.
    public var uint64: UInt64? {
        var text = text
        return text.withUTF8 { unsafe JSONDecimal($0).integer() }
    }

    /// The nearest `Double`: infinite for a number beyond its range such as `1e400`, 0 for one that is too
    /// small.
    public var double: Double {
        var text = text
        return text.withUTF8 { unsafe JSONDecimal($0).double() }
    }

    /// Removes the `.0` that Swift writes after integral values.
    static func shortest(_ description: String) -> String {
        description.hasSuffix(".0") ? String(description.dropLast(2)) : description
    }
}

extension JSONNumber: Hashable {
    /// Whether both numbers have exactly the same value.
    public static func == (a: JSONNumber, b: JSONNumber) -> Bool {
        if a.text == b.text { return true }
        var first = a.text
        var second = b.text
        return first.withUTF8 { x in
            second.withUTF8 { y in unsafe JSONDecimal(x).hasSameValue(as: JSONDecimal(y)) }
        }
    }

    /// Hashes the value, not the spelling.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { unsafe JSONDecimal($0).hash(into: &hasher) }
    }
}

extension JSONNumber: CustomStringConvertible {
    /// The same as ``text``.
    public var description: String { text }
}

extension JSONNumber: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// Creates an integer from a literal.
    public init(integerLiteral value: Int) { self.init(value) }

    /// Creates a number from a literal in its shortest form; 0 for one beyond the range of `Double`.
    public init(floatLiteral value: Double) { self = JSONNumber(value) ?? 0 }
}
