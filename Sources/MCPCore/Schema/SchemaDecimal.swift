/// A number in a schema or an instance that can be compared exactly, whatever its size or precision.
struct SchemaDecimal: Sendable {
    let text: String
    /// Set when the number is integral and fits, which is almost always the case.
    let int64: Int64?
    private let isNegative: Bool
    /// The digits without leading or trailing zeros; empty for 0.
    private let digits: [UInt8]
    /// The power of ten of the last digit.
    private let exponent: Int

    /// Exponents beyond this limit are clamped: such numbers differ from all that can be written out.
    private static let maxExponent = 1 << 58

    init(_ number: JSONNumber) {
        text = number.text
        int64 = number.int64
        var digits: [UInt8] = []
        var exponent = 0
        var isFraction = false
        var rest = number.text.utf8[...]
        isNegative = rest.first == 0x2D
        if isNegative { rest = rest.dropFirst() }
        while let byte = rest.first, byte | 0x20 != 0x65 {
            rest = rest.dropFirst()
            if byte == 0x2E {
                isFraction = true
            } else {
                if isFraction { exponent -= 1 }
                if byte != 0x30 || !digits.isEmpty { digits.append(byte - 0x30) }
            }
        }
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        if !rest.isEmpty { exponent += Self.exponent(rest.dropFirst()) }
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
    }

    private static func exponent(_ text: Substring.UTF8View) -> Int {
        var text = text
        let isNegative = text.first == 0x2D
        if isNegative || text.first == 0x2B { text = text.dropFirst() }
        var value = 0
        // Small: at most ten times `maxExponent`.
        for byte in text where value < maxExponent { value = value * 10 + Int(byte & 0xF) }
        value = min(value, maxExponent)
        // Small: `maxExponent` at most.
        return isNegative ? -value : value
    }

    var isInteger: Bool { exponent >= 0 }

    /// Whether this is less than `other`.
    static func < (a: SchemaDecimal, b: SchemaDecimal) -> Bool {
        if let x = a.int64, let y = b.int64 { return x < y }
        let (signA, signB) = (a.sign, b.sign)
        guard signA == signB, signA != 0 else { return signA < signB }
        return signA > 0 ? a.hasSmallerMagnitude(than: b) : b.hasSmallerMagnitude(than: a)
    }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    private func hasSmallerMagnitude(than other: SchemaDecimal) -> Bool {
        let top = digits.count + exponent
        let otherTop = other.digits.count + other.exponent
        return top == otherTop ? digits.lexicographicallyPrecedes(other.digits) : top < otherTop
    }

    /// The maximum number of significant digits in a divisor.
    static let maxDivisorDigits = 18

    var isUsableAsDivisor: Bool { sign > 0 && digits.count <= Self.maxDivisorDigits }

    /// Whether this is a whole multiple of `divisor`, which must be usable as one.
    func isMultiple(of divisor: SchemaDecimal) -> Bool {
        if let value = int64, let step = divisor.int64, step > 0 { return value % step == 0 }
        guard !digits.isEmpty else { return true }
        // Neither number ends in a zero digit, so a divisor with the greater power of ten cannot divide.
        guard exponent >= divisor.exponent else { return false }
        // Small: 18 digits at most, as `isUsableAsDivisor` ensures.
        let modulus = divisor.digits.reduce(UInt64(0)) { $0 * 10 + UInt64($1) }
        guard modulus > 1 else { return true }
        var remainder: UInt64 = 0
        for digit in digits { remainder = Self.multiply(remainder, 10, digit, modulus) }
        var power: UInt64 = 1
        var factor = 10 % modulus
        var left = exponent - divisor.exponent
        while left > 0 {
            if left & 1 == 1 { power = Self.multiply(power, factor, 0, modulus) }
            factor = Self.multiply(factor, factor, 0, modulus)
            left >>= 1
        }
        return Self.multiply(remainder, power, 0, modulus) == 0
    }

    /// Returns (`a` × `b` + `c`) mod `modulus`, where `a` and `modulus` are below 10^18.
    private static func multiply(_ a: UInt64, _ b: UInt64, _ c: UInt8, _ modulus: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        // Small: from a byte.
        let (low, carry) = product.low.addingReportingOverflow(UInt64(c))
        let high = product.high + (carry ? 1 : 0)
        return modulus.dividingFullWidth((high % modulus, low)).remainder
    }
}
