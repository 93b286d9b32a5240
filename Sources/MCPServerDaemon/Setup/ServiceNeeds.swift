import MCPCore

/// What a server of a configuration needs from the system beside its files: directories that it writes to,
/// groups and variables.
struct ServiceNeeds: Sendable, Hashable {
    /// The name of the service, its user and its directories.
    static let service = ServicePlace.service
    /// The variable that tells instances apart.
    static let instance = "INSTANCE"
    /// The value of that variable in a unit.
    static let instanceValue = "%i"
    /// The variables that systemd sets.
    private static let given: Set<String> = [
        "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "RUNTIME_DIRECTORY", "STATE_DIRECTORY",
        "LOGS_DIRECTORY", "INVOCATION_ID",
    ]

    private(set) var places = ["RuntimeDirectory", "StateDirectory", "LogsDirectory"].map {
        ServicePlace(setting: $0, name: service)
    }
    /// Other directories that it writes to; its user must be allowed to.
    private(set) var writable: [String] = []
    /// The files and sockets that it makes itself.
    private(set) var ownFiles: Set<String> = []
    /// The numbers of the groups of its sockets.
    private(set) var socketGroups: [UInt32] = []
    /// The variables that it takes from the environment, and whether it needs them.
    private(set) var allVariables: [String: Bool] = [:]
    /// Whether there are several instances.
    private(set) var isTemplate = false
    /// Whether it starts programs that may make machine code at run time: those of `mcpServers`, which other
    /// people write in any language, and commands with the names of such languages.
    private(set) var makesCode = false
    /// The languages, by the names of their programs.
    private static let runtimes: Set<String> = [
        "node", "nodejs", "npm", "npx", "pnpm", "yarn", "deno", "bun", "bunx", "java", "dotnet", "pwsh",
        "julia", "luajit", "php", "ruby", "pypy", "pypy3",
    ]
    /// Whether it uses TLS or verifies signatures, for which it loads OpenSSL.
    private(set) var usesTLS = false
    /// What instances would use together, although each needs its own.
    private(set) var shared: [String] = []

    init() {}

    init(_ configuration: Configuration) {
        isTemplate = configuration.variables[Self.instance] != nil
        allVariables = configuration.variables
        let admin = configuration.admin?.listen
        let providers = configuration.clientTools?.providersSocket
        for case .unix(let path, _, let group) in (configuration.listen ?? []) + [admin].compactMap(\.self) {
            write(file: path)
            if let group, !socketGroups.contains(group) { socketGroups.append(group) }
        }
        if let providers { write(file: providers) }
        // The server makes them at its first start.
        for file in configuration.clientTools?.tokenFiles ?? [] where !Paths.exists(file) {
            write(file: file)
        }
        let observe = configuration.observe
        let files = [observe.audit?.file, observe.log.file].compactMap(\.self)
        for file in files { write(file: file) }
        if let recorder = observe.recorder { write(to: recorder.directory) }
        // systemd does not make other directories of commands, which may have any owner.
        for path in configuration.sandboxes.flatMap({ $0.sandbox.files?.write ?? [] })
        where ServicePlace(path).map(places.contains) != true {
            addWritable(path)
        }
        makesCode =
            configuration.upstreams.contains { if case .program = $0.place { true } else { false } }
            || configuration.tools.contains { tool in
                Paths.components(tool.command.program).last.map { Self.runtimes.contains($0) } ?? false
            }
        usesTLS = Self.usesTLS(configuration)
        guard isTemplate else { return }
        shared = (configuration.listen ?? []).map(\.shown) + (admin.map { [$0.shown] } ?? []) + files
        shared.removeAll { $0.contains(Self.instanceValue) }
        if configuration.admin != nil, admin == nil { shared.append("the default address of admin") }
        if configuration.listen == nil { shared.append("the default addresses of listen") }
    }

    /// The names of the groups of its sockets that its user in a unit is not in already.
    var groups: [String] { socketGroups.map(Accounts.groupName).filter { $0 != Self.service } }

    /// The variables that neither a unit nor systemd sets.
    var variables: [String: Bool] {
        allVariables.filter { $0.key != Self.instance && !Self.given.contains($0.key) }
    }

    private static func usesTLS(_ configuration: Configuration) -> Bool {
        func isSecure(_ address: String) -> Bool {
            ["https://", "rediss://"].contains { address.lowercased().hasPrefix($0) }
        }
        let hasSecureUpstream = configuration.upstreams.contains { upstream in
            guard case .http(let address) = upstream.place else { return false }
            return isSecure(address)
        }
        let auth = configuration.auth
        return hasSecureUpstream || auth?.issuers.isEmpty == false || auth?.introspection != nil
            || configuration.state?.store.map { isSecure($0.address) } == true
    }

    /// Returns the names of one kind of places.
    func names(_ setting: String) -> String {
        places.filter { $0.setting == setting }.map { Self.word($0.name) }.joined(separator: " ")
    }

    private mutating func write(file: String) {
        ownFiles.insert(file)
        write(to: Paths.parent(of: file))
    }

    private mutating func write(to directory: String) {
        guard let place = ServicePlace(directory), !Self.isOfOthers(directory) else {
            return addWritable(directory)
        }
        if !places.contains(place) { places.append(place) }
    }

    private mutating func addWritable(_ directory: String) {
        // The service has its own /tmp, and the devices that it may use.
        guard !["/tmp", "/var/tmp", "/dev"].contains(where: { SandboxDefinition.isBeneath(directory, $0) }),
            !writable.contains(directory)
        else { return }
        writable.append(directory)
    }

    /// Whether a directory has contents and another owner than the service, to which systemd would give all
    /// of them.
    private static func isOfOthers(_ directory: String) -> Bool {
        guard let info = try? Files.info(directory, followsLinks: true), info.kind == .directory,
            info.owner != Accounts.account(named: service)?.id
        else { return false }
        // One that cannot be listed may have contents.
        return (try? Files.names(in: directory).names.isEmpty) != true
    }

    /// Returns the value of a setting of a unit that has one value, which extends to the end of the line.
    static func value(_ text: String) -> String {
        text.replacing("%", with: "%%").replacing("%\(instanceValue)", with: instanceValue)
    }

    /// Returns a word of a unit.
    static func word(_ word: String) -> String {
        let text = value(word)
        guard text.utf8.contains(where: { $0 <= 0x20 || "\"\\'".utf8.contains($0) }) else { return text }
        // A line feed would begin another setting.
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}
