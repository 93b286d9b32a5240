import MCPCore

/// The manual page mcp-client(1), made from the tables of commands and flags.
enum ClientManual {
    static var text: String {
        var page = ManualPage(
            "mcp-client", summary: "talk to servers of the Model Context Protocol (MCP)",
            version: ClientIdentity.version, date: WallTime.sourceDate(SystemFile.variable))
        page.section("SYNOPSIS")
        page.literal([
            "mcp-client [FLAGS] COMMAND TARGET [OPERANDS]",
            "mcp-client [FLAGS] COMMAND [OPERANDS] -- PROGRAM ARGS…",
        ])
        page.section("DESCRIPTION")
        page.paragraph(
            "mcp-client lists what a server has, calls tools with typed arguments, reads resources, fills in "
                + "prompts, and ends with a status that a script can rely on. Results are on standard "
                + "output, everything else on standard error.")
        page.paragraph("TARGET is one of:")
        for (form, meaning) in Help.targets { page.item(form, meaning) }
        page.section("COMMANDS")
        for group in Command.Group.allCases {
            let commands = Command.all.filter { $0.group == group }
            if !commands.isEmpty { page.subsection(group.rawValue) }
            for command in commands { add(command, to: &page) }
        }
        page.section("FLAGS")
        page.paragraph(
            "Flags come before the tool name; a short flag may also follow it. mcp-client help COMMAND lists "
                + "those of one command.")
        for heading in Flag.Heading.allCases {
            page.subsection("\(heading.rawValue) flags")
            for flag in Flag.allCases where flag.heading == heading {
                page.item(flag.row.synopsis, flag.row.summary)
            }
        }
        page.section("EXIT STATUS")
        for code in ExitCode.allCases { page.item("\(code.rawValue)", code.meaning) }
        page.section("ENVIRONMENT")
        for (name, meaning) in Help.variables + variables { page.item(name, meaning) }
        page.section("FILES")
        for (path, meaning) in files { page.item(path, meaning) }
        page.section("EXAMPLES")
        page.literal(Command.all.flatMap { $0.examples.prefix(1) })
        page.section("SEE ALSO")
        page.paragraph("mcp-server(1)")
        page.paragraph(
            "The documentation is in share/doc/swift-mcp-core of the installation: README.md and docs.")
        return page.text
    }

    private static func add(_ command: Command, to page: inout ManualPage) {
        let notes = command.notes
        page.item(command.synopsis, command.summary)
        var rows: [String] = []
        for line in Help.paragraphs(notes) + [""] {
            if line.hasPrefix(" ") {
                rows.append(line)
                continue
            }
            if !rows.isEmpty { page.literal(rows, isIndented: true) }
            rows = []
            if !line.isEmpty { page.note(line) }
        }
    }

    private static let variables = [
        ("MCP_CLIENT_ID, MCP_CLIENT_SECRET", "the client of a login, in place of its flags"),
        ("MCP_CLIENT_KEY_FILE, MCP_ASSERTION_FILE", "the files that prove who the client is"),
        ("SSL_CERT_FILE, SSL_CERT_DIR", "the certificates that https trusts, in place of the system's"),
    ]

    private static let files = [
        ("$XDG_CONFIG_HOME/mcp/mcp.jsonc", "the servers that mcp-client config add has added"),
        ("mcp.jsonc, .mcp.json, .vscode/mcp.json, .cursor/mcp.json", "the servers of a project"),
        ("$XDG_STATE_HOME/mcpcore/auth", "logins"),
        ("$XDG_CACHE_HOME/mcp-client", "what was found out about servers; it can be deleted"),
    ]
}
