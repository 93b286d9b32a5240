/// The text of one configuration file, with the table that turns byte offsets into lines and columns.
struct SourceText: Sendable {
    /// The name under which messages speak of the file.
    let name: String
    let bytes: [UInt8]
    private let lineStarts: [Int]

    init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            starts.append(offset + 1)
        }
        lineStarts = starts
    }

    init(name: String, text: String) { self.init(name: name, bytes: Array(text.utf8)) }

    /// The position of the byte at `offset`; columns count characters, not bytes.
    func position(at offset: Int) -> SourcePosition {
        let offset = min(max(offset, 0), bytes.count)
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        // Continuation bytes of UTF-8 start no character.
        let column = bytes[lineStarts[low] ..< offset].count { $0 & 0xC0 != 0x80 } + 1
        return SourcePosition(file: name, line: low + 1, column: column)
    }
}
