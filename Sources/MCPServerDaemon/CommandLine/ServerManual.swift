import MCPCore

/// The manual page mcp-server(1), made from the help text.
enum ServerManual {
    static var text: String {
        var page = ManualPage(
            "mcp-server", summary: "expose commands, files, prompts and other servers over MCP",
            version: DaemonVersion.current, date: WallTime.sourceDate(Environment.value))
        let blocks = HelpText.text.split(separator: "\n\n").map {
            $0.split(separator: "\n").map(String.init)
        }
        page.section("SYNOPSIS")
        page.literal((blocks.first { $0[0].hasPrefix("usage: ") } ?? []).map { String($0.dropFirst(7)) })
        page.section("DESCRIPTION")
        page.paragraph(blocks[0].joined(separator: " "))
        page.paragraph("An ellipsis after the value of an option means that the option may be repeated.")
        page.section("OPTIONS")
        for item in options(blocks.first { $0[0].hasPrefix("  -") } ?? []) {
            page.item(item.name, item.text)
        }
        page.section("OPTIONS OF COMMANDS")
        for (name, text) in commandOptions { page.item(name, text) }
        page.section("EXIT STATUS")
        for item in statuses(blocks.last ?? []) { page.item(item.name, item.text) }
        page.section("ENVIRONMENT")
        page.paragraph("A configuration may name further variables: ${NAME} or ${NAME:-default}.")
        for (name, meaning) in variables { page.item(name, meaning) }
        page.section("EXAMPLES")
        page.literal(["mcp-server --demo", "mcp-server check mcp.jsonc && mcp-server -c mcp.jsonc"])
        page.section("FILES")
        page.item(
            "$XDG_CONFIG_HOME/mcp-server/mcp.jsonc, /etc/mcp-server/mcp.jsonc",
            "the configuration; the first one that exists is used")
        page.section("SEE ALSO")
        page.paragraph("mcp-client(1)")
        page.paragraph(
            "The documentation is in share/doc/swift-mcp-core of the installation: README.md and docs.")
        return page.text
    }

    private static let commandOptions = [
        (
            "check --online",
            "also connect to what the server asks: issuers, other servers, the store of state"
        ),
        ("token new --allow PATTERN…", "the tools, resources and prompts that the token may use"),
        ("token new --scope SCOPE…", "the scopes of auth.scopes that the token has"),
        ("token new --expires TIME", "the time until the token ends, such as 90d"),
        ("token new --rate COUNT/UNIT", "the requests that the token may make per s, min or h"),
        ("status --json", "print JSON"),
        ("errors -n COUNT", "the number of errors to print, the newest"),
        ("reload --timeout TIME", "the time to wait for the end of the reload; as long as it takes"),
        ("init --systemd", "print a unit of systemd"),
        ("init --systemd-socket", "print the unit of its sockets"),
        ("init --launchd", "print a property list of launchd"),
        ("init --nginx, init --caddy", "print the part of a proxy in front of the server"),
        ("init --docker", "print a Dockerfile"),
    ]

    private static let variables = [
        (
            "XDG_RUNTIME_DIR",
            "the directory of the default sockets: mcp.sock for clients, mcp-admin.sock for operators and "
                + "mcpcore/providers.sock for programs that provide tools (on macOS, the last is in TMPDIR)"
        ),
        (
            "RUNTIME_DIRECTORY",
            "the directory of mcp-admin.sock, before XDG_RUNTIME_DIR; systemd sets it for a unit"
        ),
        (
            "XDG_CONFIG_HOME",
            "the directory of the user's configuration, mcp-server/mcp.jsonc; default: $HOME/.config"
        ),
        (
            "XDG_STATE_HOME",
            "the directory of the token of programs that provide tools, mcpcore/providers.token; default: "
                + "$HOME/.local/state"
        ),
        (
            "PATH, LANG, HOME",
            "these alone are passed on to commands; PATH is where their programs are looked for"
        ),
        ("LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES", "sockets that the service manager has opened"),
        (
            "NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID",
            "where the service manager is told the state, and how often that the server is alive"
        ),
        ("JOURNAL_STREAM", "log lines have the form of the journal, unless observe.log says another one"),
        ("SSL_CERT_FILE, SSL_CERT_DIR", "the certificates that https trusts, in place of the system's"),
        ("MCP_AUTH_ALLOW", "hosts of authorization servers at any address, without https"),
        ("SOURCE_DATE_EPOCH", "the date of the page that --man prints, in seconds since 1970"),
    ]

    /// Joins the lines of each option: the name, two blanks or more, the text, and lines that continue it.
    ///
    /// One that is indented further belongs to the option before, and is shown after it.
    private static func options(_ lines: [String]) -> [(name: String, text: String)] {
        var items: [(name: String, text: String)] = []
        var group = ""
        for line in lines {
            let body = line.trimmingPrefix(while: { $0 == " " })
            if body.hasPrefix("-"), let gap = body.firstRange(of: "  ") {
                let text = body[gap.upperBound...].trimmingPrefix(while: { $0 == " " })
                let name = String(body[..<gap.lowerBound])
                if line.utf8.count - body.utf8.count < 10 { group = name }
                let isHelp = name.hasSuffix("--help")
                items.append(
                    (
                        name == group ? name : "\(name) (with \(group))",
                        isHelp
                            ? "print a summary; --man prints this page"
                            : text.hasSuffix("; with") ? String(text.dropLast("; with".count)) : String(text)
                    ))
                if isHelp { break }
            } else if let last = items.indices.last {
                items[last].text += " " + body
            }
        }
        return items
    }

    /// The statuses of the line that begins with `exit:`, and what they mean.
    private static func statuses(_ lines: [String]) -> [(name: String, text: String)] {
        let own = lines.drop { !$0.hasPrefix("exit:") }.map { $0.replacing("exit:", with: "") }
        return own.flatMap { $0.split(separator: "·") }.compactMap { part in
            let part = part.trimmingPrefix(while: { $0 == " " })
            guard let start = part.firstIndex(where: \.isLetter) else { return nil }
            let ends = { (text: Substring) in text.reversed().prefix { $0 == " " }.count }
            let (name, text) = (part[..<start], part[start...])
            return (String(name.dropLast(ends(name))), String(text.dropLast(ends(text))))
        }
    }
}

extension StringProtocol {
    fileprivate func trimmingPrefix(while isRemoved: (Character) -> Bool) -> SubSequence {
        self[(firstIndex { !isRemoved($0) } ?? endIndex)...]
    }
}
