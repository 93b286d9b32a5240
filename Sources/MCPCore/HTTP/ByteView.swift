/// The bytes of a message that is being parsed, with checked loads and the searches that a parser needs.
///
/// This type contains all unsafe code of the parsers.
@safe struct ByteView {
    // SAFETY: a view exists only during the call that received the memory; every load is checked against
    // `count`.
    private let base: UnsafePointer<UInt8>
    let count: Int

    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        if let start = bytes.baseAddress {
            unsafe base = start
            count = bytes.count
        } else {
            unsafe base = UnsafePointer(ByteStorage.empty.base)
            count = 0
        }
    }

    /// Creates a view of the first `count` bytes of another one, or of all its bytes if there are fewer.
    @inline(__always)
    init(_ view: ByteView, first count: Int) {
        unsafe base = view.base
        self.count = min(view.count, max(0, count))
    }

    subscript(index: Int) -> UInt8 {
        @inline(__always) get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "index out of range")
            return unsafe base[index]
        }
    }

    /// The bytes at `range` as unsafe memory, valid for the lifetime of the view.
    @inline(__always)
    subscript(range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range out of bounds")
        return unsafe UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// Returns the 8 bytes at `index`, with the first one in the lowest bits.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        precondition(index >= 0 && index <= count - 8, "index out of range")
        return unsafe UInt64(littleEndian: UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self))
    }

    /// Returns the 4 bytes at `index`, with the first one in the lowest bits.
    @inline(__always)
    func halfWord(at index: Int) -> UInt32 {
        precondition(index >= 0 && index <= count - 4, "index out of range")
        return unsafe UInt32(littleEndian: UnsafeRawPointer(base + index).loadUnaligned(as: UInt32.self))
    }

    /// Returns the offset of the first line feed at or after `start`, or nil.
    @inline(__always)
    func firstLineFeed(from start: Int) -> Int? {
        guard start < count else { return nil }
        return unsafe firstOffset(of: ASCII.lf, in: base + start, count: count - start).map { $0 + start }
    }

    /// Returns the offset of the first colon at or after `start`, or `count`.
    @inline(__always)
    func firstColon(from start: Int) -> Int {
        var index = start
        while index <= count - 16 {
            let hits = load16(index) .== SIMD16<UInt8>(repeating: ASCII.colon)
            if let lane = Self.firstLane(hits) { return index + lane }
            index += 16
        }
        while index < count, self[index] != ASCII.colon { index += 1 }
        return index
    }

    /// Returns the offset of the first byte at or after `start` that a field value cannot contain (a control
    /// character other than tab), or `count`.
    @inline(__always)
    func firstControl(from start: Int) -> Int {
        var index = start
        while index <= count - 16 {
            let bytes = load16(index)
            let low = bytes .< SIMD16<UInt8>(repeating: 0x20)
            let hits = low .| (bytes .== SIMD16<UInt8>(repeating: 0x7F))
            guard let lane = Self.firstLane(hits) else {
                index += 16
                continue
            }
            index += lane
            if self[index] != ASCII.tab { return index }
            index += 1
        }
        while index < count {
            let byte = self[index]
            if byte < 0x20 && byte != ASCII.tab || byte == 0x7F { return index }
            index += 1
        }
        return index
    }

    @inline(__always)
    private func load16(_ index: Int) -> SIMD16<UInt8> {
        precondition(index >= 0 && index <= count - 16, "index out of range")
        return unsafe UnsafeRawPointer(base + index).loadUnaligned(as: SIMD16<UInt8>.self)
    }

    @inline(__always)
    private static func firstLane(_ mask: SIMDMask<SIMD16<Int8>>) -> Int? {
        let words = unsafe unsafeBitCast(mask, to: SIMD2<UInt64>.self)
        if words[0] != 0 { return UInt64(littleEndian: words[0]).trailingZeroBitCount &>> 3 }
        if words[1] != 0 { return 8 + UInt64(littleEndian: words[1]).trailingZeroBitCount &>> 3 }
        return nil
    }

    // MARK: Comparing

    /// Whether the bytes at `range` equal `name` when the case of letters is ignored; for `name`, see
    /// `hasName`.
    @inline(__always)
    func equals(_ range: Range<Int>, _ name: StaticString) -> Bool {
        range.count == name.utf8CodeUnitCount && hasName(name, at: range.lowerBound)
    }

    /// Whether the bytes at `range` equal `literal` exactly.
    @inline(__always)
    func equalsExactly(_ range: Range<Int>, _ literal: StaticString) -> Bool {
        guard range.count == literal.utf8CodeUnitCount, range.lowerBound >= 0, range.upperBound <= count
        else {
            return false
        }
        return unsafe memoryEquals(base + range.lowerBound, literal.utf8Start, range.count)
    }

    /// Whether the bytes at `start` equal `name` when the case of letters is ignored.
    ///
    /// `name` must be a literal of at least 4 lower-case letters, digits, hyphens, dots and slashes.
    @inline(__always)
    func hasName(_ name: StaticString, at start: Int) -> Bool {
        let length = name.utf8CodeUnitCount
        guard start <= count - length else { return false }
        let literal = unsafe UnsafeRawPointer(name.utf8Start)
        // A letter has bit 0x40 and its case is bit 0x20; the other characters must match exactly.
        if length < 8 {
            return unsafe hasFour(literal, at: start)
                && hasFour(literal + (length - 4), at: start + length - 4)
        }
        var offset = 0
        while true {
            let wanted = unsafe UInt64(
                littleEndian: literal.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let fold = (wanted & 0x4040_4040_4040_4040) &>> 1
            if word(at: start + offset) | fold != wanted { return false }
            if offset == length - 8 { return true }
            offset = min(offset + 8, length - 8)
        }
    }

    @inline(__always)
    private func hasFour(_ literal: UnsafeRawPointer, at start: Int) -> Bool {
        let wanted = unsafe UInt32(littleEndian: literal.loadUnaligned(as: UInt32.self))
        return halfWord(at: start) | (wanted & 0x4040_4040) &>> 1 == wanted
    }
}
