/// A program's stderr, split into lines, of which the last ones are kept, in bounded memory whatever
/// the program writes.
struct StderrTail: ~Copyable {
    /// The number of lines that are kept for an error message.
    static let maxLines = 20
    /// The number of bytes after which a longer line is cut; `…` stands for the rest.
    static let maxLineBytes = 4_096

    private var line = ByteBuffer()
    private var isCut = false
    private var lines: [String] = []

    /// Processes the bytes that arrived, and returns the lines that they complete.
    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> [String] {
        var completed: [String] = []
        for byte in unsafe ByteSlice(bytes) {
            if byte == 0x0A {
                completed.append(endLine())
            } else if line.count < Self.maxLineBytes {
                line.append(byte)
            } else {
                isCut = true
            }
        }
        return completed
    }

    private mutating func endLine() -> String {
        var text = rest ?? ""
        if text.utf8.last == 0x0D { text.unicodeScalars.removeLast() }
        line.removeAll(keeping: Self.maxLineBytes)
        isCut = false
        if lines.count == Self.maxLines { lines.removeFirst() }
        lines.append(text)
        return text
    }

    /// The unfinished line; nil if there is none.
    var rest: String? {
        line.isEmpty ? nil : String(line.slice(0 ..< line.count)) + (isCut ? "…" : "")
    }

    /// The last lines, including an unfinished one.
    var last: [String] { (lines + (rest.map { [$0] } ?? [])).suffix(Self.maxLines) }
}
