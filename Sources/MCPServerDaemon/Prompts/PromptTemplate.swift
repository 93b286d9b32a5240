import MCPCore

/// Text with `{{name}}` placeholders, filled in one pass: what an argument contains is never a placeholder.
struct PromptTemplate: Sendable, Hashable {
    private enum Piece: Sendable, Hashable {
        case literal(String)
        case argument(String)
    }

    private var pieces: [Piece] = []
    /// Every placeholder, with its offset in the UTF-8 of the text.
    private(set) var placeholders: [Placeholder] = []

    struct Placeholder: Sendable, Hashable {
        var name: String
        var offset: Int
    }

    init(_ text: String) {
        var looks = 0
        self.init(text, looks: &looks)
    }

    /// - Parameter looks: incremented by the number of bytes examined for the end of a placeholder.
    init(_ text: String, looks: inout Int) {
        let bytes = Array(text.utf8)
        var literal: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard let found = Self.placeholder(in: bytes, at: index, &looks) else {
                literal.append(bytes[index])
                index += 1
                continue
            }
            if !literal.isEmpty { pieces.append(.literal(String(decoding: literal, as: UTF8.self))) }
            literal.removeAll()
            pieces.append(.argument(found.name))
            placeholders.append(Placeholder(name: found.name, offset: index))
            index = found.end
        }
        if !literal.isEmpty { pieces.append(.literal(String(decoding: literal, as: UTF8.self))) }
    }

    /// Returns the text with the arguments inserted; absent ones leave nothing behind.
    func render(_ values: [String: String]) -> String {
        pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .argument(let name): values[name] ?? ""
            }
        }.joined()
    }

    /// Returns the placeholder `{{name}}` or `{{ name }}` at `start`.
    private static func placeholder(
        in bytes: [UInt8], at start: Int, _ looks: inout Int
    ) -> (name: String, end: Int)? {
        guard bytes[start...].starts(with: "{{".utf8) else { return nil }
        // A name is short: a pair of braces without its end must not cost a scan of the rest of the text each
        // time.
        let window = bytes[(start + 2)...].prefix(100)
        let end = window.firstIndex(of: UInt8(ascii: "}"))
        looks += (end ?? window.endIndex) - window.startIndex
        guard let close = end, bytes[close...].starts(with: "}}".utf8) else { return nil }
        let name = String(decoding: bytes[start + 2 ..< close], as: UTF8.self).trimmed
        return TemplateText.isName(name) ? (name, close + 2) : nil
    }
}
