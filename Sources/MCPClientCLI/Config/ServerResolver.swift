import MCPCore

/// A configured server that is ready to be connected to.
struct ResolvedServer: Sendable {
    /// The name for this command.
    var name: String
    /// The name in the configuration.
    let configuredName: String?
    let target: Target
    /// The variables of a program.
    var environment: [(name: String, value: String)] = []
    var directory: String?
    var headers: [(name: String, value: String)] = []
    /// How to log in.
    var login: ServerLogin?
    /// The texts that came from outside of the file and may be secret.
    var secrets: [String] = []

    init(
        name: String, target: Target, isConfigured: Bool = false,
        environment: [(name: String, value: String)] = [], directory: String? = nil,
        headers: [(name: String, value: String)] = [], login: ServerLogin? = nil, secrets: [String] = []
    ) {
        (self.name, self.target, self.environment) = (name, target, environment)
        (self.directory, self.headers, self.login, self.secrets) = (directory, headers, login, secrets)
        configuredName = isConfigured ? name : nil
    }
}

/// Turns the name of a server into what to connect to: finds it, asks whether a project's server may be used,
/// and expands its texts.
struct ServerResolver: Sendable {
    let environment: CommandEnvironment
    let console: Console
    let options: Options
    /// The command that is run, for hints.
    let command: String
    /// The configuration, if it has been read.
    var known: ServerCatalog?

    /// Returns the server with exactly this name in the configuration.
    func configured(_ name: String) async throws(Failure) -> ResolvedServer {
        try await resolved(entry(name))
    }

    /// Returns the server that a word on the command line stands for.
    func server(_ word: String) async throws(Failure) -> ResolvedServer {
        if Target.isFile(word) { return try file(word) }
        if !Target.isName(word) { return try await qualified(word) }
        guard word == "." else { return try await configured(word) }
        guard let chosen = environment.variable("MCP_TARGET"), !chosen.isEmpty, chosen != "." else {
            return try await resolved(catalog.only(for: command))
        }
        if Target.isName(chosen) { return try await configured(chosen) }
        do throws(Failure) { return try await qualified(chosen) } catch {
            throw .usage("MCP_TARGET: \(error.message)", details: error.details, hint: error.hint)
        }
    }

    /// Returns the server for a word that does not have the form of a name: an address, or else exactly the
    /// name of a server that the user has configured.
    private func qualified(_ word: String) async throws(Failure) -> ResolvedServer {
        if Target.mayBeConfigured(word), let entry = try catalog.ownEntry(word) {
            return try await resolved(entry)
        }
        let target = try Target(parsing: word)
        return ResolvedServer(name: target.shortName, target: target)
    }

    /// Returns the server that a file stands for. A file that cannot be used is reported before anything
    /// starts.
    private func file(_ path: String) throws(Failure) -> ResolvedServer {
        if path.hasSuffix(".jsonl") {
            _ = try environment.recording(path)
            return ResolvedServer(
                name: path, target: .recording(ConfigPlace.absolute(path, in: environment.currentDirectory)))
        }
        let bytes = try environment.file(
            path,
            advice: "server.json is a document of the registry; mcp-client config list shows named servers")
        return try RegistryDocument(
            bytes, name: inlineText(path), given: RegistryDocument.Given(options),
            variable: environment.variable
        ).server()
    }

    private var catalog: ServerCatalog { known ?? ServerCatalog(environment) }

    /// Returns the server with a name; says which file it might have been expected in.
    private func entry(_ name: String) throws(Failure) -> ConfigSource.Entry {
        let catalog = catalog
        let entry = try catalog.entry(name, for: command)
        for problem in catalog.passedOver(before: entry).prefix(3) {
            console.note(
                "note: \(inlineText(problem)); \(quoted(name)) comes from "
                    + entry.place.shown(in: environment))
        }
        return entry
    }

    /// Returns all servers of a file that the user named.
    func servers(of source: ConfigSource) async throws(Failure) -> [ResolvedServer] {
        var servers: [ResolvedServer] = []
        for entry in source.entries where !entry.isDisabled { servers.append(try await resolved(entry)) }
        return servers
    }

