import CMCPSystem

/// SHA-256 (FIPS 180-4) over bytes that arrive in pieces, with the processor's own instructions where it has
/// them.
package struct SHA256: Sendable {
    /// A digest of 32 bytes. Comparing two digests takes the same time wherever they differ.
    package struct Digest: Sendable, Hashable {
        fileprivate let words: SIMD8<UInt32>

        /// The 32 bytes.
        package var bytes: [UInt8] {
            (0 ..< 32).map { UInt8(truncatingIfNeeded: words[$0 / 4] >> UInt32(24 - 8 * ($0 % 4))) }
        }

        /// Appends the 64 hexadecimal digits.
        package func appendHex(to bytes: inout [UInt8]) {
            for number in 0 ..< 8 {
                // Each half byte becomes a byte: the first digit is the highest one.
                var digits = UInt64(words[number])
                digits = (digits & 0xFFFF_0000) << 16 | digits & 0xFFFF
                digits = (digits & 0xFF00_0000_FF00) << 8 | digits & 0xFF_0000_00FF
                digits = (digits & 0xF0_00F0_00F0_00F0) << 4 | digits & 0xF_000F_000F_000F
                let isLetter = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
                digits = digits &+ 0x3030_3030_3030_3030 &+ isLetter &* 0x27
                unsafe withUnsafeBytes(of: digits.bigEndian) { unsafe bytes.append(contentsOf: $0) }
            }
        }

        /// Whether all bytes are equal.
        package static func == (a: Digest, b: Digest) -> Bool {
            let difference = a.words ^ b.words
            var any: UInt32 = 0
            for lane in 0 ..< 8 { any |= difference[lane] }
            return any == 0
        }
    }

    private var state = SIMD8<UInt32>(
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19
    )
    private var block = SIMD64<UInt8>()
    private var filled = 0
    private var length: UInt64 = 0

    package init() {}

    /// Returns the digest of `bytes`.
    package static func hash(_ bytes: some Collection<UInt8>) -> Digest {
        var hasher = SHA256()
        hasher.update(bytes)
        return hasher.finalize()
    }

    /// Returns the digest of `bytes`.
    package static func hash(bytes: UnsafeRawBufferPointer) -> Digest {
        var hasher = SHA256()
        unsafe hasher.update(bytes)
        return hasher.finalize()
    }

    /// Adds more bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        let isDone: Void? = bytes.withContiguousStorageIfAvailable {
            unsafe update(UnsafeRawBufferPointer($0))
        }
        if isDone == nil { update(Array(bytes)) }
    }

    /// Returns the digest of all bytes added.
    package consuming func finalize() -> Digest {
        let bits = length &* 8
        pad(from: filled)
        if filled >= 56 {
            compressBlock()
            block = SIMD64<UInt8>()
        }
        unsafe withUnsafeMutableBytes(of: &block) { block in
            unsafe block.storeBytes(of: bits.bigEndian, toByteOffset: 56, as: UInt64.self)
        }
        compressBlock()
        return Digest(words: state)
    }

    /// Ends the message in the last block.
    private mutating func pad(from place: Int) {
        unsafe withUnsafeMutableBytes(of: &block) { block in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: block[place...])
            _ = unsafe rest.initializeMemory(as: UInt8.self, repeating: 0)
            unsafe rest[0] = 0x80
        }
    }

    private mutating func compressBlock() {
        unsafe withUnsafeBytes(of: block) { unsafe Self.compress($0, into: &state) }
    }

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        var rest = unsafe bytes
        while unsafe !rest.isEmpty {
            if filled == 0, rest.count >= 64 {
                let whole = rest.count & ~63
                unsafe Self.compress(UnsafeRawBufferPointer(rebasing: rest[..<whole]), into: &state)
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest[whole...])
                continue
            }
            let count = min(64 - filled, rest.count)
            unsafe withUnsafeMutableBytes(of: &block) { [filled] target in
                let part = unsafe UnsafeRawBufferPointer(rebasing: rest[..<count])
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[filled...]).copyMemory(from: part)
            }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            filled += count
            guard filled == 64 else { return }
            compressBlock()
            filled = 0
        }
    }

    private static let hasInstructions = mcp_has_sha256() != 0

    /// Compresses blocks of 64 bytes.
    package static func compress(_ blocks: UnsafeRawBufferPointer, into state: inout SIMD8<UInt32>) {
        if hasInstructions {
            return unsafe withUnsafeMutableBytes(of: &state) { state in
                unsafe constants.withUnsafeBufferPointer { constants in
                    unsafe mcp_sha256_blocks(
                        state.assumingMemoryBound(to: UInt32.self).baseAddress, blocks.baseAddress,
                        blocks.count / 64, constants.baseAddress)
                }
            }
        }
        for start in stride(from: 0, to: blocks.count, by: 64) {
            unsafe compressPortably(
                UnsafeRawBufferPointer(rebasing: blocks[start ..< start + 64]), into: &state)
        }
    }

    /// Compresses one block of 64 bytes on any processor (FIPS 180-4, section 6.2.2).
    package static func compressPortably(_ block: UnsafeRawBufferPointer, into state: inout SIMD8<UInt32>) {
        unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
            for index in 0 ..< 16 {
                let word = unsafe block.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
                unsafe schedule[index] = UInt32(bigEndian: word)
            }
            for index in 16 ..< 64 {
                let (near, far) = unsafe (schedule[index - 2], schedule[index - 15])
                let small1 = rotate(near, 17) ^ rotate(near, 19) ^ near &>> 10
                let small0 = rotate(far, 7) ^ rotate(far, 18) ^ far &>> 3
                unsafe schedule[index] = small1 &+ schedule[index - 7] &+ small0 &+ schedule[index - 16]
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var (e, f, g, h) = (state[4], state[5], state[6], state[7])
            unsafe constants.withUnsafeBufferPointer { constants in
                for index in 0 ..< 64 {
                    let big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
                    let choice = (e & f) ^ (~e & g)
                    let first = unsafe h &+ big1 &+ choice &+ constants[index] &+ schedule[index]
                    let big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
                    let majority = (a & b) ^ (a & c) ^ (b & c)
                    (h, g, f, e) = (g, f, e, d &+ first)
                    (d, c, b, a) = (c, b, a, first &+ big0 &+ majority)
                }
            }
            state = state &+ SIMD8(a, b, c, d, e, f, g, h)
        }
    }

    @inline(__always)
    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &>> count | word &<< (32 - count)
    }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7,
        0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc,
        0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351,
        0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e,
        0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585,
        0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f,
        0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
        0xc671_78f2,
    ]
}
