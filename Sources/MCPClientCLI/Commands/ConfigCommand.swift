import MCPCore

/// `config`: shows and changes which servers have names.
struct ConfigCommand {
    let context: CommandContext
    var console: Console { context.console }
    var environment: CommandEnvironment { context.environment }
    /// The command line. After `--` stands a program for `add`; for the other actions stand names there that
    /// look like flags.
    private var invocation: Invocation {
        var invocation = context.invocation
        guard invocation.operand(0) != "add", let words = invocation.program else { return invocation }
        invocation.operands += words
        invocation.program = nil
        return invocation
    }

    static let actions = ["list", "get", "check", "add", "remove", "allow", "import", "fix-paths", "path"]

    /// What other programs call these actions.
    private static let synonyms = [
        "show": "get", "ls": "list", "rm": "remove", "delete": "remove",
    ]

    func run() throws(Failure) -> ExitCode {
        let action = invocation.operand(0) ?? ""
        switch action {
        case "list": try noMore(than: 1); list()
        case "path": try noMore(than: 1); paths()
        case "check":
            try noMore(than: 2)
            return try check(invocation.operand(1))
        case "get": try get(try name("get"))
        case "add": try add(try name("add"))
        case "remove": try remove(try name("remove"))
        case "allow": try allow(try name("allow"))
        case "import": try importServers()
        case "fix-paths":
            try noMore(than: 1)
            return try fixPaths()
        default:
            let best = Self.synonyms[action] ?? Suggestion.best(for: action, among: Self.actions)
            throw .usage(
                "config \(quoted(action)) is not a command",
                details: best.map { ["did you mean config \($0)?"] } ?? [],
                hint: "config \(Self.actions.joined(separator: "|"))")
        }
        return .ok
    }

    private static let nameRule =
        "a name must not be an address or a file such as server.json, contain control characters, or begin "
        + "with -"

    private func name(_ action: String) throws(Failure) -> String {
        guard let name = invocation.operand(1) else {
            throw .usage(
                "config \(action) needs NAME",
                hint: action == "add"
                    ? "mcp-client config add NAME URL, or NAME -- PROGRAM ARGS"
                    : "mcp-client config list shows the servers")
        }
        if action != "add" { try noMore(than: 2) }
        return name
    }

    private func noMore(than count: Int) throws(Failure) {
        if let word = invocation.operand(count) {
            throw .usage("unexpected argument \(quoted(word))")
        }
    }

    // MARK: Showing

    private func list() {
        let catalog = ServerCatalog(environment)
        let allowed = AllowedServers(environment)
        var seen: [String: ConfigPlace] = [:]
        var rows: [(file: String, name: String, what: String, state: String)] = []
        var json: [JSONValue] = []
        for entry in catalog.entries {
            let state = state(entry, hiddenBy: seen[entry.name], allowed)
            if seen[entry.name] == nil { seen[entry.name] = entry.place }
            rows.append(
                (
                    entry.place.shown(in: environment), inlineText(entry.name), MaskedEntry.line(entry.node),
                    state
                ))
            json.append([
                "name": .string(entry.name), "file": .string(entry.place.path),
                "line": .number(JSONNumber(entry.position.line)), "state": .string(state),
                "server": MaskedEntry.json(entry.node),
            ])
        }
        if console.isJSON { return console.json(RawJSON(["servers": .array(json)])) }
        let width = min(rows.map(\.name.count).max() ?? 0, 32)
        for (index, row) in rows.enumerated() {
            if index == 0 || rows[index - 1].file != row.file { console.line(console.style.dim(row.file)) }
            let blank = String(repeating: " ", count: max(0, width - row.name.count))
            console.line("  \(console.style.bold(row.name))\(blank)  \(row.what)")
            if !row.state.isEmpty {
                console.line("\(String(repeating: " ", count: width + 4))\(console.style.dim(row.state))")
            }
        }
        if rows.isEmpty { console.note("no server is configured; mcp-client config add NAME URL adds one") }
        report(catalog)
    }

    private func state(
        _ entry: ConfigSource.Entry, hiddenBy other: ConfigPlace?, _ allowed: AllowedServers
    ) -> String {
        if entry.isDisabled { return "disabled" }
        if let other { return "hidden by the one in \(other.shown(in: environment))" }
        if let problem = ServerResolver.problems(of: entry, environment).first {
            return "cannot be used: \(problem)"
        }
        return entry.place.kind == .project && !allowed.contains(entry) ? "not allowed yet" : ""
    }

