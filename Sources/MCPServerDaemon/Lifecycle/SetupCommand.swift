import MCPCore

/// `mcp-server init`: prints files for the programs that start or front a server.
struct SetupCommand {
    let file: String?
    let overrides: [Override]
    let environment: [String: String]

    func run(_ kind: SetupFile) -> ExitCode {
        let path = file ?? DefaultFile.find(environment)
        if path == nil, !overrides.isEmpty {
            Terminal.error(["mcp-server: --set changes a configuration, and there is none: give it with -c"])
            return .usage
        }
        var configuration = Configuration()
        var shown = path.map { Paths.absolute($0, relativeTo: Paths.currentDirectory) }
        if let path, let place = shown {
            var outcome = load(path, kind)
            if kind == .docker, !outcome.diagnostics.hasErrors {
                // It has another place in the image, and only what is written relatively moves with it.
                shown = Paths.marked(place)
                outcome = load(Paths.marked(place), kind)
            }
            if outcome.diagnostics.hasErrors {
                Terminal.error(outcome.diagnostics.report)
                return .usage
            }
            configuration = outcome.configuration
        }
        let place = ProxiedPlace(of: configuration)
        let subject = subject(configuration, place, at: shown)
        if let problem = Self.problem(of: kind, configuration, place) {
            Terminal.error(["mcp-server: \(problem)"])
            return .failure
        }
        Terminal.write(kind.text(subject))
        if kind == .systemd { Terminal.error(Self.warnings(subject)) }
        if kind == .docker { Terminal.error(SetupFile.imageWarnings(subject)) }
        if [.nginx, .caddy].contains(kind) {
            Terminal.error(Self.proxyWarnings(subject, place, configuration))
        }
        return .success
    }

    private func subject(
        _ configuration: Configuration, _ place: ProxiedPlace, at path: String?
    ) -> SetupFile.Subject {
        let hosts = Self.hosts(of: configuration)
        var subject = SetupFile.Subject(
            program: Paths.ownProgram, configuration: path ?? "/etc/mcp-server/mcp.jsonc",
            upstream: place.text, host: hosts.first ?? "mcp.example.com",
            otherHosts: Array(hosts.dropFirst()), acceptsHost: !hosts.isEmpty,
            hasAuth: configuration.auth != nil,
            bodyBytes: configuration.limits.body ?? HTTPLimits().maxBodyBytes,
            stopSeconds: Self.stopSeconds(configuration), paths: Self.paths(of: configuration))
        let home = "/" + Paths.components(environment["HOME"] ?? "").joined(separator: "/")
        if environment["HOME"]?.hasPrefix("/") == true, home != "/",
            SandboxDefinition.isBeneath(subject.configuration, home)
        {
            subject.home = home
        }
        if let memory = configuration.limits.memory { subject.memoryBytes = memory }
        if let connections = configuration.limits.connections { subject.connections = connections }
        subject.peers = configuration.auth?.peers ?? []
        subject.foreignPath = configuration.auth?.foreignPath(hasChannels: configuration.clientTools != nil)
        subject.securePort = configuration.auth?.securePort
        subject.plainPort = configuration.auth?.plainPort
        subject.hasClientTools = configuration.clientTools != nil
        let origins = configuration.web.origins + (configuration.clientTools?.origins ?? [])
        subject.origins = origins.indices.filter { !origins[..<$0].contains(origins[$0]) }.map { origins[$0] }
        Self.addSockets(of: configuration, to: &subject)
        subject.overrides = overrides.map(\.text)
        subject.needs = ServiceNeeds(configuration)
        subject.parts = Self.parts(of: configuration)
        if let path { subject.arguments = ArgumentFiles(configuration, at: path) }
        subject.roots = Self.roots(of: configuration)
        subject.patterns = Set(configuration.includes.filter { $0.contains("*") })
        subject.emptyPatterns = subject.patterns.filter { pattern in
            // A folder that is missing, or cannot be listed, has nothing for an image.
            let names = try? Files.names(in: Paths.unmarked(Paths.parent(of: pattern))).names
            let glob = Glob(Paths.components(pattern).last ?? "")
            return names?.contains { glob.matches($0) } != true
        }
        subject.secrets = configuration.secrets + [configuration.auth?.tokens].compactMap(\.self)
        subject.secrets += configuration.clientTools?.tokenFiles.filter(Paths.exists) ?? []
        subject.secretFolders = Self.folders(of: subject.secrets)
        return subject
    }

