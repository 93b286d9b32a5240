/// The characters that have a meaning in the grammar of JSON.
enum JSONByte {
    static let quote: UInt8 = 0x22
    static let backslash: UInt8 = 0x5C
    static let comma: UInt8 = 0x2C
    static let colon: UInt8 = 0x3A
    static let openBrace: UInt8 = 0x7B
    static let closeBrace: UInt8 = 0x7D
    static let openBracket: UInt8 = 0x5B
    static let closeBracket: UInt8 = 0x5D
    static let minus: UInt8 = 0x2D
    static let plus: UInt8 = 0x2B
    static let point: UInt8 = 0x2E
    static let zero: UInt8 = 0x30

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero <= 9 }

    /// The value of a hexadecimal digit, or nil.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt32? {
        switch byte {
        // Small: from a byte, in this and the next two lines.
        case 0x30 ... 0x39: UInt32(byte &- 0x30)
        case 0x41 ... 0x46: UInt32(byte &- 0x37)  // Small: the same.
        case 0x61 ... 0x66: UInt32(byte &- 0x57)  // Small: the same.
        default: nil
        }
    }
}
