import MCPCore
import TestSupport
import Testing

/// A session that a page shows: commands, and what they print. The page is the golden file: what really happens is
/// compared with it, apart from times, dates and ports, and from `…`, which stands for any text.
struct DocumentedSession {
    struct Step {
        let command: String
        let output: [String]
    }

    let page: String
    let steps: [Step]

    /// All sessions of a page that nothing else runs, in blocks without a language.
    static func all(of page: String) throws -> [DocumentedSession] {
        try blocks(of: page).filter { $0.language.isEmpty }.compactMap { block in
            var steps: [Step] = []
            for line in block.lines {
                if line.hasPrefix("$ ") {
                    steps.append(Step(command: String(line.dropFirst(2)), output: []))
                } else if let last = steps.popLast() {
                    steps.append(Step(command: last.command, output: last.output + [line]))
                }
            }
            return steps.isEmpty ? nil : DocumentedSession(page: page, steps: steps)
        }
    }

    /// The session whose first command begins with a text.
    static func find(_ start: String, in page: String) throws -> DocumentedSession {
        let found = try all(of: page).filter { $0.steps[0].command.hasPrefix(start) }
        #expect(found.count == 1, "\(page): \(start)")
        return try #require(found.first)
    }

    /// The block of a page that begins with a text, in a language.
    static func block(_ language: String, beginning start: String, in page: String) throws -> [String] {
        let found = try blocks(of: page).filter { $0.language == language && $0.lines[0].hasPrefix(start) }
        #expect(found.count == 1, "\(page): \(start)")
        return try #require(found.first).lines
    }

    private static func blocks(of page: String) throws -> [(language: String, lines: [String])] {
        var blocks: [(language: String, lines: [String])] = []
        var isOpen = false
        for line in try RepositoryFile.text("docs/\(page).md").split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(String.init) {
            if line.hasPrefix("```") {
                if !isOpen { blocks.append((String(line.dropFirst(3)), [])) }
                isOpen.toggle()
            } else if isOpen {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        return blocks
    }

    // MARK: Comparison

    /// Compares what was printed with what the page shows for a command.
    ///
    /// - Parameters:
    ///   - names: what the page says, and what it is here, such as an address.
    ///   - status: the exit status, which the page shows if it is not 0; nil for a command that was stopped.
    func expect(
        _ index: Int, _ text: String, status: Int32? = 0, _ names: [(page: String, here: String)] = [],
        _ place: SourceLocation = #_sourceLocation
    ) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        if let status, status != 0 { lines.append("[exit status \(status)]") }
        Self.expect(lines, steps[index].output, names, place)
    }

    static func expect(
        _ lines: [String], _ wanted: [String], _ names: [(page: String, here: String)] = [],
        _ place: SourceLocation = #_sourceLocation
    ) {
        let wanted = wanted.map { line in
            plain(names.reduce(line) { $0.replacing($1.page, with: $1.here) })
        }
        let lines = lines.map(plain)
        let isSame = lines.count == wanted.count && zip(lines, wanted).allSatisfy { matches($0, $1) }
        #expect(
            isSame,
            "the page:\n\(wanted.joined(separator: "\n"))\nhere:\n\(lines.joined(separator: "\n"))",
            sourceLocation: place)
    }

    /// A line without what differs from run to run.
    private static func plain(_ line: String) -> String {
        line.replacing(#/(connect|total|tools/list|tools/call) \d+(\.\d+)?/#) { "\($0.output.1) N" }
            .replacing(#/\d+(\.\d+)? (ms|s)\b/#, with: "TIME")
            .replacing(#/\d\d:\d\d:\d\d/#, with: "CLOCK")
            .replacing(#/\d+ min\b/#, with: "N min")
            .replacing(#/\d{4}-\d\d-\d\d\b/#, with: "DATE")
            .replacing(#/127\.0\.0\.1:\d+/#, with: "127.0.0.1:PORT")
    }

    private static func matches(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return line == pattern }
        if line == pattern { return true }
        guard line.hasPrefix(parts[0]), line.hasSuffix(parts[parts.count - 1]) else { return false }
        var rest = Substring(line)
        for part in parts where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
