/// Inner loops over the bytes of strings.
enum JSONBytes {
    /// Returns the offset of the first byte at or after `start` that is a quote, a backslash, a control
    /// character or not ASCII; `end` if there is none.
    @inline(__always)
    static func plainEnd(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
        var index = start
        // Compares vectors with vectors, because a comparison with a scalar literal compiles to a loop over
        // the lanes. As signed numbers, control characters and all bytes of 0x80 and above are less than a
        // space.
        while end &- index >= 16 {
            let bytes = unsafe UnsafeRawPointer(base + index).loadUnaligned(as: SIMD16<Int8>.self)
            let hits =
                (bytes .== SIMD16<Int8>(repeating: 0x22)) .| (bytes .== SIMD16<Int8>(repeating: 0x5C))
                .| (bytes .< SIMD16<Int8>(repeating: 0x20))
            let words = unsafe unsafeBitCast(hits, to: SIMD2<UInt64>.self)
            let low = UInt64(littleEndian: words[0])
            if low != 0 { return index &+ low.trailingZeroBitCount >> 3 }
            let high = UInt64(littleEndian: words[1])
            if high != 0 { return index &+ 8 &+ high.trailingZeroBitCount >> 3 }
            index &+= 16
        }
        while index < end {
            let byte = unsafe base[index]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 || byte >= 0x80 { break }
            index &+= 1
        }
        return index
    }

    /// Returns the offset after the run of multibyte sequences at `start`, or `-1 - offset` of the first
    /// invalid one.
    ///
    /// The table of well-formed sequences is that of RFC 3629 section 4.
    @inline(__always)
    static func afterNonASCII(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
        var index = start
        while index < end {
            let lead = unsafe base[index]
            if lead < 0x80 { break }
            let left = end &- index
            if lead < 0xE0 {
                guard lead >= 0xC2, left >= 2, isContinuation(unsafe base[index &+ 1]) else {
                    return -1 - index
                }
                index &+= 2
            } else if lead < 0xF0 {
                guard left >= 3 else { return -1 - index }
                let second = unsafe base[index &+ 1]
                guard isContinuation(second), isContinuation(unsafe base[index &+ 2]),
                    lead != 0xE0 || second >= 0xA0, lead != 0xED || second < 0xA0
                else { return -1 - index }
                index &+= 3
            } else {
                guard lead <= 0xF4, left >= 4 else { return -1 - index }
                let second = unsafe base[index &+ 1]
                guard isContinuation(second), isContinuation(unsafe base[index &+ 2]),
                    isContinuation(unsafe base[index &+ 3]),
                    lead != 0xF0 || second >= 0x90, lead != 0xF4 || second < 0x90
                else { return -1 - index }
                index &+= 4
            }
        }
        return index
    }

    /// Copies valid UTF-8 up to the first byte that a JSON string must escape; returns the number of bytes
    /// copied.
    ///
    /// `target` must have room for `count` bytes; those after the returned number may be overwritten.
    @inline(__always)
    static func copyPlain(
        _ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, _ count: Int
    ) -> Int {
        if count >= 16 {
            var index = 0
            while index &+ 16 <= count {
                let plain = unsafe copyPlain16(source + index, to: target + index)
                if plain < 16 { return index &+ plain }
                index &+= 16
            }
            if index == count { return count }
            // Copies the last 16 bytes; those before the old `index` are known to be plain.
            index = count &- 16
            return unsafe index &+ copyPlain16(source + index, to: target + index)
        }
        if count >= 8 {
            let plain = unsafe copyPlain8(source, to: target)
            if plain < 8 { return plain }
            let index = count &- 8
            return unsafe index &+ copyPlain8(source + index, to: target + index)
        }
        var index = 0
        while index < count {
            let byte = unsafe source[index]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
            unsafe target[index] = byte
            index &+= 1
        }
        return index
    }

    @inline(__always)
    private static func copyPlain16(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>)
        -> Int
    {
        let bytes = unsafe UnsafeRawPointer(source).loadUnaligned(as: SIMD16<UInt8>.self)
        unsafe UnsafeMutableRawPointer(target).storeBytes(of: bytes, as: SIMD16<UInt8>.self)
        let hits =
            (bytes .== SIMD16<UInt8>(repeating: 0x22)) .| (bytes .== SIMD16<UInt8>(repeating: 0x5C))
            .| (bytes .< SIMD16<UInt8>(repeating: 0x20))
        let words = unsafe unsafeBitCast(hits, to: SIMD2<UInt64>.self)
        let low = UInt64(littleEndian: words[0])
        if low != 0 { return low.trailingZeroBitCount >> 3 }
        let high = UInt64(littleEndian: words[1])
        return 8 &+ high.trailingZeroBitCount >> 3
    }

    @inline(__always)
    private static func copyPlain8(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>)
        -> Int
    {
        let bytes = unsafe UnsafeRawPointer(source).loadUnaligned(as: UInt64.self)
        unsafe UnsafeMutableRawPointer(target).storeBytes(of: bytes, as: UInt64.self)
        let word = UInt64(littleEndian: bytes)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ ones &* 0x22
        let backslash = word ^ ones &* 0x5C
        // The lowest marked byte is always correct; a borrow can only mark bytes above it.
        let hits =
            ((word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash)
            & (ones &* 0x80)
        return hits.trailingZeroBitCount >> 3
    }

    /// Copies a few bytes without a function call.
    @inline(__always)
    static func copy(_ source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, _ count: Int) {
        let from = unsafe UnsafeRawPointer(source)
        let into = UnsafeMutableRawPointer(target)
        if count > 16 { return unsafe into.copyMemory(from: from, byteCount: count) }
        if count >= 8 {
            let head = unsafe from.loadUnaligned(as: UInt64.self)
            let tail = unsafe (from + count - 8).loadUnaligned(as: UInt64.self)
            unsafe into.storeBytes(of: head, as: UInt64.self)
            unsafe (into + count - 8).storeBytes(of: tail, as: UInt64.self)
        } else if count >= 4 {
            let head = unsafe from.loadUnaligned(as: UInt32.self)
            let tail = unsafe (from + count - 4).loadUnaligned(as: UInt32.self)
            unsafe into.storeBytes(of: head, as: UInt32.self)
            unsafe (into + count - 4).storeBytes(of: tail, as: UInt32.self)
        } else {
            for index in 0 ..< count { unsafe target[index] = source[index] }
        }
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
