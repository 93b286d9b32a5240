import MCPCore

/// Reads the members of one object in the configuration; a key that was not read is an unknown key.
///
/// A getter returns `nil` if the key is absent and also if its value is wrong. The latter is reported, and
/// reading continues, so that all findings are reported at once.
struct ObjectReader {
    /// The path of the object, such as `tools.git_log`; empty at the top level.
    let path: String
    let position: SourcePosition
    let members: [ConfigMember]
    let context: ConfigContext
    private var known: [String] = []
    /// Keys of designs and of other programs that people expect, and which have no near relative here.
    private static let foreign: Set<String> = ["include", "group"]

    /// Creates a reader, or returns `nil` after reporting an error if the node is not an object.
    init?(_ node: ConfigNode, path: String, context: ConfigContext) {
        guard let members = node.members else {
            context.diagnostics.error(
                "\(path.isEmpty ? "the configuration" : path) must be an object, not "
                    + node.kindName, at: node.position)
            return nil
        }
        self.path = path
        self.position = node.position
        self.members = members
        self.context = context
    }

    /// Returns the path by which messages refer to `key`.
    func pathOf(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func wrongType(_ key: String, _ node: ConfigNode, expected: String) {
        context.diagnostics.error(
            "\(pathOf(key)) must be \(expected), not \(node.kindName)", at: node.position)
    }

    /// Returns the value of a key, which counts as known from now on.
    mutating func node(_ key: String) -> ConfigNode? {
        known.append(key)
        return members.first { $0.key == key }?.value
    }

    /// Returns the place of a key that other programs use; it counts as known, but is never suggested.
    mutating func foreign(_ key: String) -> SourcePosition? {
        guard let member = members.first(where: { $0.key == key }) else { return nil }
        known.append(key)
        return member.keyPosition
    }

    mutating func string(_ key: String) -> String? {
        guard let node = node(key) else { return nil }
        if let text = node.string { return text }
        wrongType(key, node, expected: "a string")
        return nil
    }

    /// Reads a long text: a string, an array of lines, or `{"file": "x.md"}`.
    mutating func text(_ key: String) -> String? {
        guard let node = node(key) else { return nil }
        if let text = node.string { return text }
        if let lines = node.elements {
            for line in lines where line.string == nil {
                wrongType(key, line, expected: "an array of lines, each a string")
            }
            return lines.compactMap(\.string).joined(separator: "\n")
        }
        guard node.members != nil, var reader = ObjectReader(node, path: pathOf(key), context: context) else {
            wrongType(key, node, expected: #"a string, an array of lines or {"file": "…"}"#)
            return nil
        }
        let file = reader.string("file")
        reader.finish()
        guard let file else {
            if !node.hasMember("file") {
                wrongType(key, node, expected: #"a string, an array of lines or {"file": "…"}"#)
            }
            return nil
        }
        do throws(ConfigFileError) {
            return try context.readText(file)
        } catch {
            context.diagnostics.error(
                "\(pathOf(key)): \(error.text)", at: node["file"]?.position ?? node.position)
            return nil
        }
    }

    mutating func bool(_ key: String) -> Bool? {
        guard let node = node(key) else { return nil }
        switch node.kind {
        case .bool(let value): return value
        case .string(let text) where text.isOverride && text.value == "true": return true
        case .string(let text) where text.isOverride && text.value == "false": return false
        default:
            wrongType(key, node, expected: "true or false")
            return nil
        }
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let node = node(key) else { return nil }
        let value: Int?
        switch node.kind {
        case .number(let number): value = number.int64.flatMap { Int(exactly: $0) }
        case .string(let text) where text.isOverride: value = Int(text.value)
        default:
            wrongType(key, node, expected: "a whole number")
            return nil
        }
        if let value, range.contains(value) { return value }
        context.diagnostics.error(
            "\(pathOf(key)) must be a whole number from \(range.lowerBound) to \(range.upperBound)",
            at: node.position)
        return nil
    }

    mutating func duration(_ key: String) -> Duration? {
        guard let node = node(key) else { return nil }
        if let text = node.string, let duration = Units.duration(text) { return duration }
        let got = node.string.map { "\"\($0)\"" } ?? node.kindName
        context.diagnostics.error(
            "\(pathOf(key)) must be a duration like \"30s\", \"500ms\" or \"10m\", not \(got)",
            at: node.position)
        return nil
    }

    mutating func size(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let node = node(key) else { return nil }
        guard let text = node.string, let size = Units.size(text) else {
            let got = node.string.map { "\"\($0)\"" } ?? node.kindName
            context.diagnostics.error(
                "\(pathOf(key)) must be a size like \"256KiB\" or \"4MiB\", not \(got)", at: node.position)
            return nil
        }
        if range.contains(size) { return size }
        let bounds =
            "\(Units.describe(bytes: range.lowerBound)) to \(Units.describe(bytes: range.upperBound))"
        context.diagnostics.error("\(pathOf(key)) must be from \(bounds)", at: node.position)
        return nil
    }

    /// Reads a value that must be one of a few words.
    mutating func word<Word: RawRepresentable & CaseIterable>(_ key: String, as type: Word.Type) -> Word?
    where Word.RawValue == String {
        guard let text = string(key) else { return nil }
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue)
        let list = words.map { "\"\($0)\"" }.joined(separator: ", ")
        context.diagnostics.error(
            "\(pathOf(key)) must be one of \(list)\(Suggestion.hint(for: text, among: words))",
            at: place(of: key))
        return nil
    }

    mutating func strings(_ key: String) -> [String]? {
        guard let node = node(key) else { return nil }
        guard let elements = node.elements else {
            wrongType(key, node, expected: "an array of strings")
            return nil
        }
        for element in elements where element.string == nil {
            wrongType(key, element, expected: "an array of strings")
        }
        return elements.compactMap(\.string)
    }

    mutating func object(_ key: String) -> ObjectReader? {
        node(key).flatMap { ObjectReader($0, path: pathOf(key), context: context) }
    }

    func hasKey(_ key: String) -> Bool { members.contains { $0.key == key } }

    /// Returns the position of a key's value, or that of the object if the key is absent.
    func place(of key: String) -> SourcePosition {
        members.first { $0.key == key }?.value.position ?? position
    }

    /// Reports the keys that were not read.
    func finish() {
        for (index, member) in members.filter({ !known.contains($0.key) }).enumerated() {
            let isKnownElsewhere = Self.foreign.contains(member.key)
            // No more are shown.
            let candidates = index < Diagnostics.maxShown ? known : []
            let hint =
                isKnownElsewhere
                ? ": this version does not have it" : Suggestion.hint(for: member.key, among: candidates)
            context.diagnostics.error(
                "unknown key \"\(member.key)\"\(path.isEmpty ? "" : " in \(path)")\(hint)",
                at: member.keyPosition)
        }
    }
}

extension ConfigNode {
    func hasMember(_ key: String) -> Bool { members?.contains { $0.key == key } ?? false }
}
