/// A strict cursor over one JSON text (RFC 8259); JSON is read nowhere else.
///
/// The scanner allocates nothing and does not recurse: 128 bits record which of the open containers are
/// objects. Everything it passes over is validated: the grammar, the UTF-8 of strings, escapes and
/// surrogates, and the depth. The text may end where the allocation ends.
@safe struct JSONScanner {
    // SAFETY: the caller keeps the memory alive and unchanged while it uses the scanner; every load is at an
    // offset that was previously compared with `end`.
    let base: UnsafePointer<UInt8>
    let end: Int
    let maxDepth: Int
    /// The offset of the next byte to read.
    var position: Int

    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits = JSONLimits()) {
        if let base = bytes.baseAddress {
            unsafe self.base = base
        } else {
            unsafe base = UnsafePointer(ByteStorage.empty.base)
        }
        end = bytes.count
        maxDepth = limits.maxDepth
        position = 0
    }

    /// The next byte, or 0 at the end; a NUL in the text is never valid where this is used.
    var peek: UInt8 { @inline(__always) get { byte(position) } }

    @inline(__always)
    func byte(_ index: Int) -> UInt8 { index < end ? unsafe base[index] : 0 }

    // MARK: Steps

    /// Skips space, tab, LF and CR.
    @inline(__always)
    mutating func skipWhitespace() { position = afterWhitespace(position) }

    /// Skips `wanted`, which must be the next byte.
    @inline(__always)
    mutating func expect(_ wanted: UInt8) throws(JSONError) {
        guard byte(position) == wanted else { throw unexpected(at: position) }
        position += 1
    }

    /// Checks that only whitespace remains.
    mutating func finish() throws(JSONError) {
        skipWhitespace()
        guard position >= end else { throw JSONError(.trailingContent, offset: position) }
    }

    /// Skips whitespace, a member's name, and the colon with the whitespace on both sides of it; returns the
    /// name.
    @inline(__always)
    mutating func scanKey() throws(JSONError) -> JSONStringToken {
        skipWhitespace()
        let token = try scanString()
        skipWhitespace()
        try expect(ASCII.colon)
        skipWhitespace()
        return token
    }

    /// Skips a string and returns the position of its content.
    @inline(__always)
    mutating func scanString() throws(JSONError) -> JSONStringToken {
        guard byte(position) == ASCII.quote else { throw unexpected(at: position) }
        let token = try stringToken(at: position)
        position = token.end + 1
        return token
    }

    /// Skips a number and returns its position.
    @inline(__always)
    mutating func scanNumber() throws(JSONError) -> Range<Int> {
        let start = position
        position = try afterNumber(start)
        return start ..< position
    }

    /// Skips one value of any kind and the whitespace before it.
    ///
    /// - Parameter depth: the number of open containers around it.
    @inline(__always)
    mutating func scanValue(depth: Int) throws(JSONError) {
        position = try afterValue(position, depth: depth)
    }

    /// Returns the offset after the value that begins at `start` or after the whitespace there.
    func afterValue(_ start: Int, depth: Int) throws(JSONError) -> Int {
        var index = start
        var open = 0
        var objects: UInt128 = 0
        let room = maxDepth - depth
        while true {
            index = afterWhitespace(index)
            switch byte(index) {
            case ASCII.quote:
                index = try afterString(index)
            case ASCII.openBrace:
                guard open < room else { throw tooDeep(at: index) }
                index = afterWhitespace(index + 1)
                if byte(index) == ASCII.closeBrace {
                    index += 1
                } else {
                    index = try afterKey(index)
                    open += 1
                    objects = objects << 1 | 1
                    continue
                }
            case ASCII.openBracket:
                guard open < room else { throw tooDeep(at: index) }
                index = afterWhitespace(index + 1)
                if byte(index) == ASCII.closeBracket {
                    index += 1
                } else {
                    open += 1
                    objects = objects << 1
                    continue
                }
            case 0x74, 0x66, 0x6E:
                index = try afterLiteral(index)
            default:
                index = try afterNumber(index)
            }
            guard try closeContainers(&index, &open, &objects) else { return index }
        }
    }

    /// Skips closing brackets after a value inside containers, then a comma and a key.
    ///
    /// - Returns: whether another value must follow; otherwise the outermost container is closed.
    @inline(__always)
    private func closeContainers(
        _ index: inout Int, _ open: inout Int, _ objects: inout UInt128
    ) throws(JSONError) -> Bool {
        while open > 0 {
            index = afterWhitespace(index)
            let next = byte(index)
            let inObject = objects & 1 == 1
            if next == ASCII.comma {
                index += 1
                if inObject { index = try afterKey(afterWhitespace(index)) }
                return true
            }
            guard next == (inObject ? ASCII.closeBrace : ASCII.closeBracket) else {
                throw unexpected(at: index)
            }
            index += 1
            open -= 1
            objects >>= 1
        }
        return false
    }
}
