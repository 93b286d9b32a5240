/// The contents of scanned tokens.
extension JSONScanner {
    /// Returns the bytes of a token without copying; they are valid as long as the scanned memory is.
    @inline(__always)
    func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        precondition(range.lowerBound >= 0 && range.upperBound <= end, "range outside of the text")
        return unsafe UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    /// Returns the bytes at `range`, which have been validated, as a string.
    @inline(__always)
    func string(_ range: Range<Int>, isASCII: Bool = false) -> String {
        // Text that the scanner has validated needs no second check, which would cost as much as the rest of
        // creating a short string.
        if #available(macOS 26, iOS 26, *) {
            let text = unsafe UTF8Span(unchecked: bytes(range).span, isKnownASCII: isASCII)
            return String(copying: text)
        }
        return unsafe String(decoding: bytes(range), as: UTF8.self)
    }

    /// Returns the content of a string with its escapes resolved.
    @inline(__always)
    func unescape(_ token: JSONStringToken) -> String {
        token.hasEscapes ? resolveEscapes(token) : string(token.content, isASCII: token.isASCII)
    }

    /// Whether the content of a string is `literal`, even if it is spelled with escapes.
    @inline(__always)
    func tokenEquals(_ token: JSONStringToken, _ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        if !token.hasEscapes {
            return unsafe token.content.count == count
                && memoryEquals(base + token.start, literal.utf8Start, count)
        }
        return unsafe escapedEquals(token, UnsafeBufferPointer(start: literal.utf8Start, count: count))
    }

    /// Whether the content of a string is `name`, even if it is spelled with escapes.
    @inline(__always)
    func tokenEquals(_ token: JSONStringToken, utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        if token.hasEscapes { return unsafe escapedEquals(token, name) }
        guard token.content.count == name.count else { return false }
        guard let start = name.baseAddress else { return true }
        return unsafe memoryEquals(base + token.start, start, name.count)
    }

    @inline(never)
    private func escapedEquals(_ token: JSONStringToken, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        // A byte takes up at most six characters, as in `\u0061`, so a longer token cannot be equal.
        let length = token.content.count
        // Small: six times the size of a name in memory.
        guard length > name.count, length <= 6 * name.count else { return false }
        var text = resolveEscapes(token)
        return text.withUTF8 { unsafe $0.elementsEqual(name) }
    }

    @inline(never)
    private func resolveEscapes(_ token: JSONStringToken) -> String {
        unsafe String(unsafeUninitializedCapacity: token.content.count) { target in
            var index = token.start
            var written = 0
            func put(_ byte: UInt32) {
                unsafe target[written] = UInt8(truncatingIfNeeded: byte)
                written += 1
            }
            while let start = target.baseAddress, index < token.end {
                let rest = token.end - index
                let run = unsafe firstOffset(of: ASCII.backslash, in: base + index, count: rest) ?? rest
                unsafe (start + written).update(from: base + index, count: run)
                index += run
                written += run
                guard run < rest else { break }
                let kind = self.byte(index + 1)
                index += 2
                guard kind == 0x75 else {
                    // Small: converted from a byte.
                    put(UInt32(Self.escaped(kind)))
                    continue
                }
                var scalar = hexUnit(at: index) ?? 0xFFFD
                index += 4
                if scalar & 0xFC00 == 0xD800 {
                    let low = hexUnit(at: index + 2) ?? 0xDC00
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
                    index += 6
                }
                Self.encode(scalar, put)
            }
            return written
        }
    }

    /// Returns the character that an escape represents (RFC 8259 section 7).
    @inline(__always)
    private static func escaped(_ kind: UInt8) -> UInt8 {
        switch kind {
        case 0x62: 0x08
        case 0x66: 0x0C
        case 0x6E: 0x0A
        case 0x72: 0x0D
        case 0x74: 0x09
        default: kind
        }
    }

    @inline(__always)
    private static func encode(_ scalar: UInt32, _ put: (UInt32) -> Void) {
        if scalar < 0x80 { return put(scalar) }
        if scalar < 0x800 {
            put(0xC0 | scalar >> 6)
        } else {
            if scalar < 0x10000 {
                put(0xE0 | scalar >> 12)
            } else {
                put(0xF0 | scalar >> 18)
                put(0x80 | scalar >> 12 & 0x3F)
            }
            put(0x80 | scalar >> 6 & 0x3F)
        }
        put(0x80 | scalar & 0x3F)
    }

    /// Returns a number that is the same for equal contents and differs for most different ones.
    @inline(__always)
    func fingerprint(_ range: Range<Int>) -> UInt64 {
        let count = range.count
        let start = range.lowerBound
        guard start >= 0, range.upperBound <= end else { return 0 }
        if count >= 8 {
            let head = unsafe UnsafeRawPointer(base + start).loadUnaligned(as: UInt64.self)
            let tail = unsafe UnsafeRawPointer(base + range.upperBound - 8).loadUnaligned(as: UInt64.self)
            // Small: the length of a range.
            return head &* 0x9E37_79B9_7F4A_7C15 ^ tail ^ UInt64(count) << 56
        }
        if start + 8 <= end {
            let word = UInt64(
                littleEndian: unsafe UnsafeRawPointer(base + start).loadUnaligned(as: UInt64.self))
            // Small: lengths below 8.
            return word & (1 << UInt64(8 * count) - 1) | UInt64(count) << 56
        }
        // Small: a length below 8.
        var word = UInt64(count) << 56
        // Small: a byte, and lengths below 8.
        for index in 0 ..< count { word |= UInt64(unsafe base[start + index]) << UInt64(8 * index) }
        return word
    }
}
