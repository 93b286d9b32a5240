import MCPCore

/// The sources of arguments besides the command line.
struct ArgumentInput: Sendable {
    /// Reads the bytes of a file.
    var file: @Sendable (String) throws(Failure) -> [UInt8]
    /// Reads the bytes of a file with a secret, which is short; nil: as any other file.
    var secretFile: (@Sendable (String) throws(Failure) -> [UInt8])?
    /// Reads the bytes of stdin, to its end.
    var stdin: @Sendable () throws(Failure) -> [UInt8]
    /// Whether stdin is a shell pipe or a file, so that the whole object may come from there.
    var isStdinPiped: Bool
}

/// A builder that makes the arguments object from the words after the tool name.
///
/// Every form takes the same typed path, on which the schema determines the type. Problems are collected so
/// that one run shows all of them. Failures are thrown only for input that cannot be read at all.
struct ArgumentBuilder {
    let view: SchemaView
    let input: ArgumentInput
    /// The name of the tool or prompt, for messages.
    private let name: String
    private let acceptsUnknown: Bool
    private var whole: JSONObject?
    var groups: [Group] = []
    var usesStdin = false
    var problems: [ArgumentProblem] = []
    /// The names of the arguments, in the order of the words.
    private(set) var order: [String] = []

    /// All values given for one location in the object.
    struct Group {
        let key: String
        let path: [String]
        let view: SchemaView
        var values: [ArgumentWord.Value]
    }

    /// Creates a builder for the arguments of a tool or prompt.
    ///
    /// - Parameter acceptsUnknown: whether names that the schema does not list are treated as text, not as
    ///   problems.
    init(name: String, schema: JSONValue, input: ArgumentInput, acceptsUnknown: Bool = false) {
        self.name = name
        self.acceptsUnknown = acceptsUnknown
        view = SchemaView(schema)
        self.input = input
    }

