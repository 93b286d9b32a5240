/// A growable sequence of bytes that is written at its end, and read and consumed at its start.
///
/// A buffer has one owner. `slice(_:)` returns parts of it without copying. A slice stays valid whatever
/// happens to the buffer later, because a block with other references is replaced, never overwritten.
struct ByteBuffer: ~Copyable {
    private var storage: ByteStorage
    private var start = 0
    private var end = 0

    init() { storage = .empty }

    init(capacity: Int) { storage = ByteStorage(capacity: capacity) }

    /// The number of bytes written and not yet consumed.
    var count: Int { @inline(__always) get { end - start } }

    var isEmpty: Bool { @inline(__always) get { end == start } }

    /// The number of bytes that can be written before the buffer has to grow.
    var room: Int { @inline(__always) get { storage.capacity - end } }

    var capacity: Int { storage.capacity }

    // MARK: Reading

    @inline(__always)
    func withBytes<R, E: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R) throws(E) -> R {
        unsafe try body(UnsafeBufferPointer(start: storage.base + start, count: end - start))
    }

    subscript(offset: Int) -> UInt8 {
        @inline(__always) get {
            precondition(offset >= 0 && offset < count, "index out of range")
            return unsafe storage.base[start + offset]
        }
    }

    /// Returns the bytes at `range` (offsets from the first unconsumed byte) without copying.
    @inline(__always)
    func slice(_ range: Range<Int>) -> ByteSlice {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "slice out of range")
        return ByteSlice(storage: storage, start: start + range.lowerBound, count: range.count)
    }

    /// Removes `count` bytes at the start.
    @inline(__always)
    mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "consume out of range")
        start += count
    }

    // MARK: Writing

    /// Makes room for `count` more bytes at the end, moving or growing as needed.
    @inline(__always)
    mutating func reserve(_ count: Int) {
        if room < count { makeRoom(count) }
    }

    /// Makes room for content of known length: a replacement block is no larger than needed.
    mutating func reserve(exactly count: Int) {
        if room < count { makeRoom(count, isExact: true) }
    }

    private mutating func makeRoom(_ needed: Int, isExact: Bool = false) {
        let unread = count
        if start > 0, storage.capacity >= 2 * unread, storage.capacity - unread >= needed,
            isKnownUniquelyReferenced(&storage)
        {
            unsafe storage.base.update(from: storage.base + start, count: unread)
        } else {
            // Long content is usually followed by a little more, which must not double the block.
            let capacity = isExact ? 0 : Swift.max(256, 2 * unread, unread + needed + needed / 16)
            let room = Swift.max(capacity, unread + needed)
            if start == 0, 2 * unread >= storage.capacity, isKnownUniquelyReferenced(&storage) {
                storage = storage.grown(to: room)
            } else {
                let block = ByteStorage(capacity: room)
                unsafe block.base.update(from: storage.base + start, count: unread)
                storage = block
            }
        }
        start = 0
        end = unread
    }

    /// Lets `body` write up to `room` bytes at the end; `body` returns the number of bytes written.
    @inline(__always)
    mutating func fill<E: Error>(
        _ body: (UnsafeMutableBufferPointer<UInt8>) throws(E) -> Int
    ) throws(E) -> Int {
        let written = unsafe try body(UnsafeMutableBufferPointer(start: storage.base + end, count: room))
        precondition(written >= 0 && written <= room, "fill wrote out of range")
        end += written
        return written
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe storage.base[end] = byte
        end += 1
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count)
        unsafe (storage.base + end).update(from: source, count: bytes.count)
        end += bytes.count
    }

    @inline(__always)
    mutating func append(_ slice: ByteSlice) {
        unsafe append(UnsafeBufferPointer(start: slice.base, count: slice.count))
        withExtendedLifetime(slice.storage) {}
    }

    @inline(__always)
    mutating func append(_ literal: StaticString) {
        unsafe append(UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    mutating func append(utf8 string: String) {
        var string = string
        string.withUTF8 { unsafe append($0) }
    }

    /// Appends a number in decimal digits.
    mutating func append(decimal number: Int) {
        if number < 0 { append(0x2D) }
        var rest = number.magnitude
        var digits = 1
        var power: UInt = 10
        while digits < 20, rest >= power {
            digits += 1
            let (next, overflow) = power.multipliedReportingOverflow(by: 10)
            if overflow { break }
            power = next
        }
        reserve(digits)
        var place = end + digits
        repeat {
            place -= 1
            unsafe storage.base[place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while place > end
        end += digits
    }

    /// Overwrites bytes that were already written, at `offset` from the first unconsumed byte.
    ///
    /// Use this only for a gap that was reserved and is not yet part of a slice.
    mutating func overwrite(at offset: Int, with bytes: UnsafeBufferPointer<UInt8>) {
        precondition(offset >= 0 && offset + bytes.count <= count, "overwrite out of range")
        guard let source = bytes.baseAddress else { return }
        unsafe (storage.base + start + offset).update(from: source, count: bytes.count)
    }

    /// Drops everything after the first `count` bytes. The dropped bytes must not be part of a slice yet.
    mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count, "truncate out of range")
        end = start + count
    }

    /// Discards the content, but keeps the block if it has no other references and is at most `keeping` bytes
    /// long.
    @inline(__always)
    mutating func removeAll(keeping limit: Int = .max) {
        if storage.capacity > limit || !isKnownUniquelyReferenced(&storage) { storage = .empty }
        start = 0
        end = 0
    }

    /// Returns the whole content as a slice and consumes the buffer.
    consuming func freeze() -> ByteSlice {
        ByteSlice(storage: storage, start: start, count: end - start)
    }
}
