/// A set of Unicode scalars, for a character class of a regular expression.
struct ScalarSet: Sendable, Hashable {
    private var ranges: [ClosedRange<UInt32>] = []
    private var properties: [ScalarProperty] = []
    private var isNegated = false
    /// The precomputed membership of U+0000 to U+007F, set by `finished()`.
    private var ascii = SIMD2<UInt64>()

    init() {}

    init(_ ranges: ClosedRange<UInt32>...) { self.ranges = ranges }

    mutating func insert(_ range: ClosedRange<UInt32>) { ranges.append(range) }

    mutating func insert(_ property: ScalarProperty) { properties.append(property) }

    /// Adds all members of one of the predefined classes.
    mutating func formUnion(_ other: ScalarSet) {
        ranges += other.isNegated ? Self.complement(of: other.ranges) : other.ranges
        properties += other.properties
    }

    func inverted() -> ScalarSet {
        var set = self
        set.isNegated.toggle()
        return set
    }

    /// Returns the set in the form that `contains` needs: ranges sorted and merged, ASCII precomputed.
    func finished() -> ScalarSet {
        var set = self
        set.ranges = Self.merged(ranges)
        set.ascii = SIMD2()
        for value in 0 ..< UInt32(128) where set.isMember(value) {
            // Small: below 128.
            set.ascii[Int(value >> 6)] |= 1 << UInt64(value & 63)
        }
        return set
    }

    /// Whether a scalar belongs to the set; call only after `finished()`.
    @inline(__always)
    func contains(_ value: UInt32) -> Bool {
        // Small: below 64.
        if value < 64 { return ascii.x & (1 << UInt64(value)) != 0 }
        if value < 128 { return ascii.y & (1 << UInt64(value & 63)) != 0 }
        return isMember(value)
    }

    private func isMember(_ value: UInt32) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        if low < ranges.count, ranges[low].lowerBound <= value { return !isNegated }
        guard !properties.isEmpty, let scalar = Unicode.Scalar(value) else { return isNegated }
        return properties.contains { $0.contains(scalar) } != isNegated
    }

    private static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, range.lowerBound <= last.upperBound &+ 1 {
                result[result.count - 1] = last.lowerBound ... max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }

    private static func complement(of ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in merged(ranges) {
            if range.lowerBound > next { result.append(next ... range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= 0x10FFFF { result.append(next ... 0x10FFFF) }
        return result
    }
}

extension ScalarSet {
    /// `\d`
    static let digits = ScalarSet(0x30 ... 0x39)
    /// `\w`: ASCII only, as in ECMA-262.
    static let word = ScalarSet(0x30 ... 0x39, 0x41 ... 0x5A, 0x5F ... 0x5F, 0x61 ... 0x7A).finished()
    /// `\s`: WhiteSpace and LineTerminator of ECMA-262.
    static let space = ScalarSet(
        0x09 ... 0x0D, 0x20 ... 0x20, 0xA0 ... 0xA0, 0x1680 ... 0x1680, 0x2000 ... 0x200A, 0x2028 ... 0x2029,
        0x202F ... 0x202F, 0x205F ... 0x205F, 0x3000 ... 0x3000, 0xFEFF ... 0xFEFF)
    /// `.`: everything except a LineTerminator.
    static let notLineEnd = ScalarSet(0x0A ... 0x0A, 0x0D ... 0x0D, 0x2028 ... 0x2029).inverted()
    static let everything = ScalarSet(0 ... 0x10FFFF)
}
