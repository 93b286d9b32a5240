import MCPCore
import Testing

@Suite struct Base64Tests {
    // RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func publishedVectors(plain: String, encoded: String) {
        #expect(Base64.encode(plain.utf8) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        let unpadded = encoded.filter { $0 != "=" }
        #expect(Base64URL.encode(plain.utf8) == unpadded)
        #expect(Base64URL.decode(unpadded) == Array(plain.utf8))
    }

    @Test func everyLengthAndByteComesBack() {
        for count in 0 ..< 70 {
            let bytes = (0 ..< count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    }

    // RFC 4648, sections 3.3 and 3.5: junk, missing padding and unused bits are refused.
    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "=", "==", "====", "Z===", "Zm8", "Zm9v=", "Zm9v====", "Zg==Zg==", "Zh==",
        "Zm9=",
        "Zm 8=", "Zm8=\n", "Z-8=", "Z_8=", "Zm9v\u{0}", "é===",
    ])
    func whatIsNotCanonicalIsRefused(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Z", "Zg==", "Zh", "Zm9", "Z+8", "Z/8", "Zm8=", "Zm8 ", "Zm9vY"])
    func whatIsNotCanonicalForURLsIsRefused(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
