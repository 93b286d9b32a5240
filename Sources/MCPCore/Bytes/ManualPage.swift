/// A page for man(1), written with the macros of man(7).
package struct ManualPage {
    private var lines: [String]

    /// - Parameters:
    ///   - name: the name of the program.
    ///   - summary: what it does, in a few words that follow "name - ".
    ///   - date: the date of the page, as in `2026-07-28`; nil for none.
    package init(_ name: String, summary: String, version: String, date: String? = nil) {
        lines = [
            ".TH \(name.uppercased()) 1 \"\(date ?? "")\" \"\(name) \(version)\"", ".SH NAME",
            Self.escaped("\(name) - \(summary)"),
        ]
    }

    package mutating func section(_ title: String) { lines.append(".SH \"\(Self.escaped(title))\"") }

    package mutating func subsection(_ title: String) { lines.append(".SS \"\(Self.escaped(title))\"") }

    package mutating func paragraph(_ text: String) {
        begin()
        lines.append(Self.line(text))
    }

    /// Begins a paragraph, which the title of a section does as well.
    private mutating func begin() {
        if let last = lines.last, !last.hasPrefix(".S") { lines.append(".PP") }
    }

    /// Adds lines that are shown as they are.
    package mutating func literal(_ text: [String], isIndented: Bool = false) {
        if isIndented { lines.append(".RS") } else { begin() }
        lines += [".nf"] + text.map(Self.line) + [".fi"]
        if isIndented { lines.append(".RE") }
    }

    /// Adds a paragraph below the meaning of the last item.
    package mutating func note(_ text: String) { lines += [".RS", ".PP", Self.line(text), ".RE"] }

    /// Adds a term and what it means.
    package mutating func item(_ term: String, _ text: String) {
        lines += [".TP", ".B " + Self.escaped(term), Self.line(text)]
    }

    package var text: String { lines.joined(separator: "\n") + "\n" }

    /// Returns a line of text: at the start of a line, a dot or an apostrophe would be a request.
    private static func line(_ text: String) -> String {
        let text = escaped(text)
        return text.hasPrefix(".") ? "\\&" + text : text.isEmpty ? "\\&" : text
    }

    private static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": out += "\\e"
            case "-": out += "\\-"
            case "'": out += "\\(aq"
            case "`": out += "\\(ga"
            case "^": out += "\\(ha"
            case "~": out += "\\(ti"
            case "\"": out += "\\(dq"
            default:
                if scalar.isASCII {
                    out.unicodeScalars.append(scalar)
                } else {
                    let hex = String(scalar.value, radix: 16, uppercase: true)
                    out += "\\[u\(String(repeating: "0", count: max(0, 4 - hex.count)))\(hex)]"
                }
            }
        }
        return out
    }
}
