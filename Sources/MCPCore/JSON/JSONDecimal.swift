/// The value of a valid JSON number as a sign, significant digits and a power of ten, determined without
/// copying.
@safe struct JSONDecimal {
    /// A power of ten, which may have any number of digits in JSON.
    ///
    /// Each power has exactly one representation, so that equal powers compare equal; arithmetic on a small
    /// one never overflows.
    enum Exponent: Hashable {
        /// An exponent of at most 18 digits, that is, less than 10^18 in magnitude.
        case small(Int)
        /// An exponent of 10^18 or more in magnitude: the sign, then decimal digits without leading zeros.
        case big([UInt8])
    }

    // SAFETY: points to the bytes of a valid number, which the caller keeps alive while it uses the value.
    private let bytes: UnsafeBufferPointer<UInt8>
    let isNegative: Bool
    /// Whether the number is written without a point and without an exponent.
    let isPlain: Bool
    /// The range from the first to the last nonzero digit, including the point if it is between them; empty
    /// for zero.
    private var significant = 0 ..< 0
    private(set) var digitCount = 0
    /// The power of ten of the last significant digit.
    private(set) var exponent = Exponent.small(0)

    var isZero: Bool { digitCount == 0 }

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe self.bytes = unsafe bytes
        let start = unsafe bytes.first == ASCII.minus ? 1 : 0
        isNegative = start == 1
        var point = -1
        var mantissaEnd = bytes.count
        var first = -1
        var last = -1
        for index in start ..< max(start, bytes.count) {
            let byte = unsafe bytes[index]
            if byte == ASCII.point {
                point = index
            } else if byte | 0x20 == 0x65 {
                mantissaEnd = index
                break
            } else if byte != ASCII.zero {
                if first < 0 { first = index }
                last = index
            }
        }
        isPlain = point < 0 && mantissaEnd == bytes.count
        guard first >= 0 else { return }
        significant = first ..< last + 1
        let crossesPoint = first < point && point < last
        digitCount = significant.count - (crossesPoint ? 1 : 0)
        let unitsEnd = point < 0 ? mantissaEnd : point
        let shift = last < unitsEnd ? unitsEnd - 1 - last : point - last
        exponent = unsafe Self.sum(UnsafeBufferPointer(rebasing: bytes[mantissaEnd...]), shift)
    }

    /// Returns the exact sum of the written exponent (`e+5`, or nothing) and `shift`.
    private static func sum(_ text: UnsafeBufferPointer<UInt8>, _ shift: Int) -> Exponent {
        guard text.count > 1 else { return .small(shift) }
        let sign = unsafe text[1]
        let isNegative = sign == ASCII.minus
        var start = isNegative || sign == ASCII.plus ? 2 : 1
        while start < text.count - 1, unsafe text[start] == ASCII.zero { start += 1 }
        // No text is 10^17 bytes long, so `shift`, which counts bytes, is less than that. With up to 17
        // digits, the sum stays below 10^18; with more, its sign is that of the written exponent.
        guard text.count - start > 17 else {
            var value = 0
            for index in start ..< text.count {
                // Small: at most 17 digits.
                value = unsafe value * 10 + Int(text[index] &- ASCII.zero)
            }
            return .small(isNegative ? shift - value : shift + value)
        }
        // Small: less than the number of bytes.
        let carry = isNegative ? -shift : shift
        return sum(digits: unsafe Array(text[start...]), isNegative, carry: carry)
    }

    /// Returns the sum of the number with these 18 or more digits and `carry`, computed digit by digit; both
    /// are multiplied by the sign.
    private static func sum(digits: [UInt8], _ isNegative: Bool, carry: Int) -> Exponent {
        var digits = digits
        var carry = carry
        var place = digits.count - 1
        while carry != 0, place >= 0 {
            // Small: a digit.
            let total = Int(digits[place] &- ASCII.zero) + carry
            carry = total >= 0 ? total / 10 : (total - 9) / 10
            // Small: `carry` is a tenth of `total`.
            digits[place] = ASCII.zero &+ UInt8(truncatingIfNeeded: total - carry * 10)
            place -= 1
        }
        var first: [UInt8] = isNegative ? [ASCII.minus] : []
        if carry > 0 { first += Array(String(carry).utf8) }
        let rest = carry > 0 ? digits[...] : digits.drop { $0 == ASCII.zero }
        if carry <= 0, rest.count <= 18 {
            var value = 0
            // Small: at most 18 digits, also below.
            for digit in rest { value = value * 10 + Int(digit &- ASCII.zero) }
            return .small(isNegative ? -value : value)  // Small: as above.
        }
        return .big(first + rest)
    }

    private func forEachDigit(_ body: (UInt8) -> Bool) {
        for index in significant {
            let byte = unsafe bytes[index]
            if byte != ASCII.point, !body(byte &- ASCII.zero) { return }
        }
    }

    // MARK: Values

    /// Whether the value has no fraction.
    var isIntegral: Bool {
        switch exponent {
        case .small(let exponent): isZero || exponent >= 0
        case .big(let text): text.first != ASCII.minus
        }
    }

    /// Returns the value if it is integral and fits.
    func integer<I: FixedWidthInteger>(_: I.Type = I.self) -> I? {
        guard !isZero else { return 0 }
        guard case .small(let exponent) = exponent, exponent >= 0, exponent <= 20, digitCount <= 20 else {
            return nil
        }
        var value: I = 0
        var fits = true
        func push(_ digit: UInt8) -> Bool {
            let (shifted, tooBig) = value.multipliedReportingOverflow(by: 10)
            let (next, tooBigToo) =
                isNegative
                // Small: a digit.
                ? shifted.subtractingReportingOverflow(I(digit)) : shifted.addingReportingOverflow(I(digit))
            value = next
            fits = !tooBig && !tooBigToo
            return fits
        }
        forEachDigit(push)
        for _ in 0 ..< exponent where fits { _ = push(0) }
        return fits ? value : nil
    }

    /// Returns the nearest Double, which is infinite for values out of range.
    func double() -> Double {
        guard !isZero else { return isNegative ? -0.0 : 0 }
        guard case .small(let exponent) = exponent, digitCount <= 15, exponent.magnitude <= 22 else {
            return unsafe Double(String(decoding: bytes, as: UTF8.self)) ?? .nan
        }
        // Both operands are exact, so the single rounding of the operation is correct (Clinger 1990).
        var mantissa: Int64 = 0
        forEachDigit { digit in
            // Small: at most 15 digits.
            mantissa = mantissa * 10 + Int64(digit)
            return true
        }
        let power = Self.powerOfTen(exponent.magnitude)
        // Small: Doubles, which never trap, also below.
        let value = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
        return isNegative ? -value : value  // Small: as above.
    }

    @inline(__always)
    private static func powerOfTen(_ exponent: UInt) -> Double {
        var power = 1.0
        // Small: a Double, which never traps.
        for _ in 0 ..< exponent { power *= 10 }
        return power
    }

    // MARK: Comparison

    func hasSameValue(as other: JSONDecimal) -> Bool {
        if isZero || other.isZero { return isZero && other.isZero }
        guard isNegative == other.isNegative, digitCount == other.digitCount, exponent == other.exponent
        else {
            return false
        }
        var index = other.significant.lowerBound
        var same = true
        forEachDigit { digit in
            if unsafe other.bytes[index] == ASCII.point { index += 1 }
            same = unsafe other.bytes[index] &- ASCII.zero == digit
            index += 1
            return same
        }
        return same
    }

    func hash(into hasher: inout Hasher) {
        guard !isZero else { return hasher.combine(0) }
        hasher.combine(isNegative)
        hasher.combine(exponent)
        forEachDigit { digit in
            hasher.combine(digit)
            return true
        }
    }
}