    /// The names that the server accepts as `Host` beside those of this machine, each once.
    private static func hosts(of configuration: Configuration) -> [String] {
        var seen: Set<String> = []
        return ([configuration.auth?.host].compactMap(\.self) + configuration.web.hosts)
            .filter { seen.insert($0.lowercased()).inserted }
    }

    /// What a proxy in front of the server lets through or not.
    private static func proxyWarnings(
        _ subject: SetupFile.Subject, _ place: ProxiedPlace, _ configuration: Configuration
    ) -> [String] {
        var warnings: [String] = []
        if let warning = SetupFile.proxyWarning(subject) { warnings.append(warning) }
        if let warning = place.warning { warnings.append(warning) }
        if subject.needs.isTemplate {
            warnings.append(
                "warning: the configuration has ${env:INSTANCE}, and this file is for one instance alone: "
                    + "docs/instances.md has the upstream block for several")
        }
        let ports = (configuration.listen ?? [.defaultPlace]).compactMap { address in
            if case .tcp(_, let port) = address { port } else { nil }
        }
        if let port = subject.securePort ?? subject.plainPort, ports.contains(Int(port)) {
            warnings.append(
                "warning: the server listens at port \(port) itself, which auth.resource names: a proxy on "
                    + "this host needs another one")
        }
        if let path = subject.foreignPath, !SetupFile.canForward(path) {
            warnings.append(
                "warning: the proxy does not forward \(path), the path of auth.resource, but /mcp alone: "
                    + "add a rule that replaces it, or use a path of letters, digits, \".\", \"_\", "
                    + "\"-\" and \"~\" without \"//\", \"/./\" and \"/../\""
            )
        }
        return warnings
    }

    /// Loads the configuration. In a unit, the name of the instance is what systemd puts there.
    private func load(_ path: String, _ kind: SetupFile) -> ConfigurationLoader.Outcome {
        var loader = ConfigurationLoader(
            overrides: overrides, environment: environment, purpose: .inspecting)
        guard kind == .systemd || kind == .systemdSocket else { return loader.load(file: path) }
        loader.environment[ServiceNeeds.instance] = ServiceNeeds.instanceValue
        return loader.load(file: path)
    }

    /// What keeps the service from working as it is.
    private static func warnings(_ subject: SetupFile.Subject) -> [String] {
        let needs = subject.needs
        return subject.hiddenPaths.map {
            "warning: the service does not see \($0) (ProtectHome=, PrivateTmp=): put it elsewhere"
        }
            + ["/run", "/var/log", "/var/lib"].filter(needs.writable.contains).map {
                "warning: the user \(ServiceNeeds.service) cannot create files in \($0) itself: use a "
                    + "directory in it, such as \($0)/\(ServiceNeeds.service)"
            }
            + needs.shared.map {
                "warning: instances cannot share \($0): use ${env:INSTANCE} in its name"
            } + subject.arguments.warnings
    }

    /// The folders whose files the server offers, and programs may use.
    private static func roots(of configuration: Configuration) -> [String] {
        configuration.files.map(\.root) + [configuration.promptsDirectory].compactMap(\.self)
            + configuration.tools.flatMap { $0.input.parameters.compactMap(\.root) }
            + configuration.sandboxes.flatMap { sandbox in
                sandbox.sandbox.files.map { $0.read + $0.exec } ?? []
            }
    }

