import MCPCore

/// The manual page mcp-server(1), made from the help text.
enum ServerManual {
    static var text: String {
        var page = ManualPage(
            "mcp-server", summary: "expose commands, files, prompts and other servers over MCP",
            version: DaemonVersion.current)
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
        page.section("NOTES")
        page.literal(blocks.last ?? [])
        page.section("FILES")
        page.item(
            "$XDG_CONFIG_HOME/mcp-server/mcp.jsonc, /etc/mcp-server/mcp.jsonc",
            "the configuration; the first one that exists is used")
        page.section("SEE ALSO")
        page.paragraph("mcp-client(1)")
        return page.text
    }

    /// Joins the lines of each option: the name, two blanks or more, the text, and lines that continue it.
    private static func options(_ lines: [String]) -> [(name: String, text: String)] {
        var items: [(name: String, text: String)] = []
        for line in lines {
            let body = line.trimmingPrefix(while: { $0 == " " })
            if body.hasPrefix("-"), let gap = body.firstRange(of: "  ") {
                let text = body[gap.upperBound...].trimmingPrefix(while: { $0 == " " })
                items.append((String(body[..<gap.lowerBound]), String(text)))
            } else if let last = items.indices.last {
                items[last].text += " " + body
            }
        }
        return items
    }
}

extension StringProtocol {
    fileprivate func trimmingPrefix(while isRemoved: (Character) -> Bool) -> SubSequence {
        self[(firstIndex { !isRemoved($0) } ?? endIndex)...]
    }
}
