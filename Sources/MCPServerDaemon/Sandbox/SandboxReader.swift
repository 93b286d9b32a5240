import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Reads one sandbox.
struct SandboxReader {
    let context: ConfigContext
    /// What the system can enforce.
    let support: SandboxSupport

    private enum Unsupported: String, CaseIterable { case refuse, warn }
    private enum NetworkWord: String, CaseIterable { case none, unix, any }

    /// - Parameter name: the name in `sandboxes`; `nil` for a sandbox that is written where it is used.
    func read(_ node: ConfigNode, path: String, name: String?) -> SandboxDefinition? {
        guard var reader = ObjectReader(node, path: path, context: context) else { return nil }
        var definition = SandboxDefinition(name: name)
        definition.sandbox.files = reader.object("fs").map(files)
        definition.sandbox.network = network(&reader)
        definition.limits = reader.object("limits").map(ResourceLimits.init) ?? definition.limits
        definition.environment = reader.variables("env")
        let onUnsupported = reader.word("onUnsupported", as: Unsupported.self)
        definition.sandbox.isBestEffort = onUnsupported == .warn
        if let user = reader.string("user"), let account = account(user, at: reader.place(of: "user"), path) {
            definition.userName = user
            definition.sandbox.user = Sandbox.User(id: account.id, group: account.group)
            definition.environment["HOME"] = definition.environment["HOME"] ?? account.home
        }
        reader.finish()
        checkSupport(definition, path, at: node.position)
        return definition
    }

    // MARK: Files

    private func files(_ reader: ObjectReader) -> Sandbox.Files {
        var reader = reader
        let files = Sandbox.Files(
            read: paths("read", &reader), write: paths("write", &reader), exec: paths("exec", &reader))
        reader.finish()
        return files
    }

    /// Reads absolute paths of what exists: a rule about a missing file would be silently without effect.
    /// Links are followed now and not again.
    private func paths(_ key: String, _ reader: inout ObjectReader) -> [String] {
        guard let node = reader.node(key) else { return [] }
        guard let elements = node.elements else {
            reader.wrongType(key, node, expected: "an array of paths")
            return []
        }
        return elements.compactMap { element -> String? in
            guard let path = element.string else {
                reader.wrongType(key, element, expected: "an array of paths")
                return nil
            }
            guard path.hasPrefix("/"), !path.utf8.contains(0) else {
                context.diagnostics.error(
                    "\(reader.pathOf(key)): \"\(path)\" is not an absolute path; ${configDir} and "
                        + "${userHome} stand for directories", at: element.position)
                return nil
            }
            guard let real = Paths.resolved(path) else {
                let isMissing = errno == ENOENT
                if isMissing, key == "write", let made = madeByService(path) {
                    context.diagnostics.warning(
                        "\(reader.pathOf(key)): \(path) does not exist, and the server does not start "
                            + "without it; \(made.place.hint)", at: element.position)
                    return made.path
                }
                let reason =
                    isMissing ? "does not exist" : "cannot be found: \(IOError("realpath").reason)"
                context.diagnostics.error("\(reader.pathOf(key)): \(path) \(reason)", at: element.position)
                return nil
            }
            let directory = Paths.resolved(context.directory) ?? context.directory
            if key == "write", SandboxDefinition.isBeneath(directory, real) {
                context.diagnostics.warning(
                    "\(reader.pathOf(key)): programs that may change \(real) may change this configuration",
                    at: element.position)
            }
            return context.isInspected && Paths.isMarked(path) ? Paths.marked(real) : real
        }
    }

    /// Returns a directory that each unit makes when its service starts, so that it may be missing before.
    private func madeByService(_ path: String) -> (path: String, place: ServicePlace)? {
        let path = Paths.absolute(path, relativeTo: "/")
        guard context.isInspected, let place = ServicePlace(path), place.name == ServicePlace.service else {
            return nil
        }
        return (path, place)
    }

    // MARK: Network

    /// Reads `"none"`, `"unix"`, `"any"` or `{"connect": [443], "bind": [], "udp": true, "unix": true}`.
    private func network(_ reader: inout ObjectReader) -> Sandbox.Network? {
        guard let node = reader.node("net") else { return nil }
        var network = Sandbox.Network()
        if node.string != nil {
            let word = reader.word("net", as: NetworkWord.self)
            network.isUnixAllowed = word == .unix
            return word == .any ? nil : network
        }
        guard node.members != nil, var object = reader.object("net") else {
            reader.wrongType(
                "net", node, expected: #""none", "unix", "any" or {"connect": [443], "udp": true}"#)
            return network
        }
        network.connect = ports("connect", from: 1, &object)
        network.bind = ports("bind", from: 0, &object)
        network.isUDPAllowed = object.bool("udp") ?? false
        network.isUnixAllowed = object.bool("unix") ?? false
        object.finish()
        return network
    }

    private func ports(_ key: String, from least: Int64, _ reader: inout ObjectReader) -> [UInt16] {
        guard let node = reader.node(key) else { return [] }
        guard let elements = node.elements else {
            reader.wrongType(key, node, expected: "an array of ports")
            return []
        }
        return elements.compactMap { element in
            if case .number(let number) = element.kind, let value = number.int64, value >= least,
                let port = UInt16(exactly: value)
            {
                return port
            }
            context.diagnostics.error(
                "\(reader.pathOf(key)) must contain ports from \(least) to 65535", at: element.position)
            return nil
        }
    }

    // MARK: User

    private func account(_ name: String, at position: SourcePosition, _ path: String) -> Account? {
        guard let account = Accounts.account(named: name) else {
            context.diagnostics.error("\(path).user: no user named \"\(name)\"", at: position)
            return nil
        }
        if account.id == 0 {
            context.diagnostics.error(
                "\(path).user: \(name) is root; a sandbox needs a user without privileges", at: position)
            return nil
        }
        if geteuid() != 0, geteuid() != account.id {
            context.diagnostics.error(
                "\(path).user: only root can start programs as another user, and this is user \(geteuid())",
                at: position)
        }
        return account
    }

    // MARK: The system

    private func checkSupport(_ definition: SandboxDefinition, _ path: String, at position: SourcePosition) {
        let missing = support.missing(for: definition.sandbox)
        if !missing.isEmpty, !definition.sandbox.isBestEffort {
            context.diagnostics.error(
                "\(path) cannot be enforced here: " + missing.joined(separator: "; ")
                    + "; \"onUnsupported\": \"warn\" would run its programs without that", at: position)
            return
        }
        let gaps = missing + support.weaknesses(of: definition.sandbox)
        if !gaps.isEmpty {
            context.diagnostics.warning(
                "\(path) is enforced only in part here: " + gaps.joined(separator: "; "), at: position)
        }
    }
}

extension ResourceLimits {
    /// Reads `limits` of a program or a sandbox.
    init(_ reader: ObjectReader) {
        self.init()
        var reader = reader
        if let cpu = reader.duration("cpu") {
            if cpu < .seconds(1) {
                reader.context.diagnostics.error(
                    "\(reader.pathOf("cpu")) must be at least 1 s", at: reader.place(of: "cpu"))
            }
            self.cpu = Int(clamping: cpu.components.seconds)
        }
        memory = reader.size("memory", in: 1 << 20 ... 1 << 50)
        fileSize = reader.size("fileSize", in: 0 ... 1 << 50)
        processes = reader.integer("processes", in: 1 ... 1_000_000)
        openFiles = reader.integer("openFiles", in: 3 ... 1_000_000)
        reader.finish()
    }
}