    private func resolved(_ entry: ConfigSource.Entry) async throws(Failure) -> ResolvedServer {
        try Self.check(entry, environment)
        try await checkAllowed(entry)
        let diagnostics = Diagnostics()
        let inputs = try await inputs(of: entry)
        let node = entry.expansion(environment, inputs, diagnostics).expand(entry.node)
        guard let server = ServerEntryReader.read(entry.name, node, into: diagnostics),
            !diagnostics.hasErrors
        else { throw Self.unusable(entry, diagnostics.sorted.map { inlineText($0.rendered) }) }
        return try resolved(server, entry, secrets: Self.expandedTexts(in: node))
    }

    /// Refuses an entry that is wrong whatever its placeholders stand for.
    static func check(_ entry: ConfigSource.Entry, _ environment: CommandEnvironment) throws(Failure) {
        let problems = problems(of: entry, environment)
        if !problems.isEmpty { throw unusable(entry, problems) }
    }

    /// Returns what is wrong with an entry whatever its placeholders stand for, with the places.
    static func problems(of entry: ConfigSource.Entry, _ environment: CommandEnvironment) -> [String] {
        let diagnostics = Diagnostics()
        entry.checkFiles(environment, into: diagnostics)
        ServerEntryReader.check(entry.name, entry.node, into: diagnostics)
        return diagnostics.sorted.map { inlineText($0.rendered) }
    }

    private static func unusable(_ entry: ConfigSource.Entry, _ problems: [String]) -> Failure {
        .usage(
            "the server \(quoted(entry.name)) cannot be used", details: Array(problems.prefix(6)),
            hint: "correct it there, or set what is missing; nothing was started or sent")
    }

    /// Returns the variables of the file that an entry names.
    private func variables(
        of file: String?, _ entry: ConfigSource.Entry
    ) throws(Failure) -> [(name: String, value: String)] {
        guard let file else { return [] }
        do throws(ConfigFileError) {
            // The user was asked about the file that was known then.
            if entry.place.kind == .project, entry.files(environment).environmentPath != file {
                throw ConfigFileError(
                    text: "in a project, its path cannot depend on an input or on a file of yours")
            }
            let text = try entry.environmentText(in: file)
            return try EnvironmentFile.variables(text, shownAs: inlineText(file))
        } catch {
            let place = entry.node["envFile"].map { "\($0.position): " } ?? ""
            throw Self.unusable(entry, [inlineText(place + "envFile: " + error.text)])
        }
    }

    private func resolved(
        _ server: ServerEntry, _ entry: ConfigSource.Entry, secrets: [String]
    ) throws(Failure) -> ResolvedServer {
        let base = entry.place.project
        let directory = server.directory.map {
            ConfigPlace.absolute($0, in: base ?? entry.place.directory)
        }
        var target: Target
        switch server.place {
        case .http(let url): target = .http(url)
        case .unix(let path, let endpoint): target = .unix(path: path, endpoint: endpoint)
        case .program(var words):
            // As other hosts do, which start it there.
            let origin = directory ?? base ?? entry.place.directory
            if words[0].contains("/") { words[0] = ConfigPlace.absolute(words[0], in: origin) }
            target = .program(words)
        }
        if let login = server.login, let problem = AuthOptions.problem(of: login) {
            throw .usage("the server \(quoted(entry.name)) cannot be used", details: ["oauth.\(problem)"])
        }
        let file = try variables(of: server.environmentFile, entry)
        return ResolvedServer(
            name: entry.name, target: target, isConfigured: true, environment: file + server.environment,
            directory: directory ?? base, headers: server.headers, login: server.login,
            secrets: secrets + file.map(\.value))
    }

    // MARK: Expansion

    /// The texts of a node that an expansion produced.
    private static func expandedTexts(in node: ConfigNode) -> [String] {
        switch node.kind {
        case .string(let text): text.expanded.isEmpty ? [] : [text.value]
        case .array(let elements): elements.flatMap { expandedTexts(in: $0) }
        case .object(let members): members.flatMap { expandedTexts(in: $0.value) }
        case .null, .bool, .number: []
        }
    }

    /// Returns `MCP_INPUT_` and the id in capitals.
    static func variable(ofInput id: String) -> String {
        let letters = id.unicodeScalars.map { scalar in
            scalar.isASCII && scalar.properties.isAlphabetic || ("0" ... "9").contains(scalar)
                ? String(scalar).uppercased() : "_"
        }
        return "MCP_INPUT_" + letters.joined()
    }

