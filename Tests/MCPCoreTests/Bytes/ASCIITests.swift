import Testing

@testable import MCPCore

@Suite struct ASCIITests {
    @Test func classesHoldExactlyTheirBytes() {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        let token = Set((letters + "!#$%&'*+-.^_`|~").utf8)
        let name = Set((letters + "-._~!$&'()*+,;=").utf8)
        for byte in UInt8.min ... .max {
            #expect(ASCII.isToken(byte) == token.contains(byte))
            #expect(ASCII.isRegisteredName(byte) == name.contains(byte))
            #expect(ASCII.isDigit(byte) == (0x30 ... 0x39).contains(byte))
            #expect(ASCII.hexValue(byte).map(Int.init) == Character(UnicodeScalar(byte)).asciiHexValue)
        }
    }

    @Test func caseIsIgnoredForLettersAlone() {
        #expect(ASCII.equalsIgnoringCase("Mcp-Name".utf8, "mCP-nAME".utf8))
        #expect(!ASCII.equalsIgnoringCase("[".utf8, "{".utf8))
        #expect(!ASCII.equalsIgnoringCase("a".utf8, "ab".utf8))
    }
}

extension Character {
    fileprivate var asciiHexValue: Int? { isASCII ? hexDigitValue : nil }
}
