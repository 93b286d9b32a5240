/// One requirement of the specification, in our own words.
struct Requirement: Sendable, Hashable {
    enum Level: String, CaseIterable, Sendable {
        case must = "MUST"
        case mustNot = "MUST NOT"
        case should = "SHOULD"
        case shouldNot = "SHOULD NOT"
        case may = "MAY"
        /// No normative sentence: what follows from one, or what turned out to be needed.
        case note = "NOTE"

        var isMust: Bool { self == .must || self == .mustNot }
    }

    let id: String
    let level: Level
    /// server, client or both.
    let side: String
    /// A is 2024-11-05, B 2025-03-26, C 2025-06-18, D 2025-11-25, E 2026-07-28.
    let revisions: String
    let text: String

    var prefix: String { String(id.prefix { $0 != "-" }) }
}

/// The requirements of the specification that concern this package.
enum Requirements {
    struct Section: Sendable {
        let prefix: String
        let title: String
        var requirements: [Requirement] = []
    }

    static let sections: [Section] = [base, transports, features, conversations, authorization].flatMap(
        sections(of:))
    static let all = sections.flatMap(\.requirements)
    static let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })

    /// Lines that could not be read; none.
    static let unreadable = [base, transports, features, conversations, authorization].flatMap { text in
        text.split(separator: "\n").filter { !$0.hasPrefix("# ") && requirement($0) == nil }.map {
            String($0)
        }
    }

    private static func sections(of text: String) -> [Section] {
        var sections: [Section] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# ") {
                let words = line.split(separator: " ", maxSplits: 2)
                sections.append(Section(prefix: String(words[1]), title: String(words[2])))
            } else if let requirement = requirement(line), !sections.isEmpty {
                sections[sections.count - 1].requirements.append(requirement)
            }
        }
        return sections
    }

    /// `ID [LEVEL · side · revisions] text`
    private static func requirement(_ line: Substring) -> Requirement? {
        guard let open = line.firstIndex(of: "["), let close = line.firstIndex(of: "]"), open < close else {
            return nil
        }
        let parts = line[line.index(after: open) ..< close].split(separator: " · ")
        let id = line[..<open].dropLast()
        let text = line[line.index(after: close)...].dropFirst()
        guard parts.count == 3, let level = Requirement.Level(rawValue: String(parts[0])), !id.isEmpty,
            !text.isEmpty
        else { return nil }
        return Requirement(
            id: String(id), level: level, side: String(parts[1]), revisions: String(parts[2]),
            text: String(text))
    }
}
