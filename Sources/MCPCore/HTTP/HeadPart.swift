/// A run of bytes of a message head. `start` is 0 where there is none: the start line stands there.
struct HeadPart: Sendable, Hashable {
    private var start: UInt32 = 0
    private var count: UInt32 = 0

    init() {}

    /// Offsets fit into 32 bits: see `HeadScanner`.
    @inline(__always)
    init(_ range: Range<Int>) {
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.count)
    }

    var isPresent: Bool { @inline(__always) get { start != 0 } }

    // Small: from narrower unsigned numbers.
    var range: Range<Int> { @inline(__always) get { Int(start) ..< Int(start) + Int(count) } }
}
