import MCPCore
import TestSupport
import Testing

@Suite struct SHA256Tests {
    // FIPS 180-4 examples (NIST), and the empty message.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlm"
                + "nopqrsmnopqrst"
                + "nopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func publishedVectors(message: String, digest: String) {
        #expect(Hex.encode(SHA256.hash(message.utf8).bytes) == digest)
    }

    @Test func aMillionLetters() {
        let digest = SHA256.hash([UInt8](repeating: 0x61, count: 1_000_000))
        #expect(
            Hex.encode(digest.bytes) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func piecesGiveTheDigestOfTheWhole() {
        let message = (0 ..< 300).map { UInt8(truncatingIfNeeded: $0) }
        for length in [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 300] {
            let whole = SHA256.hash(message[..<length])
            for size in [1, 3, 63, 64, 65] {
                var hasher = SHA256()
                var start = 0
                while start < length {
                    let end = min(length, start + size)
                    hasher.update(message[start ..< end])
                    start = end
                }
                #expect(hasher.finalize() == whole)
            }
            var lazily = SHA256()
            lazily.update(message[..<length].lazy.map { $0 })
            #expect(lazily.finalize() == whole)
        }
        #expect(SHA256.hash([1]) != SHA256.hash([2]))
    }

    /// The processor's instructions and the code for processors without them.
    @Test func bothWaysAgree() {
        var generator = SeededRandom(seed: 7)
        for count in [1, 2, 3, 8] {
            let blocks = (0 ..< 64 * count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            let start = SIMD8<UInt32>(1, 2, 3, 4, 5, 6, 7, .max)
            var (fast, portable) = (start, start)
            unsafe blocks.withUnsafeBytes { bytes in
                unsafe SHA256.compress(bytes, into: &fast)
                for block in 0 ..< count {
                    unsafe SHA256.compressPortably(
                        UnsafeRawBufferPointer(rebasing: bytes[64 * block ..< 64 * block + 64]),
                        into: &portable)
                }
            }
            #expect(fast == portable && fast != start)
        }
    }

    @Test func digestsAsText() {
        var digits = Array("x".utf8)
        SHA256.hash("abc".utf8).appendHex(to: &digits)
        #expect(String(decoding: digits, as: UTF8.self) == "x" + Hex.encode(SHA256.hash("abc".utf8).bytes))
    }
}
