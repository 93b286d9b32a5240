/// The changes that a new configuration makes, in words for the log.
struct ConfigurationDifference {
    /// A text such as `+tool journal ~tool git_log(exec,timeout) -files docs`, or `none`.
    let text: String
    /// The keys that are read only at the start and differ from the running configuration, such as
    /// `server.version`.
    let needingRestart: [String]

    /// - Parameter started: the configuration that the server was started with.
    init(_ old: Configuration, _ new: Configuration, started: Configuration) {
        var parts: [String] = []
        if old.coercion != new.coercion { parts.append("~coerce") }
        Self.compare("tool", old.tools, new.tools, by: \.name, &parts) { $0.keys(differingFrom: $1) }
        Self.compare("files", old.files, new.files, by: \.name, &parts) { $0.keys(differingFrom: $1) }
        Self.compare("prompt", old.prompts, new.prompts, by: \.name, &parts)
        Self.compare("mcpServer", old.upstreams, new.upstreams, by: \.name, &parts) {
            $0.keys(differingFrom: $1)
        }
        // The first server that lists a resource has it.
        let names = (old.upstreams.map(\.name), new.upstreams.map(\.name))
        let kept = Set(names.0).intersection(names.1)
        if names.0.filter(kept.contains) != names.1.filter(kept.contains) {
            parts.append("~mcpServers(order)")
        }
        text = parts.isEmpty ? "none" : parts.joined(separator: " ")
        let isSame: [(key: String, Bool)] = [
            ("server.name", started.server.name == new.server.name),
            ("server.title", started.server.title == new.server.title),
            ("server.version", started.server.version == new.server.version),
            ("server.instructions", started.server.instructions == new.server.instructions),
            ("listen", started.listen == new.listen),
            ("hosts", started.web.hosts == new.web.hosts),
            ("origins", started.web.origins == new.web.origins),
            ("trustedProxies", started.web.proxies == new.web.proxies),
            ("limits.connections", started.limits.connections == new.limits.connections),
            ("limits.perConnection", started.limits.perConnection == new.limits.perConnection),
            ("limits.body", started.limits.body == new.limits.body),
            ("limits.memory", started.limits.memory == new.limits.memory),
            ("limits.drain", started.limits.drain == new.limits.drain),
            ("tools.*.task", started.hasTasks || !new.tools.contains { $0.task != .never }),
            ("tools.*.timeout", !started.hasTasks || new.taskDeadline <= started.taskDeadline),
            ("clientTools", started.clientTools == new.clientTools),
            ("admin", started.admin == new.admin),
            ("observe.log", started.observe.log == new.observe.log),
            ("observe.audit", started.observe.audit == new.observe.audit),
            ("observe.recorder", started.observe.recorder == new.observe.recorder),
            ("auth", started.auth == new.auth),
            ("state", started.state == new.state),
        ]
        needingRestart = isSame.filter { !$0.1 }.map(\.key)
    }

    private static func compare<T: Equatable>(
        _ kind: String, _ old: [T], _ new: [T], by name: KeyPath<T, String>, _ parts: inout [String],
        keys: (T, T) -> [String] = { _, _ in [] }
    ) {
        let before = Dictionary(old.map { ($0[keyPath: name], $0) }) { $1 }
        let after = Dictionary(new.map { ($0[keyPath: name], $0) }) { $1 }
        for key in after.keys.sorted() {
            guard let previous = before[key] else {
                parts.append("+\(kind) \(key)")
                continue
            }
            guard let entry = after[key], previous != entry else { continue }
            let changed = keys(previous, entry).joined(separator: ",")
            parts.append("~\(kind) \(key)" + (changed.isEmpty ? "" : "(\(changed))"))
        }
        for key in before.keys.sorted() where after[key] == nil { parts.append("-\(kind) \(key)") }
    }
}

extension ToolDefinition {
    /// Returns the keys of the configuration that differ.
    fileprivate func keys(differingFrom other: ToolDefinition) -> [String] {
        [
            ("title", title == other.title), ("description", description == other.description),
            ("input", input == other.input), ("exec", command == other.command),
            ("stdin", standardInput == other.standardInput),
            ("cwd", workingDirectory == other.workingDirectory), ("env", environment == other.environment),
            ("timeout", timeout == other.timeout), ("maxOutput", maxOutput == other.maxOutput),
            ("result", result == other.result), ("output", outputSchema == other.outputSchema),
            ("annotations", annotations == other.annotations),
            ("concurrency", concurrency == other.concurrency), ("progress", progress == other.progress),
            ("successExitStatus", successStatuses == other.successStatuses),
            ("confirm", confirmation == other.confirmation), ("overflow", overflow == other.overflow),
            ("cacheTtl", cacheTTL == other.cacheTTL), ("task", task == other.task),
            ("limits", limits == other.limits), ("sandbox", sandbox == other.sandbox),
        ].filter { !$0.1 }.map(\.0)
    }
}

extension FilesDefinition {
    /// Returns the keys of the configuration that differ.
    fileprivate func keys(differingFrom other: FilesDefinition) -> [String] {
        [
            ("root", root == other.root), ("uri", template == other.template),
            ("include", filter.include == other.filter.include),
            ("exclude", filter.exclude == other.filter.exclude), ("maxBytes", maxBytes == other.maxBytes),
            ("watch", watch == other.watch),
        ].filter { !$0.1 }.map(\.0)
    }
}

extension UpstreamDefinition {
    /// Returns the keys of the configuration that differ.
    fileprivate func keys(differingFrom other: UpstreamDefinition) -> [String] {
        [
            ("headers", headers == other.headers), ("prefix", prefix == other.prefix),
            ("tools", tools == other.tools), ("resources", resources == other.resources),
            ("prompts", prompts == other.prompts), ("rename", rename == other.rename),
            ("annotations", annotations == other.annotations), ("required", isRequired == other.isRequired),
            ("idle", idle == other.idle), ("restart", restarts == other.restarts),
            ("timeout", timeout == other.timeout), ("connectTimeout", connectTimeout == other.connectTimeout),
            ("concurrency", concurrency == other.concurrency),
            ("perPrincipal", isPerPrincipal == other.isPerPrincipal), ("lock", pins == other.pins),
            ("sandbox", sandbox == other.sandbox), ("protocol", revision == other.revision),
        ].filter { !$0.1 }.map(\.0) + keys(ofPlaceDifferingFrom: other.place)
    }

    private func keys(ofPlaceDifferingFrom other: Place) -> [String] {
        switch (place, other) {
        case (
            .program(let program, let arguments, let environment, let directory),
            .program(let otherProgram, let otherArguments, let otherEnvironment, let otherDirectory)
        ):
            [
                ("command", program == otherProgram), ("args", arguments == otherArguments),
                ("env", environment == otherEnvironment), ("cwd", directory == otherDirectory),
            ].filter { !$0.1 }.map(\.0)
        case (.program, _), (_, .program): ["command", "url"]
        default: place == other ? [] : ["url"]
        }
    }
}
