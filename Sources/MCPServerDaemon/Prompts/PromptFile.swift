import MCPCore

/// Reads a prompt file: an optional header between lines of `---`, then the text.
///
///     ---
///     name: review
///     title: Code review
///     description: Reviews a piece of code for faults.
///     arguments:
///       code: The code to review
///       style?: How strict to be
///     ---
///     Review this code: {{code}}
///
/// The header has one `key: value` per line, and supports neither quotes nor nesting except for the indented
/// lines of `arguments`; a `?` after an argument's name makes it optional.
struct PromptFile {
    private static let keys = ["name", "title", "description", "arguments"]

    private let source: SourceText
    private let diagnostics: Diagnostics
    private var prompt: PromptDefinition
    private var offset = 0

    private init(_ source: SourceText, defaultName: String, _ diagnostics: Diagnostics) {
        self.source = source
        self.diagnostics = diagnostics
        prompt = PromptDefinition(name: defaultName)
    }

    /// Parses the prompt in a file; `defaultName` is used if the header has no name.
    static func parse(
        _ source: SourceText, defaultName: String, into diagnostics: Diagnostics
    ) -> PromptDefinition? {
        var file = PromptFile(source, defaultName: defaultName, diagnostics)
        return file.parse()
    }

    private mutating func parse() -> PromptDefinition? {
        guard String(validating: source.bytes, as: UTF8.self) != nil else {
            diagnostics.error("the file is not UTF-8 text", at: source.position(at: 0))
            return nil
        }
        if source.bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            diagnostics.error(
                "the file begins with a byte order mark: save it as UTF-8 without one",
                at: source.position(at: 0))
            return nil
        }
        if let first = nextLine(), first.text == "---" {
            guard parseHeader() else { return nil }
        } else {
            offset = 0
        }
        while offset < source.bytes.count, source.bytes[offset] == 0x0A || source.bytes[offset] == 0x0D {
            offset += 1
        }
        var body = source.bytes[offset...]
        while let last = body.last, last == 0x0A || last == 0x0D { body.removeLast() }
        if body.isEmpty { diagnostics.error("the prompt has no text", at: source.position(at: offset)) }
        prompt.template = PromptTemplate(String(decoding: body, as: UTF8.self))
        checkPlaceholders(bodyOffset: offset)
        return prompt
    }

    /// Returns the next line without its end, or `nil` after the last one.
    private mutating func nextLine() -> (text: String, offset: Int)? {
        guard offset < source.bytes.count else { return nil }
        let start = offset
        let end = source.bytes[start...].firstIndex(of: 0x0A) ?? source.bytes.count
        offset = min(end + 1, source.bytes.count)
        var line = source.bytes[start ..< end]
        while let last = line.last, ASCII.isLineBlank(last) { line.removeLast() }
        return (String(decoding: line, as: UTF8.self), start)
    }

    private mutating func parseHeader() -> Bool {
        var seen: [String] = []
        while let line = nextLine() {
            if line.text == "---" { return true }
            if line.text.isEmpty || line.text.hasPrefix("#") { continue }
            let position = source.position(at: line.offset)
            guard let (key, value) = Self.pair(line.text) else {
                diagnostics.error("a line of the header must have the form \"key: value\"", at: position)
                continue
            }
            if line.text.hasPrefix(" ") || line.text.hasPrefix("\t") {
                if seen.last == "arguments" {
                    addArgument(key, value, at: position)
                } else {
                    diagnostics.error("only lines under arguments may be indented", at: position)
                }
                continue
            }
            if seen.contains(key) { diagnostics.error("duplicate key \(key)", at: position) }
            seen.append(key)
            set(key, value, at: position)
        }
        diagnostics.error("the header is never closed with ---", at: source.position(at: 0))
        return false
    }

    private mutating func set(_ key: String, _ value: String, at position: SourcePosition) {
        switch key {
        case "name":
            if value.isEmpty { diagnostics.error("name must not be empty", at: position) }
            prompt.name = value
        case "title": prompt.title = value.isEmpty ? nil : value
        case "description": prompt.description = value.isEmpty ? nil : value
        case "arguments":
            if !value.isEmpty {
                diagnostics.error(
                    "arguments must be on indented lines of their own: \"  code: What it is\"",
                    at: position)
            }
        default:
            diagnostics.error(
                "unknown key \"\(key)\" in the header\(Suggestion.hint(for: key, among: Self.keys))",
                at: position)
        }
    }

    private mutating func addArgument(_ key: String, _ value: String, at position: SourcePosition) {
        let name = key.dropping(suffix: "?") ?? key
        guard TemplateText.isName(name) else {
            diagnostics.error(
                "\"\(name)\" is not an argument name (letters, digits, _ and -)", at: position)
            return
        }
        if prompt.arguments.contains(where: { $0.name == name }) {
            diagnostics.error("argument \(name) occurs twice", at: position)
            return
        }
        prompt.arguments.append(
            .init(name: name, description: value.isEmpty ? nil : value, isRequired: name == key))
    }

    private func checkPlaceholders(bodyOffset: Int) {
        let names = prompt.arguments.map(\.name)
        for placeholder in prompt.template.placeholders where !names.contains(placeholder.name) {
            let near = Suggestion.best(for: placeholder.name, among: names).map {
                " (did you mean {{\($0)}}?)"
            }
            diagnostics.error(
                "placeholder {{\(placeholder.name)}} is not in \"arguments\"\(near ?? "")",
                at: source.position(at: bodyOffset + placeholder.offset))
        }
        for name in names where !prompt.template.placeholders.contains(where: { $0.name == name }) {
            diagnostics.warning("argument \(name) is not used in the text", at: source.position(at: 0))
        }
    }

    private static func pair(_ line: String) -> (key: String, value: String)? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let key = String(line[..<colon]).trimmed
        return key.isEmpty ? nil : (key, String(line[line.index(after: colon)...]).trimmed)
    }
}
