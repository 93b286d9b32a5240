import MCPCore

/// The reference part of docs/cli.md, made from the tables of commands and flags; a test compares.
enum ClientReference {
    static let start = "<!-- made from the tables of commands and flags by `make docs` -->"
    static let end = "<!-- end of the tables -->"

    /// The lines between `start` and `end`.
    static var markdown: String {
        var lines: [String] = []
        for group in Command.Group.allCases {
            let commands = Command.all.filter { $0.group == group }
            if commands.isEmpty { continue }
            lines += ["", "| \(group.rawValue.lowercased()) | |", "|---|---|"]
            lines += commands.map { "| `\(cell($0.synopsis))` | \(cell($0.summary)) |" }
        }
        for heading in Flag.Heading.allCases {
            let flags = Flag.allCases.filter { $0.heading == heading }
            lines += ["", "| \(heading.rawValue.lowercased()) flags | | commands |", "|---|---|---|"]
            lines += flags.map { flag in
                "| \(spellings(flag.row)) | \(cell(flag.row.summary)) | \(commands(flag)) |"
            }
        }
        return lines.joined(separator: "\n") + "\n\n"
    }

    /// Returns the page with the part between the marks replaced; nil if it has no marks.
    static func updating(_ page: String) -> String? {
        guard let head = page.firstRange(of: start + "\n"),
            let tail = page[head.upperBound...].firstRange(of: end)
        else { return nil }
        return page[..<head.upperBound] + markdown + page[tail.lowerBound...]
    }

    private static func spellings(_ row: FlagRow) -> String {
        let names = row.names.dropLast().map { "`\($0)`" }
        let last = ([row.names.last ?? ""] + (row.value.map { [$0] } ?? [])).joined(separator: " ")
        return (names + ["`\(cell(last))`"]).joined(separator: ", ")
    }

    /// Returns the commands that know a flag, in words.
    private static func commands(_ flag: Flag) -> String {
        if Flag.common.contains(flag) { return "all" }
        let knowing = Command.all.filter { $0.knows(flag) }.map(\.name)
        if knowing.count <= 6 { return knowing.joined(separator: ", ") }
        let others = Command.all.map(\.name).filter { !knowing.contains($0) }
        if Flag.connectedWithoutLogins.contains(flag) { return "those that connect to a server" }
        if Flag.authorized.contains(flag) { return "those that use logins" }
        if Flag.results.contains(flag) { return "those with a result" }
        return others.count <= 6
            ? "all but \(others.joined(separator: ", "))" : knowing.joined(separator: ", ")
    }

    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}

extension String {
    fileprivate func replacing(_ character: Character, with text: String) -> String {
        reduce(into: "") { $0 += $1 == character ? text : String($1) }
    }
}