    private func report(_ catalog: ServerCatalog) {
        for place in catalog.missing where place.kind == .chosen {
            console.note("note: MCP_CONFIG names \(place.shown(in: environment)), which does not exist")
        }
        for problem in catalog.sources.flatMap(\.problems) { console.note("note: " + inlineText(problem)) }
    }

    private func paths() {
        let catalog = ServerCatalog(environment)
        let found = catalog.sources.map(\.place.path)
        let places = ConfigPlace.all(in: environment)
        if console.isJSON {
            let rows: [JSONValue] = places.map { place in
                [
                    "path": .string(place.path), "program": .string(place.program),
                    "exists": .bool(found.contains(place.path)),
                ]
            }
            return console.json(RawJSON(["files": .array(rows)]))
        }
        for place in places where place.kind != .project || found.contains(place.path) {
            let count = catalog.sources.first { $0.place == place }?.entries.count
            let remark = count.map { $0 == 1 ? "1 server" : "\($0) servers" } ?? "not found"
            console.line("\(inlineText(place.path))  \(console.style.dim("\(place.program) · \(remark)"))")
        }
        report(catalog)
    }

    private func get(_ name: String) throws(Failure) {
        let entry = try ServerCatalog(environment).entry(name, for: "config get")
        // The file of a project contains no secrets of the user, and may contain commands.
        let json =
            entry.place.kind == .project ? MaskedEntry.projectJSON(entry.node) : MaskedEntry.json(entry.node)
        if console.isJSON { return console.json(RawJSON(json)) }
        console.line(console.style.dim("\(entry.position)"))
        console.line(TerminalText.block(json.serialized(pretty: true), maxLine: .max))
        if entry.place.kind == .project, !AllowedServers(environment).contains(entry) {
            console.note(
                "not allowed yet (mcp-client config allow \(ShellWord.operand(name))):\n" + outline(entry))
        }
    }

    // MARK: Changing

    private func add(_ name: String) throws(Failure) {
        guard Target.canBeName(name) else {
            throw .usage("\(quoted(name)) cannot be a name", hint: Self.nameRule)
        }
        let options = invocation.options
        var entry = JSONObject()
        if let program = invocation.program {
            try noMore(than: 2)
            entry["command"] = .string(program[0])
            if program.count > 1 { entry["args"] = .array(program.dropFirst().map { .string($0) }) }
            if let directory = options.directory { entry["cwd"] = .string(absolute(directory)) }
            if !options.environment.isEmpty {
                entry["env"] = .object(
                    JSONObject(options.environment.map { (key: $0.name, value: .string($0.value)) }))
            }
            if program[0].contains("/") { entry["command"] = .string(absolute(program[0])) }
            guard options.headers.isEmpty else {
                throw .usage("-H is for HTTP servers, not for a program")
            }
        } else {
            try noMore(than: 3)
            guard let text = invocation.operand(2) else {
                throw .usage(
                    "config add needs a URL or a program",
                    hint: "mcp-client config add \(ShellWord.quote(name)) URL, or -- PROGRAM ARGS")
            }
            switch try Target(parsing: text) {
            case .http(let url): entry["url"] = .string(url)
            case .unix(let path, let endpoint):
                entry["url"] = .string("unix://\(absolute(path))#\(endpoint)")
            case .program, .recording: break
            }
            if !options.headers.isEmpty {
                entry["headers"] = .object(
                    JSONObject(options.headers.map { (key: $0.name, value: .string($0.value)) }))
            }
        }
        let own = try OwnConfiguration(environment)
        try own.add(name, .object(entry))
        if !options.quiet, MaskedEntry.hasSecret(.object(entry)) {
            environment.warnOfExposure(own.place.path)
        }
        console.note("added \(inlineText(name)) to \(own.place.shown(in: environment))")
        if let chosen = ConfigPlace.all(in: environment).first(where: { $0.kind == .chosen }),
            chosen.path != own.place.path
        {
            console.note(
                "note: it is not searched while MCP_CONFIG names \(chosen.shown(in: environment))")
        }
    }

