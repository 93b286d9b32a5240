import MCPCore

/// Proposes arguments of a tool or a prompt: names, choices, files after `@`, and what the server proposes.
struct ArgumentCandidates {
    let prefix: CommandPrefix
    let server: CompletionServer
    let environment: CommandEnvironment

    func candidates(_ current: String) async -> [Candidate] {
        let subject = prefix.subject ?? ""
        // Files need no server.
        if let at = current.firstRange(of: "=@") {
            let head = String(current[..<at.upperBound])
            let files = FileCandidates(environment).files(String(current[at.upperBound...]))
            return files.map { Candidate(value: head + $0.value, isPartial: $0.isPartial) }
        }
        if prefix.command?.name == "prompt" { return await prompt(subject, current) }
        guard let view = await server.schema(ofTool: subject) else { return [] }
        return tool(view, current)
    }

    // MARK: Tools

    private func tool(_ view: SchemaView, _ current: String) -> [Candidate] {
        if let last = prefix.arguments.last, last.hasPrefix("--"), !last.contains("=") {
            let choices = Self.choices(view.property(String(last.dropFirst(2))))
            if !choices.isEmpty { return choices.compactMap(Self.flagValue).map { Candidate(value: $0) } }
        }
        if let sign = current.firstIndex(of: "=") {
            let head = String(current[...sign])
            return Self.choices(Self.property(Self.name(head), view)).compactMap {
                Self.word(head, $0).map { Candidate(value: $0) }
            }
        }
        if current.hasPrefix("-") {
            let required = Set(view.required)
            let names = view.propertyNames.filter(Self.isName).map {
                Candidate(value: "--" + $0, note: note(view, $0, required))
            }
            return names + [Candidate(value: "--help", note: "show the tool")]
        }
        return names(view, current)
    }

    /// Returns the names of arguments that were not given yet, those that are required first.
    private func names(_ view: SchemaView, _ current: String) -> [Candidate] {
        if let dot = current.lastIndex(of: "."), let inner = Self.property(String(current[..<dot]), view) {
            let head = String(current[...dot])
            let required = Set(inner.required)
            return inner.propertyNames.filter(Self.isName).map {
                Candidate(value: head + $0 + "=", note: note(inner, $0, required), isPartial: true)
            }
        }
        let required = Set(view.required)
        let given = self.given
        let names = view.propertyNames.filter {
            Self.isName($0) && (!given.contains($0) || isList(view.property($0)))
        }
        return (names.filter(required.contains) + names.filter { !required.contains($0) }).map { name in
            let isObject = view.property(name).map { !$0.propertyNames.isEmpty } ?? false
            return Candidate(
                value: name + (isObject ? "." : "="), note: note(view, name, required), isPartial: true)
        }
    }

    private var given: Set<String> {
        Set(
            prefix.arguments.compactMap { word in
                word.firstIndex { $0 == "=" }.map { sign in
                    var name = word[..<sign]
                    while name.hasPrefix("-") { name = name.dropFirst() }
                    return String(name.hasSuffix(":") ? name.dropLast() : name)
                }
            })
    }

    private func isList(_ view: SchemaView?) -> Bool { view?.types.contains("array") ?? false }

    private func note(_ view: SchemaView, _ name: String, _ required: Set<String>) -> String {
        let property = view.property(name)
        let type = property.map { TypeText.signature($0) } ?? "any"
        let words = [
            required.contains(name) ? "required" : "",
            property?.keyword("description")?.stringValue ?? "",
        ]
        return ([type] + words.filter { !$0.isEmpty }).joined(separator: " · ")
    }

    /// Returns the property at `a.b.c`.
    private static func property(_ path: String, _ view: SchemaView) -> SchemaView? {
        if let whole = view.property(path) { return whole }
        var place: SchemaView? = view
        for name in path.split(separator: ".").prefix(8) { place = place?.property(String(name)) }
        return place
    }

    private static func choices(_ view: SchemaView?) -> [JSONValue] {
        guard var view else { return [] }
        if view.types.contains("array") { view = view.items }
        // A flag of this type takes no other word.
        if view.types == ["boolean"] || view.choices.isEmpty && view.types.contains("boolean") {
            return [.bool(true), .bool(false)]
        }
        return view.choices
    }

    // MARK: Texts of a server

    /// Whether a name that the server chose is the whole name of an argument when it is typed: it does not
    /// begin as a flag or an object, and no sign in it ends it.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("-") && !name.hasPrefix("{")
            && ArgumentWord(name + "=").map { $0.key == name && $0.value == .text("") } == true
    }

    /// Returns the name in `NAME=`, `NAME:=` or `--NAME=`.
    private static func name(_ head: String) -> String {
        let name = head.hasPrefix("--") ? head.dropFirst(2).dropLast() : head.dropLast()
        return String(name.hasSuffix(":") ? name.dropLast() : name)
    }

    /// Returns the word that gives an argument a value that the server chose; nil if it would be read as
    /// something else, such as the file that `@` names.
    private static func word(_ head: String, _ value: JSONValue) -> String? {
        let isJSON = head.hasSuffix(":=")
        let text = isJSON ? value.serialized() : value.stringValue ?? value.serialized()
        let word = head + text
        let read = ArgumentWord(head.hasPrefix("--") ? String(word.dropFirst(2)) : word)
        guard read?.key == name(head), read?.value == (isJSON ? .json(text) : .text(text)) else { return nil }
        return word
    }

    /// Returns a value that the server chose as the word after a flag; nil if it would be read as a flag, an
    /// object or a file.
    private static func flagValue(_ value: JSONValue) -> String? {
        let text = value.stringValue ?? value.serialized()
        // A negative number is not a flag.
        let isFlag = text.hasPrefix("-") && value.stringValue != nil
        return !isFlag && !text.hasPrefix("{") && ArgumentWord.text(text) == .text(text) ? text : nil
    }

    // MARK: Prompts

    private func prompt(_ name: String, _ current: String) async -> [Candidate] {
        if let sign = current.firstIndex(of: "=") {
            let head = String(current[...sign])
            var given: JSONObject = [:]
            for word in prefix.arguments {
                guard let sign = word.firstIndex(of: "=") else { continue }
                given[String(word[..<sign])] = .string(String(word[word.index(after: sign)...]))
            }
            let values = await server.values(
                of: Self.name(head), in: "prompt:" + name,
                current: String(current[current.index(after: sign)...]), given: given)
            return values.compactMap { value in
                Self.word(head, .string(value.value)).map { Candidate(value: $0) }
            }
        }
        let given = given
        let arguments = await server.arguments(ofPrompt: name).filter {
            Self.isName($0.name) && !given.contains($0.name)
        }
        return (arguments.filter(\.required) + arguments.filter { !$0.required }).map { argument in
            Candidate(value: argument.name + "=", note: argument.description ?? "", isPartial: true)
        }
    }
}
