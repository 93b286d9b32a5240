/// Help texts, made from the tables of commands and flags.
enum Help {
    static func text(for command: Command?) -> String {
        if let command { return commandHelp(command) }
        return overview()
    }

    private static func overview() -> String {
        var lines = [
            "mcp-client talks to MCP servers.",
            "",
            "usage: mcp-client [FLAGS] COMMAND TARGET [OPERANDS]",
            "       mcp-client [FLAGS] COMMAND [OPERANDS] -- PROGRAM ARGS…",
            "",
            "Commands",
        ]
        lines += table(Command.all.map { ($0.synopsis, $0.summary) })
        lines += [""] + target
        lines += flags(Flag.allCases)
        lines += ["", "Exit codes"]
        lines += table(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) })
        lines += ["", "mcp-client COMMAND --help says more about one command."]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func commandHelp(_ command: Command) -> String {
        var lines = ["mcp-client \(command.name): \(command.summary)", "", "usage: \(command.usage)"]
        if command.targets != .none, !command.isForHTTP {
            let words =
                ["mcp-client", command.name, "[FLAGS]"] + command.ownPlaceholders + [
                    "--", "PROGRAM", "ARGS…",
                ]
            lines.append("       " + words.joined(separator: " "))
        }
        if !command.notes.isEmpty { lines += [""] + command.notes }
        if command.isForHTTP {
            lines += ["", "TARGET"] + table(httpTargets)
        } else if command.targets != .none {
            lines += [""] + target
        }
        lines += flags(Flag.allCases.filter { command.knows($0) && $0 != .other(.version) })
        if !command.examples.isEmpty { lines += ["", "Examples"] + command.examples.map { "  " + $0 } }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let httpTargets = [
        ("http[s]://HOST:PORT/PATH", "a Streamable HTTP endpoint, used as given"),
        ("HOST:PORT", "HTTP on this machine, path /mcp"),
    ]

    private static var target: [String] {
        ["TARGET"]
            + table([
                httpTargets[0],
                (
                    "unix:///PATH#/ENDPOINT",
                    "Streamable HTTP over a unix socket; without # the endpoint is /mcp"
                ),
                httpTargets[1],
                ("-- PROGRAM ARGS…", "a program that speaks MCP on stdin and stdout"),
            ])
    }

    private static func flags(_ flags: [Flag]) -> [String] {
        var lines: [String] = []
        for heading in Flag.Heading.allCases {
            let rows = flags.filter { $0.heading == heading }.map(\.row).map { row in
                (
                    ([row.names.joined(separator: ", ")] + (row.value.map { [$0] } ?? []))
                        .joined(separator: " "), row.summary
                )
            }
            if !rows.isEmpty { lines += ["", "\(heading.rawValue) flags"] + table(rows) }
        }
        return lines
    }

    private static func table(_ rows: [(String, String)]) -> [String] {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { row in
            "  " + row.0 + String(repeating: " ", count: width - row.0.count + 2) + row.1
        }
    }
}
