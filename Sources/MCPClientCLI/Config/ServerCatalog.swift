import MCPCore

/// All servers that are configured for the current directory, and the files that were searched.
struct ServerCatalog: Sendable {
    let sources: [ConfigSource]
    /// The files that do not exist.
    let missing: [ConfigPlace]
    private let environment: CommandEnvironment

    init(_ environment: CommandEnvironment) {
        self.environment = environment
        var sources: [ConfigSource] = []
        var missing: [ConfigPlace] = []
        for place in ConfigPlace.all(in: environment) {
            if let source = ConfigSource(place, in: environment) {
                sources.append(source)
            } else {
                missing.append(place)
            }
        }
        (self.sources, self.missing) = (sources, missing)
    }

    /// The servers in the order of precedence; of two with the same name, the first one counts.
    var entries: [ConfigSource.Entry] { sources.flatMap(\.entries) }

    /// The names that can be used, each once.
    var names: [String] {
        var seen: Set<String> = []
        return entries.filter { !$0.isDisabled && seen.insert($0.name).inserted }.map(\.name)
    }

    /// Returns the server with a name.
    ///
    /// - Parameter mayBeDisabled: whether one that is switched off is returned, too.
    /// - Throws: if there is none, or if a file that comes before it cannot be understood: the server that
    ///   was meant may be in there.
    func entry(
        _ name: String, for command: String, mayBeDisabled: Bool = false
    ) throws(Failure) -> ConfigSource.Entry {
        if let chosen = missing.first(where: { $0.kind == .chosen }) {
            throw .usage(
                "MCP_CONFIG names \(chosen.shown(in: environment)), which does not exist",
                details: ["no other file was searched"], hint: "correct MCP_CONFIG, or unset it")
        }
        for source in sources {
            if let entry = try entry(name, of: source, mayBeDisabled: mayBeDisabled) { return entry }
            if source.place.kind != .host { try check(source) }
        }
        throw unknown(name, command)
    }

    /// Returns the server with exactly this name that is not one of a project; nil if there is none.
    func ownEntry(_ name: String) throws(Failure) -> ConfigSource.Entry? {
        for source in sources where source.place.kind != .project {
            if let entry = try entry(name, of: source, mayBeDisabled: false) { return entry }
        }
        return nil
    }

    private func entry(
        _ name: String, of source: ConfigSource, mayBeDisabled: Bool
    ) throws(Failure) -> ConfigSource.Entry? {
        guard let entry = source.entries.first(where: { $0.name == name }) else { return nil }
        try check(source)
        guard mayBeDisabled || !entry.isDisabled else {
            throw .usage(
                "the server \(quoted(name)) is disabled", details: ["\(entry.position)"],
                hint: "remove \"disabled\" there, or use another name")
        }
        return entry
    }

    /// Returns the files that are searched for servers, and those that the entries with these names read.
    func filesRead(for names: [String]) -> [String] {
        // One word stands for a server whose name is not known here.
        let isOpen = names.contains(".")
        let used = entries.filter { isOpen || names.contains($0.name) }
        return sources.map(\.place.path) + used.flatMap { $0.paths(environment) }
    }

    /// Returns why files of the project that come before the file of an entry were passed over.
    func passedOver(before entry: ConfigSource.Entry) -> [String] {
        sources.prefix { $0.place != entry.place }.filter { $0.place.kind == .project && $0.entries.isEmpty }
            .flatMap(\.problems)
    }

    /// Returns the only server that is configured.
    func only(for command: String) throws(Failure) -> ConfigSource.Entry {
        if let failure = brokenProject("no server is configured elsewhere"), names.isEmpty { throw failure }
        let names = names
        if names.count == 1, let name = names.first { return try entry(name, for: command) }
        throw .usage(
            names.isEmpty
                ? "no server is configured, so . stands for none"
                : ". stands for the only configured server, but there are \(names.count)",
            details: names.isEmpty
                ? searched : ["servers: " + names.prefix(12).map { inlineText($0) }.joined(separator: ", ")],
            hint: names.isEmpty
                ? "mcp-client config add NAME URL adds one" : "MCP_TARGET=NAME chooses one")
    }

    private func check(_ source: ConfigSource) throws(Failure) {
        // Files of others that cannot be read at all are not used; the search mentions them.
        guard !source.problems.isEmpty, source.place.kind != .project || !source.entries.isEmpty else {
            return
        }
        throw .usage(
            "\(source.place.shown(in: environment)) cannot be used",
            details: source.problems.prefix(3).map { inlineText($0) },
            hint: "correct the file; no other file was used in its place")
    }

    /// Returns the failure for files of the project that cannot be read; nil if there are none.
    ///
    /// - Parameter rest: what the other files lack.
    func brokenProject(_ rest: String) -> Failure? {
        let broken = sources.filter {
            $0.place.kind == .project && $0.entries.isEmpty && !$0.problems.isEmpty
        }
        guard let first = broken.first else { return nil }
        return .usage(
            "\(first.place.shown(in: environment)) cannot be used",
            details: broken.flatMap(\.problems).prefix(3).map { inlineText($0) } + [rest],
            hint: "correct the file; mcp-client config path lists the files that are searched")
    }

    private func unknown(_ name: String, _ command: String) -> Failure {
        if let failure = brokenProject("no other file has a server named \(quoted(name))") { return failure }
        var details: [String] = []
        if let best = Suggestion.best(for: name, among: names) { details.append("did you mean \(best)?") }
        details += searched
        details += sources.flatMap(\.problems).prefix(3).map { inlineText($0) }
        let word = ShellWord.quote(name)
        let isHost = name == "localhost" || name.split(separator: ".").count { UInt8($0) != nil } == 4
        let list = "mcp-client config list shows the servers"
        let hint =
            if command.hasPrefix("config") {
                list
            } else if environment.hasProgram(name) {
                "a program comes last, after --:  mcp-client \(command) … -- \(word)"
            } else if isHost {
                "an address has a port: \(word):PORT"
            } else {
                "\(list); \(Target.forms)"
            }
        return .usage("no server named \(quoted(name)) is configured", details: details, hint: hint)
    }

    /// The files that were searched, in two lines.
    private var searched: [String] {
        let here = sources.map { $0.place.shown(in: environment) }
        let missing = missing.filter { $0.kind != .project }.map { $0.shown(in: environment) }
        return (here.isEmpty ? [] : ["searched: \(here.joined(separator: ", "))"])
            + (missing.isEmpty ? [] : ["not found: \(missing.joined(separator: ", "))"])
    }
}

extension CommandEnvironment {
    /// Whether a name is that of a program in `PATH`.
    func hasProgram(_ name: String) -> Bool { programPath(name) != nil }

    /// Returns the path of a program in `PATH`.
    func programPath(_ name: String) -> String? {
        guard let path = variable("PATH"), !name.isEmpty, !name.contains("/") else { return nil }
        return path.split(separator: ":").lazy.map { "\($0)/\(name)" }.first {
            SystemFile.isExecutable($0)
        }
    }
}
