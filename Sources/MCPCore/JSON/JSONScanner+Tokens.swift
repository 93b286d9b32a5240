/// The position of a string's content in the scanned text, without its quotes.
struct JSONStringToken {
    let start: Int
    let end: Int
    let hasEscapes: Bool
    /// Whether the content is known to be ASCII.
    let isASCII: Bool

    /// The content as a range of offsets.
    var content: Range<Int> { @inline(__always) get { start ..< end } }
    /// The string with its quotes as a range of offsets.
    var quoted: Range<Int> { @inline(__always) get { start - 1 ..< end + 1 } }
}

/// Methods that skip single tokens. They receive and return offsets, so that loops keep them in registers.
extension JSONScanner {
    @inline(__always)
    func afterWhitespace(_ start: Int) -> Int {
        var index = start
        while index < end {
            let byte = unsafe base[index]
            if byte > 0x20 { break }
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
            index += 1
        }
        return index
    }

    @inline(__always)
    func afterKey(_ start: Int) throws(JSONError) -> Int {
        guard byte(start) == ASCII.quote else { throw unexpected(at: start) }
        let colon = afterWhitespace(try afterString(start))
        guard byte(colon) == ASCII.colon else { throw unexpected(at: colon) }
        return colon + 1
    }

    /// Returns the offset after the string whose opening quote is at `start`.
    @inline(__always)
    func afterString(_ start: Int) throws(JSONError) -> Int {
        let stop = unsafe JSONBytes.plainEnd(base, start + 1, end)
        if byte(stop) == ASCII.quote { return stop + 1 }
        var hasEscapes = false
        return try stringEnd(from: stop, &hasEscapes) + 1
    }

    /// Returns the string whose opening quote is at `start`.
    @inline(__always)
    func stringToken(at start: Int) throws(JSONError) -> JSONStringToken {
        let stop = unsafe JSONBytes.plainEnd(base, start + 1, end)
        if byte(stop) == ASCII.quote {
            return JSONStringToken(start: start + 1, end: stop, hasEscapes: false, isASCII: true)
        }
        var hasEscapes = false
        let end = try stringEnd(from: stop, &hasEscapes)
        return JSONStringToken(start: start + 1, end: end, hasEscapes: hasEscapes, isASCII: false)
    }

    /// Returns the offset of the closing quote of a string that is plain up to `start`.
    @inline(never)
    private func stringEnd(from start: Int, _ hasEscapes: inout Bool) throws(JSONError) -> Int {
        var index = start
        while index < end {
            let byte = unsafe base[index]
            if byte == ASCII.quote { return index }
            if byte >= 0x80 {
                index = unsafe JSONBytes.afterNonASCII(base, index, end)
                if index < 0 { throw JSONError(.invalidUTF8, offset: -1 - index) }
            } else if byte == ASCII.backslash {
                hasEscapes = true
                index = try afterEscape(index)
            } else if byte < 0x20 {
                throw JSONError(.controlCharacter, offset: index)
            }
            index = unsafe JSONBytes.plainEnd(base, index, end)
        }
        throw JSONError(.unexpectedEnd, offset: end)
    }

    @inline(__always)
    private func afterEscape(_ start: Int) throws(JSONError) -> Int {
        switch byte(start + 1) {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return start + 2
        case 0x75: break
        default: throw invalidEscape(at: start)
        }
        guard let unit = hexUnit(at: start + 2) else { throw invalidEscape(at: start) }
        guard unit & 0xF800 == 0xD800 else { return start + 6 }
        // RFC 8259 section 8.2 leaves the treatment of unpaired surrogates open. No Swift string can contain
        // one, so they are refused.
        guard unit < 0xDC00, byte(start + 6) == ASCII.backslash, byte(start + 7) == 0x75,
            let low = hexUnit(at: start + 8), low & 0xFC00 == 0xDC00
        else { throw JSONError(.loneSurrogate, offset: start) }
        return start + 12
    }