    /// The files and directories that the configuration reads and runs, without secrets.
    private static func parts(of configuration: Configuration) -> [String] {
        var parts = configuration.includes + configuration.texts + roots(of: configuration)
        parts += configuration.tools.compactMap(\.workingDirectory.literal)
        for upstream in configuration.upstreams {
            if case .program(_, _, _, let directory?) = upstream.place { parts.append(directory) }
        }
        return Set(parts + configuration.programs.map(\.path)).sorted()
    }

    /// The folders that hold nothing but secrets, and their lock files.
    private static func folders(of secrets: [String]) -> Set<String> {
        let secrets = Set(secrets.map(Paths.unmarked))
        return Set(secrets.map(Paths.parent(of:))).filter { folder in
            // One that cannot be listed may hold other files.
            guard folder != "/", let found = try? Files.names(in: folder) else { return false }
            return found.names.allSatisfy { name in
                secrets.contains("\(folder)/\(name)")
                    || secrets.contains { "\($0).lock" == "\(folder)/\(name)" }
            }
        }
    }

    /// Returns why a file of this kind cannot say what the configuration says; nil if it can.
    private static func problem(
        of kind: SetupFile, _ configuration: Configuration, _ place: ProxiedPlace
    ) -> String? {
        switch kind {
        case .systemdSocket: problem(ofSockets: configuration)
        case .caddy where !SetupFile.caddyCanReach(place.text):
            "Caddy cannot connect to \(place.text): for Caddy the path of a socket ends at \":\", and braces "
                + "are a variable; use another path in \"listen\""
        default: nil
        }
    }

    /// Returns why one unit of systemd cannot hold the sockets; nil if it can.
    private static func problem(ofSockets configuration: Configuration) -> String? {
        var rights: Set<String> = []
        for case .unix(_, let mode, let group) in configuration.listen ?? [] {
            rights.insert("\(mode) \(group.map { "\($0)" } ?? "-")")
        }
        return rights.count > 1
            ? "the sockets of listen have different modes or groups, and a unit of systemd has one of each; "
                + "write a unit for each of them" : nil
    }

    /// The time to drain, to end the commands and to close everything, with a reserve.
    private static func stopSeconds(_ configuration: Configuration) -> Int {
        let drain = configuration.limits.drain ?? HTTPServerOptions().drainTimeout
        return Int(clamping: (drain + CommandTool.grace).components.seconds) + 8
    }

    /// The paths that the server needs to see, or to be seen at.
    private static func paths(of configuration: Configuration) -> [String] {
        var paths = configuration.secrets + [configuration.auth?.tokens].compactMap { $0 }
        let observe = configuration.observe
        paths += [observe.audit?.file, observe.log.file, observe.recorder?.directory].compactMap(\.self)
        paths += configuration.sandboxes.flatMap { $0.sandbox.files?.write ?? [] }
        if let clientTools = configuration.clientTools {
            paths += clientTools.tokenFiles + [clientTools.providersSocket].compactMap(\.self)
        }
        for upstream in configuration.upstreams {
            if case .unix(let path, _) = upstream.place { paths.append(path) }
        }
        for case .unix(let path, _, _) in (configuration.listen ?? [])
            + [configuration.admin?.listen].compactMap({ $0 })
        {
            paths.append(path)
        }
        return parts(of: configuration) + paths
    }

    private static func addSockets(of configuration: Configuration, to subject: inout SetupFile.Subject) {
        for address in configuration.listen ?? [.defaultPlace] {
            switch address {
            case .tcp(_, let port):
                subject.sockets.append(address.text)
                if !address.isLoopback { subject.openPorts.append(port) }
            case .unix(let path, let mode, let group):
                subject.sockets.append(path)
                subject.mode = mode
                subject.group = group.map(Accounts.groupName)
            }
        }
    }
}
