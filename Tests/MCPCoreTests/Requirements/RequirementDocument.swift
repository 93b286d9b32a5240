/// docs/requirements.md, from the table, the reasons and what the tests name.
enum RequirementDocument {
    /// More tests than these are not listed.
    private static let shown = 3

    static func text(_ scan: TestScan) -> String {
        var out = """
            # Requirements

            What the specification asks of a server or client, with the tests that name it, or the reason why it does
            not apply. A test names a requirement in a comment: that says what it is meant
            to check, not that it would notice every mistake (`make mutants` looks at that in samples). This page is
            written by `make docs` from the table in `Tests/MCPCoreTests/Requirements` and these comments; a test
            fails when it is out of date.

            Revisions: A is 2024-11-05, B 2025-03-26, C 2025-06-18, D 2025-11-25, E 2026-07-28. A note is no
            sentence of the specification but what follows from one.


            """
        out += summary(scan)
        out += waived(scan)
        for section in Requirements.sections {
            out += "\n## \(section.title)\n\n| id | level | side | revisions | requirement | tests |\n"
            out += "|---|---|---|---|---|---|\n"
            for requirement in section.requirements {
                let cells = [
                    requirement.id, requirement.level.rawValue, requirement.side, requirement.revisions,
                    requirement.text, tests(of: requirement, scan),
                ]
                out += "| \(cells.map(escaped).joined(separator: " | ")) |\n"
            }
        }
        return out
    }

    private static func escaped(_ text: String) -> String { text.replacing("|", with: "\\|") }

    private static func tests(of requirement: Requirement, _ scan: TestScan) -> String {
        let tests = (scan.tests[requirement.id] ?? []).sorted()
        var parts = tests.prefix(shown).map { "`\($0)`" }
        if tests.count > shown { parts.append("and more") }
        var cell = parts.joined(separator: ", ")
        if let reason = Requirements.reasonByID[requirement.id] {
            cell += cell.isEmpty ? "– \(reason.text)" : "; not all: \(reason.text)"
        }
        return cell.isEmpty ? "*under way*" : cell
    }

    private static func summary(_ scan: TestScan) -> String {
        var out = "| level | named by tests | does not apply | under way |\n|---|---|---|---|\n"
        for level in Requirement.Level.allCases {
            let all = Requirements.all.filter { $0.level == level }
            let named = all.count { scan.tests[$0.id] != nil }
            let waived = all.count { scan.tests[$0.id] == nil && Requirements.reasonByID[$0.id] != nil }
            out += "| \(level.rawValue) | \(named) | \(waived) | \(all.count - named - waived) |\n"
        }
        return out
    }

    private static func waived(_ scan: TestScan) -> String {
        let musts = Requirements.all.filter {
            $0.level.isMust && scan.tests[$0.id] == nil && Requirements.reasonByID[$0.id] != nil
        }
        guard !musts.isEmpty else { return "" }
        var out = "\n## Musts that do not apply\n\nEach belongs to a feature that is optional and not offered"
        out += " here, or to the program that uses the library.\n\n"
        for must in musts { out += "- \(must.id): \(Requirements.reasonByID[must.id]?.text ?? "")\n" }
        return out
    }
}
