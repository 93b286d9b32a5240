/// The position of one field line in its head.
struct FieldLine {
    var name: Range<Int>
    /// The value without surrounding whitespace.
    var value: Range<Int>
    /// The offset after its CR LF.
    var end: Int
}

extension ByteView {
    /// Checks that the bytes at `range` can be part of the name of the field line that begins at `lineStart`.
    func checkFieldName(_ range: Range<Int>, lineStart: Int) throws(HTTPError) {
        for index in range {
            let byte = self[index]
            if ASCII.isToken(byte) { continue }
            switch byte {
            // RFC 9112, section 5.2: folding is refused, not unfolded.
            case ASCII.space, ASCII.tab: throw index == lineStart ? .lineFolding : .spaceBeforeColon
            case ASCII.lf: throw .bareLineFeed
            default: throw .malformedFieldName
            }
        }
        // The line begins with a colon, so the name is empty.
        if range.isEmpty, range.lowerBound == lineStart, lineStart < count { throw .malformedFieldName }
    }

    /// Returns the offset of the CR LF that ends the value containing `start`, or nil while the line is
    /// incomplete.
    @inline(__always)
    func fieldEnd(from start: Int) throws(HTTPError) -> Int? {
        let stop = firstControl(from: start)
        guard stop < count else { return nil }
        guard self[stop] == ASCII.cr else { throw self[stop] == ASCII.lf ? .bareLineFeed : .controlCharacter }
        guard stop + 1 < count else { return nil }
        guard self[stop + 1] == ASCII.lf else { throw .bareCarriageReturn }
        return stop
    }
}

/// A range of bytes in a message head. A `start` of 0 means that the part is absent, since the start line is
/// at 0.
struct HeadPart: Sendable, Hashable {
    private var start: UInt32 = 0
    private var count: UInt32 = 0

    init() {}

    /// Creates a part from a range, whose offsets fit into 32 bits (see `HeadScanner`).
    @inline(__always)
    init(_ range: Range<Int>) {
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.count)
    }

    var isPresent: Bool { @inline(__always) get { start != 0 } }

    // Small: converted from narrower unsigned numbers.
    var range: Range<Int> { @inline(__always) get { Int(start) ..< Int(start) + Int(count) } }
}
