/// The value of a valid JSON number as sign, significant digits and a power of ten, found without a copy.
@safe struct JSONDecimal {
    /// A power of ten: in JSON it may have any number of digits.
    enum Exponent: Hashable {
        case small(Int)
        /// Beyond Int64: sign, then decimal digits without leading zeros.
        case big([UInt8])
    }

    // SAFETY: points to the bytes of a valid number that the caller keeps alive while it uses the value.
    private let bytes: UnsafeBufferPointer<UInt8>
    let isNegative: Bool
    /// Whether neither a point nor an exponent is written.
    let isPlain: Bool
    /// From the first to the last digit that is not 0, with the point if it lies between; empty for zero.
    private var significant = 0 ..< 0
    private(set) var digitCount = 0
    /// The power of ten of the last significant digit.
    private(set) var exponent = Exponent.small(0)

    var isZero: Bool { digitCount == 0 }

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe self.bytes = unsafe bytes
        let start = unsafe bytes.first == JSONByte.minus ? 1 : 0
        isNegative = start == 1
        var point = -1
        var mantissaEnd = bytes.count
        var first = -1
        var last = -1
        for index in start ..< max(start, bytes.count) {
            let byte = unsafe bytes[index]
            if byte == JSONByte.point {
                point = index
            } else if byte | 0x20 == 0x65 {
                mantissaEnd = index
                break
            } else if byte != JSONByte.zero {
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

    /// The written exponent (`e+5`, or nothing) plus `shift`, exactly.
    private static func sum(_ text: UnsafeBufferPointer<UInt8>, _ shift: Int) -> Exponent {
        guard text.count > 1 else { return .small(shift) }
        let sign = unsafe text[1]
        let isNegative = sign == JSONByte.minus
        var start = isNegative || sign == JSONByte.plus ? 2 : 1
        while start < text.count - 1, unsafe text[start] == JSONByte.zero { start += 1 }
        guard text.count - start > 18 else {
            var value = 0
            for index in start ..< text.count {
                value = unsafe value * 10 + Int(text[index] &- JSONByte.zero)
            }
            return .small((isNegative ? -value : value) + shift)
        }
        // At least 10^18, and no text is long enough for `shift` to change the sign: carry digit by digit.
        var digits = unsafe text[start...].map { Int($0 &- JSONByte.zero) }
        var carry = isNegative ? -shift : shift
        var place = digits.count - 1
        while carry != 0, place >= 0 {
            let total = digits[place] + carry
            carry = total >= 0 ? total / 10 : (total - 9) / 10
            digits[place] = total - carry * 10
            place -= 1
        }
        while carry > 0 {
            digits.insert(carry % 10, at: 0)
            carry /= 10
        }
        var rest = digits.drop { $0 == 0 }.map { JSONByte.zero + UInt8($0) }
        if isNegative { rest.insert(JSONByte.minus, at: 0) }
        if rest.count <= 20, let value = Int(String(decoding: rest, as: UTF8.self)) { return .small(value) }
        return .big(rest)
    }

    private func forEachDigit(_ body: (UInt8) -> Bool) {
        for index in significant {
            let byte = unsafe bytes[index]
            if byte != JSONByte.point, !body(byte &- JSONByte.zero) { return }
        }
    }

    // MARK: Values

    /// Whether the value has no fraction.
    var isIntegral: Bool {
        switch exponent {
        case .small(let exponent): isZero || exponent >= 0
        case .big(let text): text.first != JSONByte.minus
        }
    }

    /// The value if it is integral and fits.
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
                ? shifted.subtractingReportingOverflow(I(digit)) : shifted.addingReportingOverflow(I(digit))
            value = next
            fits = !tooBig && !tooBigToo
            return fits
        }
        forEachDigit(push)
        for _ in 0 ..< exponent where fits { _ = push(0) }
        return fits ? value : nil
    }

    /// The nearest Double, infinite beyond its range.
    func double() -> Double {
        guard !isZero else { return isNegative ? -0.0 : 0 }
        guard case .small(let exponent) = exponent, digitCount <= 15, abs(exponent) <= 22 else {
            return unsafe Double(String(decoding: bytes, as: UTF8.self)) ?? .nan
        }
        // Both operands are exact, so the one rounding of the operation is the right one (Clinger 1990).
        var mantissa: Int64 = 0
        forEachDigit { digit in
            mantissa = mantissa * 10 + Int64(digit)
            return true
        }
        let power = Self.powerOfTen(abs(exponent))
        let value = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
        return isNegative ? -value : value
    }

    @inline(__always)
    private static func powerOfTen(_ exponent: Int) -> Double {
        var power = 1.0
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
            if unsafe other.bytes[index] == JSONByte.point { index += 1 }
            same = unsafe other.bytes[index] &- JSONByte.zero == digit
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
