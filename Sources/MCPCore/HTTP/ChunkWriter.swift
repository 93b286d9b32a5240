/// A writer for the chunks of a body (RFC 9112, section 7.1).
enum ChunkWriter {
    /// Begins a chunk, whose data the caller appends next; returns its position for `end`.
    ///
    /// The size has a fixed width with leading zeros, which the grammar allows, so that the data never moves.
    static func begin(in buffer: inout ByteBuffer) -> Int {
        let start = buffer.count
        buffer.append("00000000\r\n")
        return start
    }

    /// Ends the chunk that `begin` began at `start`. An empty chunk is removed, because it would end the
    /// body.
    static func end(_ start: Int, in buffer: inout ByteBuffer) {
        let size = buffer.count - start - 10
        // Small: a constant.
        precondition(size >= 0 && size <= Int(UInt32.max), "chunk out of range")
        guard size > 0 else { return buffer.truncate(to: start) }
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 8) { digits in
            // Small: eight digits.
            for place in 0 ..< 8 { unsafe digits[place] = Hex.digit(UInt8(size >> (28 - 4 * place) & 0xF)) }
            unsafe buffer.overwrite(at: start, with: UnsafeBufferPointer(digits))
        }
        buffer.append("\r\n")
    }

    /// Appends `data` as one chunk, or nothing if it is empty.
    static func write(_ data: ByteSlice, to buffer: inout ByteBuffer) {
        let start = begin(in: &buffer)
        buffer.append(data)
        end(start, in: &buffer)
    }

    /// Ends the body.
    static func writeLast(to buffer: inout ByteBuffer) { buffer.append("0\r\n\r\n") }
}
