import MCPCore

/// A string in the configuration with `{name}` placeholders for the arguments of a call.
///
/// Braces around anything but a name are plain text, as in `{{.Names}}` or `{"a": 1}`; `{{name}}` produces
/// `{name}`.
struct TemplateText: Sendable, Hashable {
    enum Piece: Sendable, Hashable {
        case literal(String)
        case argument(String)
    }

    var pieces: [Piece] = []
    /// The parameter of `{name...}`, if that is the whole text.
    var splat: String?

    /// The reason why a text is not a template.
    struct Flaw: Error {
        var text: String
    }

    var argumentNames: [String] {
        pieces.compactMap { if case .argument(let name) = $0 { name } else { nil } }
            + (splat.map { [$0] } ?? [])
    }

    /// The text, if it has no placeholders.
    var literal: String? {
        if splat != nil { return nil }
        if pieces.isEmpty { return "" }
        if pieces.count == 1, case .literal(let text) = pieces[0] { return text }
        return nil
    }

    /// Creates a text without placeholders.
    init(literal: String) { pieces = literal.isEmpty ? [] : [.literal(literal)] }

    init(_ text: String) throws(Flaw) { try self.init(ConfigText(value: text)) }

    /// Parses a text. What an expansion produced contains no placeholders, whatever it looks like.
    init(_ text: ConfigText) throws(Flaw) {
        let bytes = Array(text.value.utf8)
        var literal: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if text.expanded.contains(where: { $0.contains(index) }) || bytes[index] != UInt8(ascii: "{") {
                literal.append(bytes[index])
                index += 1
                continue
            }
            if index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "{"),
                let inner = Self.placeholder(in: bytes, at: index + 1), inner.end < bytes.count,
                bytes[inner.end] == UInt8(ascii: "}")
            {
                literal.append(contentsOf: bytes[index + 1 ..< inner.end])
                index = inner.end + 1
                continue
            }
            guard let found = Self.placeholder(in: bytes, at: index),
                !text.expanded.contains(where: { $0.overlaps(index ..< found.end) })
            else {
                literal.append(bytes[index])
                index += 1
                continue
            }
            if found.isSplat {
                guard index == 0, found.end == bytes.count else {
                    throw Flaw(
                        text: "{\(found.name)...} must be its own element: it becomes one element per item")
                }
                splat = found.name
                return
            }
            if !literal.isEmpty { pieces.append(.literal(String(decoding: literal, as: UTF8.self))) }
            literal.removeAll()
            pieces.append(.argument(found.name))
            index = found.end
        }
        if !literal.isEmpty { pieces.append(.literal(String(decoding: literal, as: UTF8.self))) }
    }

    /// Returns whether a placeholder can name this parameter.
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, ASCII.isWord(first), !ASCII.isDigit(first) else { return false }
        return text.utf8.allSatisfy(isNameByte)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool { ASCII.isWord(byte) || byte == UInt8(ascii: "-") }

    /// Parses `{name}` or `{name...}` at `start`, where there is a `{`.
    private static func placeholder(in bytes: [UInt8], at start: Int) -> (
        name: String, isSplat: Bool, end: Int
    )? {
        let name = String(decoding: bytes[(start + 1)...].prefix(while: isNameByte), as: UTF8.self)
        guard isName(name) else { return nil }
        let rest = bytes[(start + 1 + name.utf8.count)...]
        if rest.first == UInt8(ascii: "}") { return (name, false, rest.startIndex + 1) }
        if rest.starts(with: "...}".utf8) { return (name, true, rest.startIndex + 4) }
        return nil
    }
}