    /// Returns the values of inputs that are known without asking: variables, and the defaults of those that
    /// a person can answer at a terminal.
    ///
    /// - Parameter sources: the files that were read; that of the entry declares the inputs.
    static func knownInputs(
        of entry: ConfigSource.Entry, in sources: [ConfigSource], _ environment: CommandEnvironment
    ) -> [String: String] {
        let source = sources.first { $0.place == entry.place }
        var values: [String: String] = [:]
        for id in inputNames(in: entry.node) {
            let declared = source?.inputs.first { $0["id"]?.string == id }
            var fallback = declared.map { $0["default"]?.string ?? id }
            if case .bool(true) = declared?["password"]?.kind { fallback = nil }
            values[id] = environment.variable(variable(ofInput: id)) ?? fallback
        }
        return values
    }

    /// Returns the values of the inputs that an entry refers to: from variables, or from the person. A
    /// password is never asked for, because a terminal would show it.
    private func inputs(of entry: ConfigSource.Entry) async throws(Failure) -> [String: String] {
        var values: [String: String] = [:]
        for id in Self.inputNames(in: entry.node) where values[id] == nil {
            if let value = environment.variable(Self.variable(ofInput: id)) {
                values[id] = value
                continue
            }
            let source = catalog.sources.first { $0.place == entry.place }
            let declared = source?.inputs.first { $0["id"]?.string == id }
            if case .bool(true) = declared?["password"]?.kind { continue }
            guard let person = environment.person, !options.noInput, let declared else { continue }
            let question = inlineText(declared["description"]?.string ?? id)
            // What Enter stands for is shown in full.
            let fallback = declared["default"]?.string.flatMap {
                $0.unicodeScalars.count <= ServerOutline.maxCharacters ? $0 : nil
            }
            let sink = console.stderr
            let shown = fallback.map { " [\(VisibleText.line($0))]" } ?? ""
            let answer = await person.answer { readLine in
                await sink.ask("\(inlineText(entry.name)): \(question)\(shown): ", readLine)
            }
            guard let answer = answer ?? nil else { continue }
            values[id] = answer.isEmpty ? fallback ?? "" : answer
        }
        return values
    }

    private static func inputNames(in node: ConfigNode) -> [String] {
        Expansion.placeholders(in: node).compactMap { placeholder in
            if case .input(let id) = placeholder.source { id } else { nil }
        }
    }

    // MARK: Projects

    /// Asks whether a server of a project may be used, unless that was answered before.
    private func checkAllowed(_ entry: ConfigSource.Entry) async throws(Failure) {
        let allowed = AllowedServers(environment)
        guard entry.place.kind == .project, !allowed.contains(entry) else { return }
        let shown = entry.place.shown(in: environment)
        let outline = ServerOutline(entry, environment)
        if let person = environment.person, !options.noInput {
            guard !outline.isTooLong else {
                throw .usage(
                    "what the server \(quoted(entry.name)) of this project does is too long for a question",
                    details: [
                        "\(entry.position): \(outline.characters) characters in \(outline.lines.count) lines",
                        "nothing was started or sent",
                    ],
                    hint: "mcp-client config get \(ShellWord.operand(entry.name)) shows all of it, "
                        + "config allow allows it until it changes")
            }
            let sink = console.stderr
            let text =
                "\(shown) of this project configures \(quoted(entry.name)):\n"
                + outline.lines.map { "  \($0)\n" }.joined()
                + "(without a terminal: mcp-client config allow \(ShellWord.operand(entry.name)))\n"
            let answer = await person.answer { readLine in
                sink.write(text)
                return await sink.ask("use it, now and until it changes? [y/N] ", about: text, readLine)
            }
            if PromptAnswer.isYes(answer ?? nil) {
                do throws(Failure) { try allowed.allow(entry) } catch { console.note(error.message) }
                return
            }
            throw .usage("the server \(quoted(entry.name)) was not used", details: ["\(entry.position)"])
        }
        throw .usage(
            "the server \(quoted(entry.name)) of this project has not been allowed yet",
            details: Self.details(outline, of: entry) + ["nothing was started or sent"],
            hint: "mcp-client config allow \(ShellWord.operand(entry.name)) allows it until it changes")
    }

    /// The lines of an outline if all of them fit into an error.
    private static func details(_ outline: ServerOutline, of entry: ConfigSource.Entry) -> [String] {
        guard !outline.isTooLong, outline.lines.count <= 12, let first = outline.lines.first else {
            let command = "mcp-client config get \(ShellWord.operand(entry.name))"
            return ["\(entry.position): \(outline.characters) characters; \(command) shows them"]
        }
        return ["\(entry.position): \(first)"] + outline.lines.dropFirst()
    }
}