    private func absolute(_ path: String) -> String {
        ConfigPlace.absolute(path, in: environment.currentDirectory)
    }

    /// Writes where programs are: others that start them may have another PATH, as on a desktop.
    private func fixPaths() throws(Failure) -> ExitCode {
        let own = try OwnConfiguration(environment)
        let directory = environment.currentDirectory
        let names = try own.fixPaths { name in
            environment.programPath(name).map { ConfigPlace.absolute($0, in: directory) }
        }
        for program in names {
            let place = program.path.map { "is \($0) now" } ?? "is not in PATH, and stays"
            console.note("\(inlineText(program.server)): \(inlineText(program.name)) \(inlineText(place))")
        }
        if names.isEmpty {
            console.note("every program in \(own.place.shown(in: environment)) has a path")
        }
        return names.allSatisfy { $0.path != nil } ? .ok : .checkFailed
    }

    private func remove(_ name: String) throws(Failure) {
        let own = try OwnConfiguration(environment)
        let shown = own.place.shown(in: environment)
        if try own.remove(name) { return console.note("removed \(inlineText(name)) from \(shown)") }
        let catalog = ServerCatalog(environment)
        if let other = catalog.entries.first(where: { $0.name == name }) {
            throw .usage(
                "\(shown) has no server \(quoted(name))",
                details: ["it is configured at \(other.position), which is never changed"])
        }
        let names = catalog.sources.filter { $0.place.kind == .own }.flatMap(\.entries).map(\.name)
        throw .usage(
            "\(shown) has no server \(quoted(name))",
            details: Suggestion.best(for: name, among: names).map { ["did you mean \(inlineText($0))?"] }
                ?? [],
            hint: "mcp-client config list shows the servers")
    }

    private func allow(_ name: String) throws(Failure) {
        let entry = try ServerCatalog(environment).entry(name, for: "config allow")
        try ServerResolver.check(entry, environment)
        guard entry.place.kind == .project else {
            return console.note("\(inlineText(name)) is in a file of your own, and needs no permission")
        }
        try AllowedServers(environment).allow(entry)
        console.note("allowed until it changes:\n" + outline(entry))
    }

    private func outline(_ entry: ConfigSource.Entry) -> String {
        ServerOutline(entry, environment).lines.map { "  \($0)" }.joined(separator: "\n")
    }

    /// Returns why a copy of a server would not be one.
    private func obstacle(_ entry: ConfigSource.Entry) -> String? {
        if entry.isDisabled { return "it is disabled there" }
        if !entry.hasUsableName { return "it cannot be used by its name: \(Self.nameRule)" }
        if let problem = ServerResolver.problems(of: entry, environment).first { return inlineText(problem) }
        if entry.dependsOnItsPlace {
            return "it depends on the place of that file, from which it can be used without a copy"
        }
        return nil
    }

    /// Copies servers of other programs into our own file, as they are written.
    private func importServers() throws(Failure) {
        let wanted = Set(invocation.operands.dropFirst())
        let catalog = ServerCatalog(environment)
        let own = try OwnConfiguration(environment)
        let present = Set(catalog.sources.filter { $0.place.kind == .own }.flatMap(\.entries).map(\.name))
        for name in wanted where !catalog.names.contains(name) {
            _ = try catalog.entry(name, for: "config import")
        }
        var added: [String] = []
        for entry in catalog.entries where entry.place.kind == .host {
            guard wanted.isEmpty || wanted.contains(entry.name) else { continue }
            var obstacle = obstacle(entry)
            if present.contains(entry.name) {
                obstacle = "\(own.place.shown(in: environment)) has one of this name"
            } else if added.contains(entry.name) {
                obstacle = "another one of this name was imported"
            }
            if let obstacle {
                console.note("not imported: \(inlineText(entry.name)) (\(entry.position)): \(obstacle)")
                continue
            }
            try own.add(entry.name, entry.node.json)
            if !invocation.options.quiet, MaskedEntry.hasSecret(entry.node.json) {
                environment.warnOfExposure(own.place.path)
            }
            added.append(entry.name)
        }
        report(catalog)
        let names = added.map { inlineText($0) }.joined(separator: ", ")
        console.note(
            added.isEmpty
                ? "nothing to import" : "imported \(names) into \(own.place.shown(in: environment))")
    }
}
