/// The changes that a new configuration makes, in words for the log.
struct ConfigurationDifference {
    /// A text such as `+tool journal ~tool git_log -files docs`, or `none`.
    let text: String
    /// The keys that are read only at the start and differ from the running configuration, such as
    /// `server.version`.
    let needingRestart: [String]

    /// - Parameter started: the configuration that the server was started with.
    init(_ old: Configuration, _ new: Configuration, started: Configuration) {
        var parts: [String] = []
        Self.compare("tool", old.tools, new.tools, by: \.name, &parts)
        Self.compare("files", old.files, new.files, by: \.name, &parts)
        Self.compare("prompt", old.prompts, new.prompts, by: \.name, &parts)
        Self.compare("mcpServer", old.upstreams, new.upstreams, by: \.name, &parts)
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
            (
                "tools.*.task",
                started.tools.contains { $0.task != .never } || started.clientTools != nil
                    || !new.tools.contains { $0.task != .never }
            ),
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
        _ kind: String, _ old: [T], _ new: [T], by name: KeyPath<T, String>, _ parts: inout [String]
    ) {
        let before = Dictionary(old.map { ($0[keyPath: name], $0) }) { $1 }
        let after = Dictionary(new.map { ($0[keyPath: name], $0) }) { $1 }
        for key in after.keys.sorted() {
            guard let previous = before[key] else {
                parts.append("+\(kind) \(key)")
                continue
            }
            if previous != after[key] { parts.append("~\(kind) \(key)") }
        }
        for key in before.keys.sorted() where after[key] == nil { parts.append("-\(kind) \(key)") }
    }
}
