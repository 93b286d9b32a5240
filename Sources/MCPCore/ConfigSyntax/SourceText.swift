/// The text of one configuration file, with the table that maps byte offsets to lines and columns.
package struct SourceText: Sendable {
    /// The name by which messages refer to the file.
    package let name: String
    package let bytes: [UInt8]
    private let lineStarts: [Int]
    /// The number of characters before each block: a file may be one long line.
    private let charactersBefore: [Int]
    private static let blockBytes = 256

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        var starts = [0]
        var counts: [Int] = []
        var count = 0
        for (offset, byte) in bytes.enumerated() {
            if offset % Self.blockBytes == 0 { counts.append(count) }
            if Self.beginsCharacter(byte) { count += 1 }
            if byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
        }
        if bytes.count % Self.blockBytes == 0 { counts.append(count) }
        lineStarts = starts
        charactersBefore = counts
    }

    package init(name: String, text: String) { self.init(name: name, bytes: Array(text.utf8)) }

    /// Returns the position of the byte at `offset`; columns count characters, not bytes.
    package func position(at offset: Int) -> SourcePosition {
        let offset = min(max(offset, 0), bytes.count)
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        let column = characters(before: offset) - characters(before: lineStarts[low]) + 1
        return SourcePosition(file: name, line: low + 1, column: column)
    }

    /// Returns the offset of a position in this text.
    package func offset(of position: SourcePosition) -> Int {
        let line = min(max(position.line - 1, 0), lineStarts.count - 1)
        var offset = lineStarts[line]
        var left = position.column - 1
        while left > 0, offset < bytes.count {
            offset += 1
            while offset < bytes.count, !Self.beginsCharacter(bytes[offset]) { offset += 1 }
            left -= 1
        }
        return offset
    }

    private func characters(before offset: Int) -> Int {
        let block = offset / Self.blockBytes
        return charactersBefore[block]
            + bytes[block * Self.blockBytes ..< offset].count(where: Self.beginsCharacter)
    }

    /// Returns whether a byte begins a character; continuation bytes of UTF-8 do not.
    private static func beginsCharacter(_ byte: UInt8) -> Bool { byte & 0xC0 != 0x80 }
}
