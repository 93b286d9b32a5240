import MCPCore

/// The lines of a program's stderr that explain most.
enum StderrExcerpt {
    /// The number of lines that an error message shows.
    static let maxLines = 4

    /// Returns the lines that mention an error, or the last ones; never blank ones, underlines and boxes.
    static func lines(of stderr: [String]) -> [String] {
        let lines = stderr.enumerated().filter { isText($0.element) }
        var chosen = Array(lines.suffix(2))
        let first = chosen.first?.offset ?? 0
        let mentions = lines.filter { $0.offset < first && mentionsError($0.element) }
        chosen = Array(mentions.suffix(maxLines - chosen.count)) + chosen
        return chosen.map(\.element)
    }

    /// Whether a line has a letter or a digit in it.
    private static func isText(_ line: String) -> Bool {
        line.unicodeScalars.contains { $0.properties.isAlphabetic || ("0" ... "9").contains($0) }
    }

    private static func mentionsError(_ line: String) -> Bool {
        let line = line.lowercased()
        return ["error", "fatal", "panic", "exception", "failed"].contains { line.contains($0) }
    }

    /// Returns the last URL of this machine that the program wrote: it may serve HTTP instead of stdio.
    static func url(in stderr: [String]) -> String? {
        for line in stderr.reversed() {
            for scheme in ["http://127.0.0.1:", "http://localhost:", "http://0.0.0.0:"] {
                guard let found = line.firstRange(of: scheme) else { continue }
                let rest = line[found.upperBound...]
                let port = rest.prefix { ("0" ... "9").contains($0) }
                guard let number = UInt16(port), number > 0 else { continue }
                let path = rest[port.endIndex...].prefix {
                    $0.isASCII && ($0.isLetter || "/-_.".contains($0))
                }
                return "http://localhost:\(number)\(path.count > 1 ? String(path) : "/mcp")"
            }
        }
        return nil
    }
}
