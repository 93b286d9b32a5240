/// Cuts a program's stderr into lines and keeps the last ones, in bounded memory whatever comes.
struct StderrTail: ~Copyable {
    /// Lines that are kept for an error text.
    static let maxLines = 20
    /// A longer line is cut there.
    static let maxLineBytes = 4_096

    private var line = ByteBuffer()
    private var lines: [String] = []

    /// Takes what came and returns the lines that it completes.
    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>) -> [String] {
        var completed: [String] = []
        for byte in unsafe ByteSlice(bytes) {
            if byte == 0x0A {
                completed.append(endLine())
            } else if line.count < Self.maxLineBytes {
                line.append(byte)
            }
        }
        return completed
    }

    private mutating func endLine() -> String {
        var text = String(line.slice(0 ..< line.count))
        if text.utf8.last == 0x0D { text.unicodeScalars.removeLast() }
        line.removeAll(keeping: Self.maxLineBytes)
        if lines.count == Self.maxLines { lines.removeFirst() }
        lines.append(text)
        return text
    }

    /// The last lines; an unfinished one counts.
    var last: [String] {
        let rest = line.isEmpty ? [] : [String(line.slice(0 ..< line.count))]
        return (lines + rest).suffix(Self.maxLines)
    }
}
