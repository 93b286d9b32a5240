/// Reads JSON with `//` and `/* */` comments and trailing commas into a tree with positions.
///
/// Everything else is as strict as JSON itself: strings and numbers go through the library's own parser. Keys
/// that occur twice are errors, because a reader of the file cannot know which one counts.
package struct JSONCParser {
    /// The nesting limit, deeper than any configuration needs; it bounds the recursion.
    package static let maxDepth = 64

    /// The error that ends the parse where nothing sensible can follow; the finding is already in the
    /// diagnostics.
    package struct Stop: Error {}

    private let source: SourceText
    private let diagnostics: Diagnostics
    private let acceptsMark: Bool
    private var position = 0
    private var bytes: [UInt8] { source.bytes }

    private init(_ source: SourceText, _ diagnostics: Diagnostics, acceptsMark: Bool) {
        self.source = source
        self.diagnostics = diagnostics
        self.acceptsMark = acceptsMark
    }

    /// Returns the tree, or `nil` if the text is not JSONC; what was wrong is added to `diagnostics`.
    ///
    /// - Parameter acceptsMark: whether a byte order mark may come first, as in files of other programs.
    package static func parse(
        _ source: SourceText, into diagnostics: Diagnostics, acceptsMark: Bool = false
    ) -> ConfigNode? {
        var parser = JSONCParser(source, diagnostics, acceptsMark: acceptsMark)
        guard let root = try? parser.parseDocument() else { return nil }
        return root
    }

    private mutating func parseDocument() throws(Stop) -> ConfigNode {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            guard !acceptsMark else { return try parseRoot(from: 3) }
            throw fail("the file begins with a byte order mark: save it as UTF-8 without one", at: 0)
        }
        return try parseRoot(from: 0)
    }

    private mutating func parseRoot(from start: Int) throws(Stop) -> ConfigNode {
        position = start
        try skipBlank()
        let root = try parseValue(depth: 0)
        try skipBlank()
        if position < bytes.count { throw fail("only comments may follow the configuration's object") }
        return root
    }

    private func fail(_ text: String, at offset: Int? = nil) -> Stop {
        diagnostics.error(text, at: source.position(at: offset ?? position))
        return Stop()
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Skips white space and comments.
    private mutating func skipBlank() throws(Stop) {
        while let byte = peek() {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            case UInt8(ascii: "/"): try skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() throws(Stop) {
        let start = position
        let next = position + 1 < bytes.count ? bytes[position + 1] : 0
        if next == UInt8(ascii: "/") {
            while let byte = peek(), byte != 0x0A { _ = byte; position += 1 }
            return
        }
        guard next == UInt8(ascii: "*") else { throw fail("a comment begins with // or /*") }
        position += 2
        while position + 1 < bytes.count {
            if bytes[position] == UInt8(ascii: "*"), bytes[position + 1] == UInt8(ascii: "/") {
                position += 2
                return
            }
            position += 1
        }
        throw fail("this comment has no closing */", at: start)
    }

    private mutating func parseValue(depth: Int) throws(Stop) -> ConfigNode {
        guard depth < Self.maxDepth else { throw fail("nested deeper than \(Self.maxDepth) levels") }
        guard let byte = peek() else { throw fail("the file ends where a value is expected") }
        let place = source.position(at: position)
        switch byte {
        case UInt8(ascii: "{"): return ConfigNode(kind: .object(try parseMembers(depth)), position: place)
        case UInt8(ascii: "["): return ConfigNode(kind: .array(try parseElements(depth)), position: place)
        case UInt8(ascii: "\""):
            return ConfigNode(kind: .string(ConfigText(value: try parseString())), position: place)
        case UInt8(ascii: "'"): throw fail("strings must be in double quotes")
        default: return ConfigNode(kind: try parseWord(), position: place)
        }
    }

    private mutating func parseMembers(_ depth: Int) throws(Stop) -> [ConfigMember] {
        let start = position
        position += 1
        var members: [ConfigMember] = []
        var places: [String: Int] = [:]
        while true {
            try skipBlank()
            guard let byte = peek() else { throw fail("this { has no closing }", at: start) }
            if byte == UInt8(ascii: "}") { break }
            guard byte == UInt8(ascii: "\"") else { throw fail("expected a key in double quotes or }") }
            let keyPosition = source.position(at: position)
            let key = try parseString()
            try skipBlank()
            guard peek() == UInt8(ascii: ":") else { throw fail("expected : after the key \"\(key)\"") }
            position += 1
            try skipBlank()
            let value = try parseValue(depth: depth + 1)
            if let place = places[key] {
                let line = members[place].keyPosition.line
                diagnostics.error("duplicate key \"\(key)\" (first on line \(line))", at: keyPosition)
            } else {
                places[key] = members.count
                members.append(ConfigMember(key: key, keyPosition: keyPosition, value: value))
            }
            try parseSeparator(closing: UInt8(ascii: "}"), opened: start)
        }
        position += 1
        return members
    }

    private mutating func parseElements(_ depth: Int) throws(Stop) -> [ConfigNode] {
        let start = position
        position += 1
        var elements: [ConfigNode] = []
        while true {
            try skipBlank()
            guard let byte = peek() else { throw fail("this [ has no closing ]", at: start) }
            if byte == UInt8(ascii: "]") { break }
            elements.append(try parseValue(depth: depth + 1))
            try parseSeparator(closing: UInt8(ascii: "]"), opened: start)
        }
        position += 1
        return elements
    }

    /// Consumes a comma, or leaves the closing bracket to the caller.
    ///
    /// A missing comma is reported and tolerated, so that the rest of the file is checked too.
    private mutating func parseSeparator(closing: UInt8, opened: Int) throws(Stop) {
        let end = position
        try skipBlank()
        guard let byte = peek() else {
            throw fail(
                closing == UInt8(ascii: "}") ? "this { has no closing }" : "this [ has no closing ]",
                at: opened)
        }
        if byte == UInt8(ascii: ",") {
            position += 1
            try skipBlank()
            if peek() == UInt8(ascii: ",") { throw fail("a value is missing between two commas") }
        } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
            if byte != closing {
                throw fail(
                    "expected \(closing == UInt8(ascii: "}") ? "}" : "]") to close the bracket that line "
                        + "\(source.position(at: opened).line) opens")
            }
        } else if byte == UInt8(ascii: ":") {
            throw fail("unexpected :")
        } else {
            diagnostics.error("a comma is missing", at: source.position(at: end))
        }
    }

    private mutating func parseString() throws(Stop) -> String {
        let start = position
        position += 1
        while let byte = peek(), byte != UInt8(ascii: "\"") {
            if byte == 0x0A { throw fail("this string has no closing quotation mark", at: start) }
            position += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        guard position < bytes.count else {
            throw fail("this string has no closing quotation mark", at: start)
        }
        position += 1
        do {
            let value = try JSONValue(parsing: Array(bytes[start ..< position]))
            return value.stringValue ?? ""
        } catch {
            throw fail(
                "this string is not valid JSON: \(Self.reason(error))", at: start + max(error.offset, 0))
        }
    }

    /// Returns the text of an error without its own position, which counts from the start of the string.
    private static func reason(_ error: JSONError) -> String {
        let text = error.description
        let place = text.indices.first { text[$0...].hasPrefix(" (at byte ") }
        return place.map { String(text[..<$0]) } ?? text
    }

    /// Parses a number, `true`, `false` or `null`.
    private mutating func parseWord() throws(Stop) -> ConfigNode.Kind {
        let start = position
        while let byte = peek(), Self.isWordByte(byte) { position += 1 }
        let word = String(decoding: bytes[start ..< position], as: UTF8.self)
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "": throw fail("expected a value", at: start)
        default: break
        }
        guard let value = try? JSONValue(parsing: Array(bytes[start ..< position])),
            case .number(let number) = value
        else {
            let hint = Suggestion.hint(for: word, among: ["true", "false", "null"])
            throw fail("\(word) is not a JSON value; strings must be in double quotes\(hint)", at: start)
        }
        return .number(number)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00 ... 0x20, UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: "}"),
            UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "\""), UInt8(ascii: "/"):
            false
        default: true
        }
    }
}
