/// A row of a table of limits.
package struct LimitRow: Hashable, Sendable {
    /// What is limited, as the page says it.
    package let limit: String
    /// How much, as the page says it: the whole cell.
    package let value: String

    /// A row with these two cells.
    package init(_ limit: String, _ value: String) {
        self.limit = limit
        self.value = value
    }
}

/// A row that a page has to have, and what shows that its limit acts: it goes up to the limit, which passes, and
/// one step beyond, which has the outcome that the page names.
package struct LimitProof: Sendable, CustomStringConvertible {
    /// The row of the page.
    package let row: LimitRow
    /// Goes up to the limit and beyond.
    package let acts: @Sendable () async throws -> Void

    /// A row and its proof.
    ///
    /// - Parameter value: made from the constant, so that the page cannot say another one.
    package init(_ limit: String, _ value: String, _ acts: @escaping @Sendable () async throws -> Void) {
        row = LimitRow(limit, value)
        self.acts = acts
    }

    /// What is limited.
    package var description: String { row.limit }
}

/// The tables of limits of a page of docs/: those whose first column is called "limit".
package struct LimitPage: Sendable {
    private var tables: [(section: String, rows: [LimitRow])] = []

    /// The tables of a page.
    ///
    /// - Parameter name: without folder and ending: `limits` is docs/limits.md.
    package init(_ name: String) throws {
        self.init(text: try RepositoryFile.text("docs/\(name).md"))
    }

    /// The tables of a page with this text.
    package init(text: String) {
        var section = ""
        var isTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
            guard line.hasPrefix("|") else {
                isTable = false
                continue
            }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst()
                .map { $0.trimmingBlanks() }
            if cells.first == "limit" {
                isTable = true
                tables.append((section, []))
            } else if isTable, cells.count > 2, !cells[0].hasPrefix("---") {
                tables[tables.count - 1].rows.append(LimitRow(cells[0], cells[1]))
            }
        }
    }

    /// The headings of the tables.
    package var sections: [String] { tables.map(\.section) }

    /// The rows of a table.
    package func rows(of section: String) -> [LimitRow] {
        tables.filter { $0.section == section }.flatMap(\.rows)
    }

    /// What a table says otherwise than these proofs: a row without a proof, a proof without a row.
    package func differences(in section: String, _ proofs: [LimitProof]) -> [String] {
        let (page, proven) = (rows(of: section), proofs.map(\.row))
        return page.filter { !proven.contains($0) }.map { "nothing proves | \($0.limit) | \($0.value) |" }
            + proven.filter { !page.contains($0) }.map { "no row says | \($0.limit) | \($0.value) |" }
            + (Set(proven).count == proven.count ? [] : ["a row is proven twice"])
            + (page.isEmpty ? ["\(section) has no table of limits"] : [])
    }
}

/// Numbers as the pages write them.
package enum LimitText {
    /// 64 KiB
    package static func bytes(_ count: Int) -> String {
        if count >= 1 << 20, count.isMultiple(of: 1 << 20) { return "\(count >> 20) MiB" }
        if count >= 1 << 10, count.isMultiple(of: 1 << 10) { return "\(count >> 10) KiB" }
        return "\(grouped(count)) bytes"
    }

    /// 10,000
    package static func grouped(_ count: Int) -> String {
        let digits = String(count)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// 30 s
    package static func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
}