    /// Returns the value of the four hexadecimal digits at `start`, or nil.
    @inline(__always)
    func hexUnit(at start: Int) -> UInt32? {
        var unit: UInt32 = 0
        for index in start ..< start + 4 {
            guard let digit = ASCII.hexValue(byte(index)) else { return nil }
            unit = unit << 4 | UInt32(truncatingIfNeeded: digit)
        }
        return unit
    }

    /// Returns the offset after a number of any length: `[ "-" ] int [ frac ] [ exp ]` (RFC 8259 section 6).
    @inline(__always)
    func afterNumber(_ start: Int) throws(JSONError) -> Int {
        var index = start
        if byte(index) == ASCII.minus { index += 1 }
        let first = byte(index)
        guard ASCII.isDigit(first) else { throw noNumber(from: start, at: index) }
        index += 1
        if first == ASCII.zero {
            if ASCII.isDigit(byte(index)) { throw JSONError(.invalidNumber, offset: start) }
        } else {
            index = afterDigits(index)
        }
        if byte(index) == ASCII.point {
            guard ASCII.isDigit(byte(index + 1)) else { throw noNumber(from: start, at: index + 1) }
            index = afterDigits(index + 2)
        }
        if byte(index) | 0x20 == 0x65 {
            index += 1
            let sign = byte(index)
            if sign == ASCII.plus || sign == ASCII.minus { index += 1 }
            guard ASCII.isDigit(byte(index)) else { throw noNumber(from: start, at: index) }
            index = afterDigits(index + 1)
        }
        return index
    }

    @inline(__always)
    private func afterDigits(_ start: Int) -> Int {
        var index = start
        while index < end, ASCII.isDigit(unsafe base[index]) { index += 1 }
        return index
    }

    /// Returns the offset after the literal at `start`, which is a `t`, an `f` or an `n`.
    @inline(__always)
    func afterLiteral(_ start: Int) throws(JSONError) -> Int {
        let isFalse = unsafe base[start] == 0x66
        let word = isFalse ? start + 1 : start
        if word + 4 <= end {
            let bytes = UInt32(
                littleEndian: unsafe UnsafeRawPointer(base + word).loadUnaligned(as: UInt32.self))
            // "true", "alse" and "null" as little-endian words.
            if isFalse ? bytes == 0x6573_6C61 : bytes == 0x6575_7274 || bytes == 0x6C6C_756E {
                return word + 4
            }
        }
        throw badLiteral(at: start)
    }
}

/// Errors at an offset, kept off the fast path.
extension JSONScanner {
    @inline(never)
    func unexpected(at index: Int) -> JSONError {
        guard index < end else { return JSONError(.unexpectedEnd, offset: end) }
        if index == 0, end >= 3, unsafe base[0] == 0xEF, unsafe base[1] == 0xBB, unsafe base[2] == 0xBF {
            return JSONError(.byteOrderMark, offset: 0)
        }
        return JSONError(.unexpectedCharacter(unsafe base[index]), offset: index)
    }

    @inline(never)
    func tooDeep(at index: Int) -> JSONError { JSONError(.depthExceeded(maxDepth), offset: index) }

    @inline(never)
    private func noNumber(from start: Int, at index: Int) -> JSONError {
        guard index > start, index < end else { return unexpected(at: index) }
        return JSONError(.invalidNumber, offset: start)
    }

    @inline(never)
    private func invalidEscape(at start: Int) -> JSONError {
        var last = start + 1
        if byte(last) == 0x75 {
            last += 1
            while last < start + 6, ASCII.hexValue(byte(last)) != nil { last += 1 }
        }
        return last < end ? JSONError(.invalidEscape, offset: start) : JSONError(.unexpectedEnd, offset: end)
    }

    @inline(never)
    private func badLiteral(at start: Int) -> JSONError {
        let word: [UInt8] =
            switch byte(start) {
            case 0x74: Array("true".utf8)
            case 0x66: Array("false".utf8)
            default: Array("null".utf8)
            }
        var index = start
        while index - start < word.count, byte(index) == word[index - start] { index += 1 }
        return unexpected(at: index)
    }
}
