/// A formatter that splits valid JSON into lines, indented by two spaces per level.
enum JSONPretty {
    static func format(_ compact: ByteSlice) -> ByteSlice {
        // Small: twice the size of a text in memory.
        var out = ByteBuffer(capacity: compact.count * 2)
        unsafe compact.withBytes { unsafe format($0, into: &out) }
        return out.freeze()
    }

    private static func format(_ bytes: UnsafeBufferPointer<UInt8>, into out: inout ByteBuffer) {
        var scanner = unsafe JSONScanner(bytes)
        var level = 0
        while true {
            scanner.skipWhitespace()
            guard scanner.position < scanner.end else { return }
            let byte = scanner.peek
            switch byte {
            case ASCII.openBrace, ASCII.openBracket:
                out.append(byte)
                scanner.position += 1
                scanner.skipWhitespace()
                // In ASCII, a closing bracket is two characters after its opening bracket.
                if scanner.peek == byte + 2 {
                    out.append(byte + 2)
                    scanner.position += 1
                } else {
                    level += 1
                    newLine(level, &out)
                }
            case ASCII.closeBrace, ASCII.closeBracket:
                level -= 1
                newLine(level, &out)
                out.append(byte)
                scanner.position += 1
            case ASCII.comma:
                out.append(byte)
                newLine(level, &out)
                scanner.position += 1
            case ASCII.colon:
                out.append(": ")
                scanner.position += 1
            default:
                let start = scanner.position
                guard (try? scanner.scanValue(depth: 0)) != nil else { return }
                unsafe out.append(scanner.bytes(start ..< scanner.position))
            }
        }
    }

    private static func newLine(_ level: Int, _ out: inout ByteBuffer) {
        out.append(0x0A)
        for _ in 0 ..< max(0, level) { out.append("  ") }
    }
}
