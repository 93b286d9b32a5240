import TestSupport

/// Which tests name which requirements, read from the sources of all tests.
///
/// A test names a requirement in a comment above it, in its signature or in its body, and so does a table of
/// arguments for the tests that take it. Comments of helpers prove nothing and are only checked for ids that
/// do not exist.
struct TestScan: Sendable {
    /// `Suite.test` by requirement.
    private(set) var tests: [String: Set<String>] = [:]
    /// Every id that a comment names, with where.
    private(set) var mentions: [(id: String, place: String)] = []
    /// Tests in places that this scan does not understand.
    private(set) var unseen: [String] = []

    /// The tests of this repository.
    static let shared = TestScan(below: "Tests")

    init(below folder: String) {
        for path in (try? RepositoryFile.swiftFiles(below: folder)) ?? [] {
            if let text = try? RepositoryFile.text("\(folder)/\(path)") { read(text, path) }
        }
    }

    init(text: String) { read(text, "text") }

    /// Something declared in a type, with the comments above it.
    private final class Member {
        private(set) var lines: [(number: Int, text: String)] = []
        /// Only comments and attributes so far.
        private(set) var isOpen = true

        /// - Parameter isPreface: the line may stand above a declaration.
        func take(_ line: (number: Int, text: String), isPreface: Bool) {
            lines.append(line)
            let code = TestScan.split(line.text).code
            let declares = [" func ", " let ", " var ", " struct ", " init("].contains { code.contains($0) }
            let isAttribute = code.hasPrefix("    @") || code.hasPrefix("    ]") || code.hasPrefix("    )")
            if isAttribute ? declares : !isPreface { isOpen = false }
        }

        var code: String { lines.map { TestScan.split($0.text).code }.joined(separator: "\n") }
        var isTest: Bool { code.contains("\n    @Test") || code.hasPrefix("    @Test") }
        /// What stands before the name, attributes and their arguments included.
        var attributes: Substring {
            code.prefix(upTo: code.firstRange(of: "func ")?.lowerBound ?? code.endIndex)
        }

