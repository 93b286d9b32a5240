import MCPCore

/// The arguments of a tool as words of a command line, in the forms of mcp-client: `name=value`,
/// `name:=JSON`, `--name value`, `--flag` and `{…}`.
///
/// Names of members and files are for clients: here, JSON and the shell express them.
struct ToolWords {
    /// A mistake in the words.
    struct Flaw: Error {
        var text: String
    }

    let view: SchemaView
    private var object = JSONObject()

    private init(_ schema: JSONValue) { view = SchemaView(schema) }

    /// Returns the arguments; the schema decides the type of each value, and the call whether they are valid.
    static func arguments(_ words: [String], schema: JSONValue) throws(Flaw) -> JSONObject {
        var reader = ToolWords(schema)
        var rest = words[...]
        while let word = rest.popFirst() { try reader.read(word, &rest) }
        return reader.object
    }

    private mutating func read(_ word: String, _ rest: inout ArraySlice<String>) throws(Flaw) {
        if word.hasPrefix("{") {
            guard let members = (try? JSONValue(parsing: word))?.objectValue else {
                throw Flaw(text: "the {…} argument is not a JSON object")
            }
            for (name, value) in members { object[name] = value }
        } else if word.hasPrefix("--"), word.utf8.count > 2 {
            let body = String(word.dropFirst(2))
            if let argument = ArgumentWord(body) { return try add(argument) }
            if view.property(body)?.types == ["boolean"] {
                return try add(ArgumentWord(key: body, .flag))
            }
            guard let value = rest.popFirst() else { throw Flaw(text: "\(word) needs a value") }
            try add(ArgumentWord(key: body, .text(value)))
        } else if let argument = ArgumentWord(word) {
            try add(argument)
        } else if word == "-c" {
            throw Flaw(text: "-c must come before the tool: mcp-server explain -c FILE TOOL")
        } else {
            throw Flaw(text: "\(TerminalText.quoted(word)) has no name: write NAME=value")
        }
    }

    private mutating func add(_ argument: ArgumentWord) throws(Flaw) {
        let name = argument.key
        guard let property = view.property(name) ?? view.otherMembers else {
            let near = Suggestion.best(for: name, among: view.propertyNames)
            throw Flaw(
                text: "no argument named \(TerminalText.quoted(name))"
                    + (near.map { "; did you mean \($0)?" } ?? ""))
        }
        let isArray = property.types.contains("array")
        let value: JSONValue
        switch argument.value {
        case .flag: value = true
        case .json(let text):
            guard let parsed = try? JSONValue(parsing: text) else {
                throw Flaw(text: "\(TerminalText.inline(name)):=… is not JSON")
            }
            object[name] = parsed
            return
        case .text(let text): value = try typed(text, isArray ? property.items : property, name)
        case .textFile, .jsonFile:
            throw Flaw(
                text: "\(TerminalText.inline(name))=@… reads files only in mcp-client; the text itself is "
                    + "\(TerminalText.inline(name)):='\"@…\"'")
        }
        if isArray {
            object[name] = .array((object[name]?.arrayValue ?? []) + [value])
        } else if object[name] != nil {
            throw Flaw(text: "\(TerminalText.inline(name)) is given twice but accepts one value")
        } else {
            object[name] = value
        }
    }

    private func typed(_ text: String, _ view: SchemaView, _ name: String) throws(Flaw) -> JSONValue {
        switch TypedWord.value(text, view, name: TerminalText.inline(name)) {
        case .value(let value): return value
        case .problem(let problem): throw Flaw(text: "\(TerminalText.inline(name)): \(problem)")
        }
    }
}
