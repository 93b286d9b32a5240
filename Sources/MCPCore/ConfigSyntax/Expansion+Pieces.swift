/// The syntax of placeholders, for everything that expands, shows or lists them.
extension Expansion {
    /// A part of a text.
    package enum Piece: Sendable, Hashable {
        case text(String)
        /// `$${`, which stands for `${`.
        case escape
        case placeholder(Placeholder)
        /// `${` without a closing `}`, with everything that follows it.
        case unterminated(String)
    }

    package struct Placeholder: Sendable, Hashable {
        /// What a placeholder reads.
        package enum Source: Sendable, Hashable {
            case variable(String, fallback: String?)
            case file(String)
            case input(String)
            case userHome
            case configDirectory
            case workspaceFolder
            case unknown
        }

        /// The placeholder as it is written.
        package let text: String
        /// The text between the braces.
        package let name: String
        package let source: Source

        init(text: String, name: String) {
            self.text = text
            self.name = name
            switch name {
            case "configDir": source = .configDirectory
            case "workspaceFolder": source = .workspaceFolder
            case "userHome": source = .userHome
            default:
                if let file = name.dropping(prefix: "file:") {
                    source = .file(file)
                } else if let id = name.dropping(prefix: "input:") {
                    source = .input(id)
                } else {
                    source = Self.variable(name)
                }
            }
        }

        /// Returns what a name reads that is not one of the others.
        static func variable(_ name: String) -> Source {
            let (key, fallback) = Expansion.splitDefault(name.dropping(prefix: "env:") ?? name)
            return Expansion.isName(key[...]) ? .variable(key, fallback: fallback) : .unknown
        }
    }

    /// Returns the parts of a text, which together are the whole text.
    package static func pieces(of text: String) -> [Piece] {
        if text.hasPrefix("$env:"), isName(text.dropFirst(5)) {
            return [.placeholder(Placeholder(text: text, name: String(text.dropFirst(1))))]
        }
        let source = Array(text.utf8)
        func string(_ range: Range<Int>) -> String { String(decoding: source[range], as: UTF8.self) }
        var pieces: [Piece] = []
        var (start, index) = (0, 0)
        func endText() { if start < index { pieces.append(.text(string(start ..< index))) } }
        while index < source.count {
            let rest = source[index...]
            if rest.starts(with: "$${".utf8) {
                endText()
                pieces.append(.escape)
                index += 3
            } else if rest.starts(with: "${".utf8) {
                endText()
                guard let close = rest.firstIndex(of: UInt8(ascii: "}")) else {
                    return pieces + [.unterminated(string(index ..< source.count))]
                }
                let name = string(index + 2 ..< close)
                pieces.append(.placeholder(Placeholder(text: string(index ..< close + 1), name: name)))
                index = close + 1
            } else {
                index += 1
                continue
            }
            start = index
        }
        endText()
        return pieces
    }

    /// Returns the placeholders in all texts of a tree, in its order: everything that `expand` may read.
    package static func placeholders(in node: ConfigNode) -> [Placeholder] {
        switch node.kind {
        case .string(let text):
            pieces(of: text.value).compactMap { piece in
                if case .placeholder(let placeholder) = piece { placeholder } else { nil }
            }
        case .array(let elements): elements.flatMap { placeholders(in: $0) }
        case .object(let members): members.flatMap { placeholders(in: $0.value) }
        case .null, .bool, .number: []
        }
    }

    private static func splitDefault(_ text: String) -> (key: String, fallback: String?) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix(":-") else { return (text, nil) }
        return (String(text[..<colon]), String(text[colon...].dropFirst(2)))
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !(UInt8(ascii: "0") ... UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return text.utf8.allSatisfy { ASCII.isWord($0) }
    }
}