        /// The name of the function or table.
        var name: String? {
            for word in ["func ", "static let ", "static var "] {
                guard let start = code.firstRange(of: word) else { continue }
                return String(code[start.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
            }
            return nil
        }

        var ids: [(id: String, line: Int)] {
            lines.flatMap { line in
                TestScan.ids(in: TestScan.split(line.text).comment).map { ($0, line.number) }
            }
        }
    }

    /// The lines; suites that stand in an extension of the suite that serializes them stand outside here.
    private static func lines(_ text: String) -> [Substring] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("extension ") && $0.hasSuffix(" {") }),
            let end = lines[start...].firstIndex(of: "}"),
            lines[start ..< end].contains(where: { $0.hasPrefix("    @Suite") })
        else { return lines }
        for index in start ... end {
            lines[index] = lines[index].hasPrefix("    ") ? lines[index].dropFirst(4) : ""
        }
        return lines
    }

    private mutating func read(_ text: String, _ path: String) {
        var suite = ""
        var above: [(number: Int, text: String)] = []
        var members: [Member] = []
        var isInString = false
        for (index, line) in Self.lines(text).enumerated() {
            let numbered = (number: index + 1, text: String(line))
            // What a long string says is nobody's comment.
            let wasInString = isInString
            if isInString ? Self.ends(line) : line.hasSuffix(Self.quotes) { isInString.toggle() }
            if wasInString, isInString { continue }
            let indent = line.prefix { $0 == " " }.count
            if wasInString || line.isEmpty || indent > 4 || (indent == 4 && Self.goesOn(line)) {
                let code = Self.split(numbered.text).code.drop { $0 == " " }
                if indent > 4, code.hasPrefix("@Test") { unseen.append("\(path):\(index + 1)") }
                members.last?.take(numbered, isPreface: indent > 4)
            } else if indent == 4 {
                if members.last?.isOpen != true { members.append(Member()) }
                members.last?.take(numbered, isPreface: line.hasPrefix("    //") || line.hasPrefix("    @"))
            } else if line.hasPrefix("//") || (line.hasPrefix("@") && Self.typeName(in: line) == nil) {
                above.append(numbered)
            } else {
                finish(members, suite, path)
                members = []
                if let name = Self.typeName(in: line) { suite = name }
                finish(suite, above + [numbered], path)
                above = []
            }
        }
        finish(members, suite, path)
    }

    private static let quotes = String(repeating: "\"", count: 3)

    /// Whether a long string ends with this line.
    private static func ends(_ line: Substring) -> Bool { line.drop { $0 == " " }.hasPrefix(quotes) }

    /// A line that begins with a closing bracket belongs to the declaration before it.
    private static func goesOn(_ line: Substring) -> Bool {
        line.dropFirst(4).first.map { "}])({".contains($0) } ?? false
    }

    /// What stands above a suite holds for all of its tests.
    private mutating func finish(_ suite: String, _ lines: [(number: Int, text: String)], _ path: String) {
        let isSuite = lines.contains { Self.split($0.text).code.contains("@Suite") }
        for line in lines {
            for id in Self.ids(in: Self.split(line.text).comment) {
                mentions.append((id, "\(path):\(line.number)"))
                if isSuite { tests[id, default: []].insert(suite) }
            }
        }
    }

    private mutating func finish(_ members: [Member], _ suite: String, _ path: String) {
        for member in members {
            let ids = member.ids
            for (id, line) in ids { mentions.append((id, "\(path):\(line)")) }
            guard !ids.isEmpty, let name = member.name else { continue }
            let users = member.isTest ? [name] : Self.users(of: name, among: members)
            for (id, _) in ids { for user in users { tests[id, default: []].insert("\(suite).\(user)") } }
        }
    }

    /// The tests that take a table as their arguments.
    private static func users(of table: String, among members: [Member]) -> [String] {
        members.filter(\.isTest).filter { test in
            test.attributes.split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { $0 == table }
        }.compactMap(\.name)
    }

    private static func typeName(in line: Substring) -> String? {
        let words = line.split(separator: " ")
        for word in ["struct", "class", "enum", "extension", "actor"] {
            guard let place = words.firstIndex(of: Substring(word)), place + 1 < words.count else { continue }
            return String(words[place + 1].prefix { $0.isLetter || $0.isNumber })
        }
        return nil
    }

    /// A line's code and its comment. A `//` inside an address has a colon before it.
    static func split(_ line: String) -> (code: Substring, comment: Substring) {
        var rest = line[...]
        while let slashes = rest.firstRange(of: "//") {
            let before =
                slashes.lowerBound == line.startIndex ? " " : line[line.index(before: slashes.lowerBound)]
            if before == " " { return (line[..<slashes.lowerBound], line[slashes.upperBound...]) }
            rest = rest[slashes.upperBound...]
        }
        return (line[...], "")
    }

    /// `TOOL-17`, also `LEG-21 to LEG-26`.
    static func ids(in comment: Substring) -> [String] {
        var found: [String] = []
        var isRange = false
        for word in comment.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "-") }) {
            if word == "to" {
                isRange = !found.isEmpty
                continue
            }
            defer { isRange = false }
            let parts = word.split(separator: "-")
            guard parts.count == 2, Requirements.prefixes.contains(String(parts[0])), parts[1].count == 2,
                let number = Int(parts[1])
            else { continue }
            if isRange, let first = found.last?.suffix(2), let start = Int(first),
                found.last?.hasPrefix(parts[0] + "-") == true, start < number
            {
                found += (start + 1 ... number).map { "\(parts[0])-\($0 < 10 ? "0" : "")\($0)" }
            } else {
                found.append(String(word))
            }
        }
        return found
    }
}

extension Requirements {
    static let prefixes = Set(sections.map(\.prefix))
}
