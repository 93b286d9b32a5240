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
            if !choices.isEmpty { return choices }
        }
        if let sign = current.firstIndex(of: "=") {
            var name = String(current[..<sign])
            if name.hasPrefix("--") { name = String(name.dropFirst(2)) }
            if name.hasSuffix(":") { name.removeLast() }
            let head = String(current[...sign])
            return Self.choices(Self.property(name, view)).map {
                Candidate(value: head + $0.value, note: $0.note)
            }
        }
        if current.hasPrefix("-") {
            let required = Set(view.required)
            let names = view.propertyNames.map {
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
            return inner.propertyNames.map {
                Candidate(value: head + $0 + "=", note: note(inner, $0, required), isPartial: true)
            }
        }
        let required = Set(view.required)
        let given = self.given
        let names = view.propertyNames.filter {
            // One that begins with - would be a flag.
            !$0.hasPrefix("-") && (!given.contains($0) || isList(view.property($0)))
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

    private static func choices(_ view: SchemaView?) -> [Candidate] {
        guard var view else { return [] }
        if view.types.contains("array") { view = view.items }
        if view.choices.isEmpty, view.types.contains("boolean") {
            return [Candidate(value: "true"), Candidate(value: "false")]
        }
        return view.choices.map { Candidate(value: $0.stringValue ?? $0.serialized()) }
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
                of: String(head.dropLast()), in: "prompt:" + name,
                current: String(current[current.index(after: sign)...]), given: given)
            return values.map { Candidate(value: head + $0.value) }
        }
        let given = given
        let arguments = await server.arguments(ofPrompt: name).filter { !given.contains($0.name) }
        return (arguments.filter(\.required) + arguments.filter { !$0.required }).map { argument in
            Candidate(value: argument.name + "=", note: argument.description ?? "", isPartial: true)
        }
    }
}
