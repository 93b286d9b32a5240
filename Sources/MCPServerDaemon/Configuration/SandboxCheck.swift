import MCPCore

/// Warns of programs in sandboxes that may change what decides about the server: programs that it runs, its
/// configuration, tokens and secrets, its logs and sockets.
struct SandboxCheck {
    let configuration: Configuration
    /// The configuration as it was read.
    let root: ConfigNode
    /// The main file; nil for a configuration without one.
    let file: String?
    let context: ConfigContext

    /// Programs with what they may write to.
    private struct Writer {
        let who: String
        let directories: [String]

        /// Returns the first of some places that they may change.
        func holds(_ places: [String]) -> String? {
            places.first { place in directories.contains { SandboxDefinition.isBeneath(place, $0) } }
        }
    }

    /// Something that the server relies on.
    private struct Part {
        let title: String
        let path: String
        /// What it is, if the title does not say so.
        var kind = ""
        let position: SourcePosition
    }

    func run() {
        let writers = writers
        guard !writers.isEmpty else { return }
        warnOfPrograms(writers)
        let configured = Paths.places(of: context.directory)
        for writer in writers {
            // Who may change the directory of the main file has been reported where the sandbox says so.
            let isReported = writer.holds(configured) != nil
            var seen: Set<String> = []
            for part in (isReported ? [] : files) + parts
            where writer.holds(Paths.places(of: part.path)) != nil && seen.insert(part.path).inserted {
                context.diagnostics.warning(
                    "\(part.title): \(writer.who) may change \(part.kind)\(part.path)", at: part.position)
            }
        }
    }

    private var writers: [Writer] {
        var writers: [Writer] = []
        for program in configuration.programs {
            guard let sandbox = program.sandbox, let write = sandbox.sandbox.files?.write, !write.isEmpty
            else {
                continue
            }
            let who = sandbox.name.map { "programs in sandbox \($0)" } ?? program.title
            if !writers.contains(where: { $0.who == who }) {
                writers.append(Writer(who: who, directories: write.map(Paths.unmarked)))
            }
        }
        return writers
    }

    private func warnOfPrograms(_ writers: [Writer]) {
        let position = position(root["tools"] == nil ? "mcpServers" : "tools")
        for program in configuration.programs {
            guard let real = Paths.resolved(program.path) else { continue }
            let places = Paths.places(of: program.path)
            for writer in writers where writer.holds(places) != nil {
                context.diagnostics.warning(
                    "\(program.title): \(writer.who) may change its program \(real)", at: position)
            }
        }
        for command in configuration.commands {
            for script in ShellCodeCheck.scripts(of: command.program, command.words, in: command.directory) {
                let places = Paths.places(of: script)
                for writer in writers where writer.holds(places) != nil {
                    context.diagnostics.warning(
                        "\(command.title): \(writer.who) may change its script \(script)", at: position)
                }
            }
        }
    }

    // MARK: Parts

    /// The files of the configuration itself. Of a pattern, new files count as well.
    private var files: [Part] {
        let main = file.map { Part(title: "this configuration", path: $0, position: root.position) }
        let patterns = configuration.includes
        let named = context.included.filter { file in
            !patterns.contains { $0.contains("*") && Paths.parent(of: $0) == Paths.parent(of: file) }
                || Paths.resolved(file) != Paths.places(of: file).dropLast().last
        }
        return [main].compactMap(\.self)
            + (patterns + named).map { Part(title: "include", path: $0, position: root.position) }
    }

    private var parts: [Part] {
        func part(_ keys: String..., path: String?) -> [Part] {
            guard let path else { return [] }
            let title = keys.joined(separator: ".")
            return [Part(title: title, path: Paths.unmarked(path), position: position(keys))]
        }
        let observe = configuration.observe
        let tools = configuration.clientTools
        var parts = part("auth", "tokens", path: configuration.auth?.tokens)
        parts += part("prompts", "dir", path: configuration.promptsDirectory)
        parts += part("observe", "log", "file", path: observe.log.file)
        parts += part("observe", "audit", "file", path: observe.audit?.file)
        parts += part("observe", "recorder", "dir", path: observe.recorder?.directory)
        parts += part("admin", "listen", path: path(configuration.admin?.address(context.environment)))
        for address in configuration.listen ?? [] { parts += part("listen", path: path(address)) }
        let store = configuration.state?.store?.address.dropping(prefix: "unix://")
        parts += part("state", "store", path: store.map { String($0.prefix { $0 != "?" }) })
        for case (let name, .unix(let path, _)) in configuration.upstreams.map({ ($0.name, $0.place) }) {
            parts += part("mcpServers", name, "url", path: path)
        }
        if let tools {
            let socket = ProvidersSocket.path(tools, isStdio: false, context.environment)
            let token = tools.auth == .token ? ProviderToken.defaultPath(context.environment) : nil
            parts += part("clientTools", "providersSocket", path: socket)
            parts += part("clientTools", "tokenFile", path: tools.tokenFile ?? token)
            for file in tools.channelTokenFiles.values.sorted() {
                parts += part("clientTools", "channelTokenFiles", path: file)
            }
        }
        for file in context.secrets + context.texts {
            parts.append(
                Part(
                    title: "this configuration", path: Paths.unmarked(file), kind: "a file that it reads: ",
                    position: root.position))
        }
        return parts
    }

    private func path(_ address: ConfiguredAddress?) -> String? {
        if case .unix(let path, _, _) = address { path } else { nil }
    }

    private func position(_ keys: String...) -> SourcePosition { position(keys) }

    /// Returns the place of the innermost of these keys.
    private func position(_ keys: [String]) -> SourcePosition {
        var node = root
        for key in keys {
            guard let next = node[key] else { break }
            node = next
        }
        return node.position
    }
}
