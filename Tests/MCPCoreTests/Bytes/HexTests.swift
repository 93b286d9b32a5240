import MCPCore
import Testing

@Suite struct HexTests {
    // RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "66"), ("fo", "666f"), ("foo", "666f6f"), ("foob", "666f6f62"),
        ("fooba", "666f6f6261"),
        ("foobar", "666f6f626172"),
    ])
    func publishedVectors(plain: String, hex: String) {
        #expect(Hex.encode(plain.utf8) == hex)
        #expect(Hex.decode(hex) == Array(plain.utf8))
        #expect(Hex.decode(hex.uppercased()) == Array(plain.utf8))
    }

    @Test(arguments: ["6", "666", "6g", " 66", "66 ", "0x66", "６６"])
    func whatIsNotHexIsRefused(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
