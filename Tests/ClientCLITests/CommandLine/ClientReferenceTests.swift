import Foundation
import Testing

@testable import MCPClientCLI

/// What is made from the tables of commands and flags, apart from the help texts.
struct ClientReferenceTests {
    @Test func theReferenceInTheDocumentationIsThatOfTheTables() throws {
        let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized
        let file = root.appending(path: "docs/cli.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let updated = try #require(ClientReference.updating(page))
        if ProcessInfo.processInfo.environment["MCP_WRITE_DOCS"] == "1" {
            try updated.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(page == updated, "make docs updates the page")
        }
    }

    @Test func theManualNamesEveryCommandAndFlag() {
        let text = ClientManual.text
        for command in Command.all { #expect(text.contains("\n.B \(roff(command.synopsis))\n")) }
        for flag in Flag.allCases { #expect(text.contains("\n.B \(roff(flag.row.synopsis))\n")) }
        #expect(text.hasPrefix(".TH MCP-CLIENT 1"))
        // A line that begins with a dot is a request; ours are these and no others.
        let requests = Set(text.split(separator: "\n").filter { $0.hasPrefix(".") }.map { $0.prefix(3) })
        #expect(
            requests.isSubset(of: [".TH", ".SH", ".SS", ".PP", ".TP", ".B ", ".nf", ".fi", ".RS", ".RE"]))
    }

    /// Prose is filled to the width of the page; only tables stay as they are.
    @Test func proseOfTheManualIsFilled() {
        var isLiteral = false
        for line in ClientManual.text.split(separator: "\n") {
            if line == ".nf" { isLiteral = true }
            if line == ".fi" { isLiteral = false }
            if isLiteral, line.first?.isLetter == true {
                #expect(line.hasPrefix("mcp\\-client "), "\(line)")
            }
        }
    }

    private func roff(_ text: String) -> String {
        text.replacingOccurrences(of: "-", with: "\\-").replacingOccurrences(of: "'", with: "\\(aq")
            .replacingOccurrences(of: "…", with: "\\[u2026]")
    }
}
