/// A scanner for the lines of a message head that arrives in pieces.
///
/// The scanner continues where it stopped, so that a peer that sends one byte at a time causes only linear
/// cost. Faults are found in the order of the bytes, and bytes beyond a limit are never examined, so the
/// result is the same however the input is split.
struct HeadScanner: Sendable {
    private let maxLine: Int
    private let maxHeader: Int
    private let maxFields: Int

    /// The start of the line that is being read.
    private(set) var lineStart = 0
    /// The offset up to which that line has been checked.
    private var searched = 0
    /// The offset of the colon of the field line that is being read; 0 until the colon has arrived.
    private var colon = 0
    /// The end of the start line; 0 while the line is incomplete.
    private var fieldsStart = 0
    private var fieldCount = 0
    /// Whether the empty line before this head is gone already.
    private var isEmptyLineGone = false

    init(_ limits: HTTPLimits) {
        // Offsets in a head are 32 bits wide; a head never needs to be a gigabyte long.
        maxLine = min(max(limits.maxRequestLineBytes, 16), 1 << 29)
        maxHeader = min(max(limits.maxHeaderBytes, 2), 1 << 29)
        maxFields = limits.maxFields
    }

    var hasStartLine: Bool { @inline(__always) get { fieldsStart > 0 } }

    /// Starts over with a new head at `offset`.
    mutating func restart(at offset: Int = 0) {
        lineStart = offset
        searched = offset
        colon = 0
        fieldsStart = 0
        fieldCount = 0
        isEmptyLineGone = false
    }

    /// Whether an empty line was skipped, and the start line behind it is incomplete.
    var isAfterEmptyLine: Bool { !hasStartLine && lineStart == 2 }

    /// Makes an empty line before the head count as a second one, which is a fault.
    mutating func forbidEmptyLine() { isEmptyLineGone = true }

    /// Skips the empty line that some clients send before a request (RFC 9112, section 2.2).
    ///
    /// Returns false while more bytes are needed to decide.
    @inline(__always)
    mutating func skipEmptyLine(_ view: ByteView) throws(HTTPError) -> Bool {
        guard lineStart == 0, !isEmptyLineGone, view.count > 0, view[0] == ASCII.cr else { return true }
        guard view.count > 1 else { return false }
        guard view[1] == ASCII.lf else { throw .bareCarriageReturn }
        lineStart = 2
        searched = 2
        return true
    }

    /// Reads the start line with `parse`.
    ///
    /// `parse` receives the start of the line and the offset up to which the line was already checked. It
    /// returns the offset after the line, or nil while the line is incomplete, in which case this method
    /// returns false.
    @inline(__always)
    mutating func startLine(
        _ view: ByteView, parse: (ByteView, _ start: Int, _ searched: Int) throws(HTTPError) -> Int?
    ) throws(HTTPError) -> Bool {
        let limit = lineStart + maxLine + 2
        let visible = ByteView(view, first: limit)
        guard let end = try parse(visible, lineStart, searched) else {
            if visible.count == limit { throw .requestLineTooLong }
            suspend(visible)
            return false
        }
        fieldsStart = end
        lineStart = end
        searched = end
        return true
    }

    enum Step {
        case needMore
        case field(FieldLine)
        case end(Int)
    }

    /// Returns the next field line or the end of the head.
    ///
    /// `isKnown` returns whether a name is one whose characters need no check.
    @inline(__always)
    mutating func nextField(_ view: ByteView, isKnown: (Range<Int>) -> Bool) throws(HTTPError) -> Step {
        let limit = fieldsStart + maxHeader
        let visible = ByteView(view, first: limit)
        let start = lineStart
        guard start < visible.count else { return try incomplete(visible, limit) }
        if visible[start] == ASCII.cr {
            guard start + 1 < visible.count else { return try incomplete(visible, limit) }
            guard visible[start + 1] == ASCII.lf else { throw .bareCarriageReturn }
            return .end(start + 2)
        }
        guard fieldCount < maxFields else { throw .tooManyFields }
        if colon == 0 {
            let place = visible.firstColon(from: searched)
            guard place < visible.count else {
                try visible.checkFieldName(searched ..< place, lineStart: start)
                return try incomplete(visible, limit)
            }
            if !isKnown(start ..< place) { try visible.checkFieldName(start ..< place, lineStart: start) }
            colon = place
        } else {
            _ = isKnown(start ..< colon)
        }
        guard let valueEnd = try visible.fieldEnd(from: max(colon + 1, searched)) else {
            return try incomplete(visible, limit)
        }
        let line = FieldLine(
            name: start ..< colon, value: visible.trimmed(colon + 1 ..< valueEnd), end: valueEnd + 2)
        fieldCount += 1
        lineStart = line.end
        searched = line.end
        colon = 0
        return .field(line)
    }

    private mutating func incomplete(_ visible: ByteView, _ limit: Int) throws(HTTPError) -> Step {
        if visible.count == limit { throw .headersTooLarge }
        suspend(visible)
        return .needMore
    }

    /// Records how far the current line was read. The last byte is read again, since it may be a CR whose LF
    /// has not arrived.
    private mutating func suspend(_ visible: ByteView) { searched = max(lineStart, visible.count - 1) }
}
