/// A framer that splits a byte stream into lines, searches only new bytes, and skips lines that are too long.
///
/// A line longer than the limit is reported as soon as it is, dropped up to its newline, in constant memory,
/// and reported again at its end.
package struct LineFramer: ~Copyable {
    /// The result of `next`.
    package enum Line {
        /// One line, without its newline and without a carriage return before it.
        case line(ByteSlice)
        /// A line is longer than the limit and is being dropped; its beginning.
        case tooLong(ByteSlice)
        /// The line that was too long has ended; its last bytes. None of one that has several times the
        /// limit, whose end nobody waits for.
        case dropped(ByteSlice)
        /// There is no complete line yet.
        case needMore
    }

    private(set) var buffer = ByteBuffer()
    private var searched = 0
    private var isSkipping = false
    /// The bytes of the line that were dropped; nil once it is given up.
    private var dropped: Int? = 0
    /// The part of a line, in limits, after which its end is not waited for.
    private static let longestWait = 4
    let maxBytes: Int

    /// Creates a framer with an empty buffer.
    package init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// The number of bytes that have arrived and are not yet part of a returned line.
    package var pendingBytes: Int { buffer.count }

    /// The size of the block that it holds.
    var capacity: Int { buffer.capacity }

    /// Makes room for at least `count` bytes and lets `body` read into it; returns the result of `body`.
    package mutating func fill<E: Error>(
        reserving count: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) throws(E) -> Int
    ) throws(E) -> Int {
        // A block for whole lines is exactly as large as its owner may keep.
        if buffer.isEmpty { buffer.reserve(exactly: count) } else { buffer.reserve(count) }
        return unsafe try buffer.fill(body)
    }

    mutating func append(_ bytes: ByteSlice) { buffer.append(bytes) }

    /// Removes and returns the next line.
    package mutating func next() -> Line {
        let found = unsafe buffer.withBytes { bytes -> Int? in
            guard let start = bytes.baseAddress, bytes.count > searched else { return nil }
            return unsafe firstOffset(of: 0x0A, in: start + searched, count: bytes.count - searched)
        }
        guard let found else { return withoutNewline() }
        let length = searched + found
        searched = 0
        if isSkipping {
            isSkipping = false
            let tail = buffer.slice(max(0, length - LongMessage.tailBytes) ..< length)
            buffer.consume(length + 1)
            return dropped == nil ? next() : .dropped(tail)
        }
        if length > maxBytes { return tooLong(length) }
        let end = length > 0 && buffer[length - 1] == 0x0D ? length - 1 : length
        let line = buffer.slice(0 ..< end)
        buffer.consume(length + 1)
        return .line(line)
    }

    private mutating func withoutNewline() -> Line {
        if isSkipping {
            dropAllButTail(of: buffer.count)
        } else if buffer.count > maxBytes {
            return tooLong(buffer.count)
        }
        searched = buffer.count
        guard isSkipping, let dropped, dropped / Self.longestWait > maxBytes else { return .needMore }
        self.dropped = nil
        return .dropped(ByteSlice(""))
    }

    /// Begins to drop a line, `length` bytes of which are here.
    private mutating func tooLong(_ length: Int) -> Line {
        isSkipping = true
        dropped = 0
        searched = 0
        let head = buffer.slice(0 ..< min(length, LongMessage.headBytes))
        dropAllButTail(of: length)
        // Not in the block of the line, which is large.
        let rest = buffer.slice(0 ..< buffer.count).copy()
        buffer = ByteBuffer()
        buffer.append(rest)
        return .tooLong(head)
    }

    private mutating func dropAllButTail(of length: Int) {
        let excess = max(0, length - LongMessage.tailBytes)
        buffer.consume(excess)
        dropped? += excess
    }

    /// Returns the bytes after the last newline, at the end of the stream.
    mutating func rest() -> ByteSlice? {
        guard !isSkipping, !buffer.isEmpty, buffer.count <= maxBytes else { return nil }
        let line = buffer.slice(0 ..< buffer.count)
        buffer.consume(buffer.count)
        searched = 0
        return line
    }

    /// Releases the block if it is idle and larger than `limit`.
    mutating func shrink(keeping limit: Int) {
        if buffer.isEmpty { buffer.removeAll(keeping: limit) }
    }
}
