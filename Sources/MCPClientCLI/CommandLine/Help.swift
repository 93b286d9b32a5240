import MCPCore

/// Help texts, made from the tables of commands and flags.
enum Help {
    /// Returns the help for a command, or the overview.
    ///
    /// - Parameter width: the columns of a terminal, at whose end lines are broken; nil for a pipe.
    static func text(for command: Command?, width: Int? = nil) -> String {
        guard let command else { return fitted(overview, width) }
        return fitted(commandHelp(command, isReflowed: width.map { $0 < widestNote } ?? false), width)
    }

    /// Returns the text of `help --all`.
    static func everything(width: Int?) -> String { fitted(everything, width) }

    // MARK: Narrow terminals

    /// The width for which the notes of commands are written.
    private static let widestNote = 100

    /// Breaks the lines of a text at blanks where the terminal ends; what continues is below the column that
    /// it belongs to.
    private static func fitted(_ text: String, _ width: Int?) -> String {
        guard let width else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            // Most lines fit.
            if line.utf8.count <= width { return [String(line)] }
            return TextWrap.lines(String(line), width: width, hanging: hanging(line, width)).map { part in
                String(part.dropLast(part.reversed().prefix { $0 == " " }.count))
            }
        }.joined(separator: "\n")
    }

    /// Returns by how much the continuation of a line is indented.
    private static func hanging(_ line: Substring, _ width: Int) -> Int {
        if line.hasPrefix("usage: ") { return 9 }
        let indent = line.prefix { $0 == " " }.count
        let starts = line.indices.dropFirst(indent + 2).filter { index in
            line[index] != " " && line[..<index].hasSuffix("  ")
        }
        // A row of names begins at the first column, one of the tables at the last.
        guard let start = indent == 0 ? starts.first : starts.last else { return indent == 0 ? 0 : 2 }
        let column = line.distance(from: line.startIndex, to: start)
        return width - column >= 24 ? column - indent : 4
    }

    /// Joins the lines of each paragraph of notes; lines that are indented stay as they are.
    static func paragraphs(_ notes: [String]) -> [String] {
        notes.reduce(into: []) { lines, line in
            if let last = lines.last, !last.isEmpty, !last.hasPrefix(" "), !line.isEmpty, !line.hasPrefix(" ")
            {
                lines[lines.count - 1] = last + " " + line
            } else {
                lines.append(line)
            }
        }
    }

    // MARK: Overview

    /// The text of `--help`, which fits on one screen of 24 lines and 80 columns.
    static var overview: String {
        var lines = ["mcp-client talks to MCP servers.", ""] + usage + [""]
        let width = 10
        func row(_ title: String, _ parts: [String], separator: String = " ") {
            for (index, line) in TextWrap.joined(parts, separator: separator, width: 79 - width).enumerated()
            {
                lines.append((index == 0 ? title : "").padded(to: width) + line)
            }
        }
        for group in Command.Group.allCases {
            row(group.rawValue, Command.all.filter { $0.group == group }.map(\.name), separator: "  ")
        }
        lines.append("")
        row("TARGET", targetSentence.split(separator: " ").map(String.init))
        lines.append("")
        lines += table(frequent.map { ($0.row.synopsis, $0.row.summary) })
        lines.append("")
        row("Exit", ExitCode.allCases.map { "\($0.rawValue) \($0.brief)" }, separator: " · ")
        lines += [
            "",
            "mcp-client help COMMAND explains one command, help --all shows everything.",
            "Try it: mcp-client tools -- mcp-server --demo",
        ]
        return joined(lines)
    }

    private static let usage = [
        "usage: mcp-client [FLAGS] COMMAND TARGET [OPERANDS]",
        "       mcp-client [FLAGS] COMMAND [OPERANDS] -- PROGRAM ARGS…",
    ]

    private static let targetSentence =
        "a configured name, http[s]://HOST:PORT/PATH, HOST:PORT, unix:///PATH, or a program after --"

    /// The flags that most people need first.
    private static let frequent: [Flag] = [
        .output(.json), .output(.quiet), .output(.verbose), .transport(.timeout),
    ]

    /// The text of `help --all`: all commands and all flags.
    static var everything: String {
        var lines = ["mcp-client talks to MCP servers.", ""] + usage
        for group in Command.Group.allCases {
            let commands = Command.all.filter { $0.group == group }
            if !commands.isEmpty { lines += ["", group.rawValue] }
            lines += table(commands.map { ($0.synopsis, $0.summary) })
        }
        lines += ["", "TARGET"] + table(targets)
        lines += flags(Flag.allCases) { $0.row.summary }
        lines += ["", "Exit status"]
        lines += table(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
        lines += ["", "Environment"] + table(variables)
        return joined(lines)
    }

    // MARK: One command

    private static func commandHelp(_ command: Command, isReflowed: Bool) -> String {
        let name = (command.programWords + [command.name]).joined(separator: " ")
        var lines = ["\(name): \(command.summary)", "", "usage: \(command.usage)"]
        if let line = command.programUsage { lines.append("       " + line) }
        if !command.notes.isEmpty {
            lines += [""] + (isReflowed ? paragraphs(command.notes) : command.notes)
        }
        if command.isForHTTP {
            lines += ["", "TARGET"] + table(httpTargets)
        } else if command.targets != .none, !command.isInShell {
            lines += ["", "TARGET"] + table(targets)
        }
        let logins = command.allFlags.filter { $0.heading == .login }
        let isBrief = !command.isForHTTP && logins.count > 4
        lines += flags(command.allFlags.filter { !isBrief || $0.heading != .login }, command.meaning)
        if isBrief {
            lines += ["", "Login flags", "  those of mcp-client login; mcp-client help login lists them"]
        }
        if !command.examples.isEmpty, !command.isInShell {
            lines += ["", "Examples"] + command.examples.map { "  " + $0 }
        }
        return joined(lines)
    }

    // MARK: Tables

    static let httpTargets = [
        ("http[s]://HOST:PORT/PATH", "a Streamable HTTP endpoint, used as given"),
        ("HOST:PORT", "HTTP on this machine, path /mcp"),
    ]

    static let targets = [
        ("NAME", "a configured server: mcp-client config list shows them"),
        (".", "the server that MCP_TARGET names, or the only configured one"),
        httpTargets[0],
        ("unix:///PATH#/ENDPOINT", "Streamable HTTP over a unix socket; without # the endpoint is /mcp"),
        httpTargets[1],
        ("PATH[#/ENDPOINT]", "the path of an existing socket"),
        ("FILE.jsonl", "a recording, which answers in place of the server"),
        ("server.json", "a server of the registry: its address, or its package"),
        ("-- PROGRAM ARGS…", "a program that speaks MCP on stdin and stdout"),
    ]

    static let variables = [
        ("MCP_TARGET", "the server that . stands for"),
        ("MCP_CONFIG", "the only file of servers to read"),
        ("MCP_INPUT_ID", "the value of ${input:ID} in a file of servers"),
        ("MCP_AUTH_STORE", "the directory of logins, or memory"),
        ("MCP_AUTH_ALLOW", "hosts of authorization servers at any address, without https"),
        ("NO_COLOR, CLICOLOR_FORCE", "switch colours off, and on"),
        ("COLUMNS", "the width of a terminal that does not tell it"),
    ]

    private static func flags(_ flags: [Flag], _ meaning: (Flag) -> String) -> [String] {
        var lines: [String] = []
        for heading in Flag.Heading.allCases {
            let rows = flags.filter { $0.heading == heading }.map { ($0.row.synopsis, meaning($0)) }
            if !rows.isEmpty { lines += ["", "\(heading.rawValue) flags"] + table(rows) }
        }
        return lines
    }

    private static func table(_ rows: [(String, String)]) -> [String] {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { row in "  " + row.0.padded(to: width + 2) + row.1 }
    }

    private static func joined(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }
}

extension Command {
    /// The second usage line, with a program in the place of TARGET; nil where none can be used.
    var programUsage: String? {
        guard targets != .none || takesProgram, !isForHTTP, !isInShell else { return nil }
        // The program takes the place of these.
        let own = ownPlaceholders.filter { !takesProgram || !["[TARGET]", "[B]", "[URL]"].contains($0) }
        return (["mcp-client", name, "[FLAGS]"] + own + ["--", "PROGRAM", "ARGS…"])
            .joined(separator: " ")
    }

    /// The flags in the order of help texts.
    var allFlags: [Flag] { Flag.allCases.filter { knows($0) && $0 != .other(.version) } }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
