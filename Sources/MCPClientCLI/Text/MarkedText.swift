import MCPCore

/// A text of a peer among lines of ours. A person tells them apart because each of its lines but the first
/// one is marked, where the terminal breaks a line, too.
enum MarkedText {
    static let mark = "  | "
    /// The lines up to which a text is shown; the number of the others is given.
    static let maxLines = 200

    /// Returns a text as lines, all but the first one with a mark.
    ///
    /// - Parameters:
    ///   - used: the columns before the first line.
    ///   - width: the columns of the terminal; nil if there is none.
    static func lines(_ text: String, after used: Int, width: Int?) -> [String] {
        var lines: [String] = []
        var blank = 0
        func end() {
            if blank > 0 { lines.append(blank == 1 ? "" : "⟨\(blank) blank lines⟩") }
            blank = 0
        }
        for line in TerminalText.block(text).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.allSatisfy(\.isWhitespace) {
                blank += 1
            } else {
                end()
                lines.append(VisibleText.line(String(line)))
            }
        }
        // What follows the last line is ours.
        while lines.first?.isEmpty == true { lines.removeFirst() }
        if lines.count > maxLines {
            lines = Array(lines.prefix(maxLines)) + ["… and \(lines.count - maxLines) more lines"]
        }
        guard let width else { return marked(lines) }
        let room = max(width - mark.count, 12)
        var parts: [String] = []
        if let first = lines.first {
            let beside = width - used
            if beside < 12 {
                parts = [""] + broken(first, room)
            } else if TextWrap.columns(of: first) <= beside {
                parts = [first]
            } else {
                let start = broken(first, beside)[0]
                let rest = first.dropFirst(start.count).drop { $0 == " " }
                parts = [start] + broken(String(rest), room)
            }
        }
        return marked(parts + lines.dropFirst().flatMap { broken($0, room) })
    }

    private static func marked(_ lines: [String]) -> [String] {
        guard let first = lines.first else { return [""] }
        return [first] + lines.dropFirst().map { mark + $0 }
    }

    /// Breaks a line at blanks, and a word that is too long anywhere.
    private static func broken(_ line: String, _ width: Int) -> [String] {
        var parts: [String] = []
        for part in TextWrap.lines(line, width: width) {
            var rest = part
            while TextWrap.columns(of: rest) > width {
                let start = TextWrap.prefix(of: rest, width: width)
                if start.isEmpty { break }
                parts.append(start)
                rest = String(rest.dropFirst(start.count))
            }
            parts.append(rest)
        }
        return parts
    }
}