    /// Builds the object as far as the words allow; check `problems` afterwards.
    mutating func build(_ words: [String]) throws(Failure) -> JSONObject {
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            try read(word, words, &index)
        }
        if whole == nil { whole = try pipedObject() }
        var object = whole ?? [:]
        for group in groups {
            if let value = try value(of: group) { Self.set(value, at: group.path[...], in: &object) }
        }
        return object
    }

    private mutating func read(_ word: String, _ words: [String], _ index: inout Int) throws(Failure) {
        if word.hasPrefix("{") {
            if whole != nil {
                throw .usage("there are two {…} arguments", hint: "give one object, and k=v for the rest")
            }
            whole = try object(Array(word.utf8), from: "the {…} argument")
        } else if word.hasPrefix("--"), word.count > 2 {
            try readFlag(word, words, &index)
        } else if word.hasPrefix("-"), word.count > 1, ArgumentWord(word) == nil {
            try refuseOwnFlag(word)
            problems.append(ArgumentProblem(name: word, message: "is not an argument: write NAME=value"))
        } else if let argument = ArgumentWord(word) {
            add(argument)
        } else {
            problems.append(bare(word))
        }
    }

    private func bare(_ word: String) -> ArgumentProblem {
        let message = "has no name: write NAME=value"
        if view.propertyNames.contains(word) {
            return ArgumentProblem(name: word, message: "has no value: write \(inlineText(word))=value")
        }
        let candidates = view.required.isEmpty ? view.propertyNames : view.required
        guard candidates.count == 1, let only = candidates.first else {
            return ArgumentProblem(name: word, message: message)
        }
        let example = ShellWord.quote("\(only)=\(word)")
        return ArgumentProblem(name: word, message: message, suggestion: example)
    }

    /// Reads `--k v`, `--k=v` or `--k`.
    private mutating func readFlag(_ word: String, _ words: [String], _ index: inout Int) throws(Failure) {
        let body = word.dropFirst(2)
        let typed = String(body.prefix { $0 != "=" })
        guard let key = flagKey(typed) else {
            try refuseOwnFlag(word)
            problems.append(unknown(typed, shown: "--\(typed)"))
            return
        }
        if typed.count < body.count {
            return add(ArgumentWord(key: key, ArgumentWord.text(String(body.dropFirst(typed.count + 1)))))
        }
        let isBoolean = view.property(key)?.types == ["boolean"]
        if isBoolean, index >= words.count || !["true", "false"].contains(words[index]) {
            return add(ArgumentWord(key: key, .flag))
        }
        guard index < words.count else {
            problems.append(ArgumentProblem(name: "--\(typed)", message: "needs a value"))
            return
        }
        add(ArgumentWord(key: key, ArgumentWord.text(words[index])))
        index += 1
    }

    /// Returns the property that a flag means: the exact name, or the only one that differs just in case, `-`
    /// and `_`.
    private func flagKey(_ typed: String) -> String? {
        if view.property(typed) != nil { return typed }
        if let first = typed.split(separator: ".").first, first.count < typed.count,
            view.property(String(first)) != nil
        {
            return typed
        }
        func plain(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
        let same = view.propertyNames.filter { plain($0) == plain(typed) }
        return same.count == 1 ? same[0] : nil
    }

    /// Throws if a word is one of our own flags: after the tool name it belongs to the tool, which has no
    /// such argument.
    private func refuseOwnFlag(_ word: String) throws(Failure) {
        let flagName = String(word.prefix { $0 != "=" })
        let attached = word.hasPrefix("--") ? nil : Flag.named(String(word.prefix(2)))
        guard let flag = Flag.named(flagName) ?? attached else { return }
        throw .usage(
            "\(inlineText(flagName)) comes after \(inlineText(name)), where only its arguments are allowed",
            details: ["\(inlineText(name)) has no such argument; \(flag.name) is a flag of mcp-client"],
            hint: "put it before \(inlineText(name))")
    }

    private func unknown(_ key: String, shown: String) -> ArgumentProblem {
        ArgumentProblem(
            name: shown, message: ArgumentProblem.unknown,
            suggestion: Suggestion.best(for: key, among: view.propertyNames).map { inlineText($0) })
    }

    private mutating func add(_ argument: ArgumentWord) {
        order.append(argument.key)
        switch place(argument.key) {
        case .problem(let problem): problems.append(problem)
        case .place(let path, let view):
            if let index = groups.firstIndex(where: { $0.path == path }) {
                groups[index].values.append(argument.value)
            } else {
                groups.append(Group(key: argument.key, path: path, view: view, values: [argument.value]))
            }
        }
    }

    private enum Place {
        case place([String], SchemaView)
        case problem(ArgumentProblem)
    }

    /// Finds the location of an argument. A property with exactly this name takes precedence over reading
    /// `a.b` as a nested path.
    private func place(_ key: String) -> Place {
        if let property = view.property(key) { return .place([key], property) }
        let parts = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let isPath = parts.count > 1 && parts.count <= 32 && !parts.contains("")
        var current = view
        var walked: [String] = []
        for part in isPath ? parts : [key] {
            if !current.admits("object") {
                let parent = walked.joined(separator: ".")
                let reason =
                    current.isListOfObjects
                    ? Self.listOfObjects(parent) : "is not an object and has no members"
                return .problem(
                    ArgumentProblem(name: key, message: "\(inlineText(parent)) \(reason)"))
            }
            let anything = acceptsUnknown ? SchemaView(.bool(true)) : nil
            guard let next = current.property(part) ?? current.otherMembers ?? anything else {
                if walked.isEmpty { return .problem(unknown(part, shown: key)) }
                let best = Suggestion.best(for: part, among: current.propertyNames)
                let full = best.map { inlineText((walked + [$0]).joined(separator: ".")) }
                return .problem(
                    ArgumentProblem(name: key, message: ArgumentProblem.unknown, suggestion: full))
            }
            walked.append(part)
            current = next
        }
        return .place(walked, current)
    }
}
