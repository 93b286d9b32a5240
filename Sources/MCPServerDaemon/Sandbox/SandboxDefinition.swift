import MCPCore

/// A sandbox of the configuration: what its programs may do, and the variables that they have.
struct SandboxDefinition: Sendable, Hashable {
    /// The name of the setting that means "no sandbox".
    static let none = "none"

    /// The name in `sandboxes`; `nil` if it is written where it is used.
    var name: String?
    var sandbox = Sandbox()
    /// Limits in addition to those of the program; the lower one holds.
    var limits = ResourceLimits()
    /// Variables that the program has unless it sets them itself.
    var environment: [String: String] = [:]
    /// The user's name, for people.
    var userName: String?

    /// The name for messages.
    var title: String { name.map { "sandbox \($0)" } ?? "its sandbox" }

    /// Returns everything that limits a program with limits of its own.
    func restriction(_ limits: ResourceLimits = ResourceLimits()) -> ProcessRestriction {
        ProcessRestriction(limits: limits.merged(with: self.limits), sandbox: sandbox)
    }

    /// Whether a directory lies in what may be read.
    func mayRead(_ directory: String) -> Bool {
        guard let files = sandbox.files else { return true }
        let directory = Paths.resolved(directory) ?? directory
        return (files.read + files.write + files.exec + SystemFiles.read).contains { allowed in
            Self.isBeneath(directory, allowed)
        }
    }

    /// Whether an absolute path is another one, or lies in it.
    static func isBeneath(_ path: String, _ directory: String) -> Bool {
        path == directory || path.hasPrefix(directory == "/" ? "/" : directory + "/")
    }
}

extension SandboxDefinition {
    /// Returns what the sandbox comes to with what the system can enforce, in one line.
    ///
    /// - Parameters:
    ///   - program: the files that are executed to start the program.
    ///   - hasLimits: whether the line includes the limits.
    func described(_ support: SandboxSupport, program: [String] = [], hasLimits: Bool = true) -> String {
        var parts: [String] = []
        let missing = support.missing(for: sandbox)
        if !missing.isEmpty { parts.append("NOT ENFORCED: " + missing.joined(separator: "; ")) }
        if let files = sandbox.files {
            parts.append(Self.list("read", files.read, none: "read only the system"))
            parts.append(Self.list("write", files.write, none: "no write"))
            parts.append(Self.list("exec", program + files.exec, none: "exec only the program"))
        } else {
            parts.append("all files of its user")
        }
        parts.append(sandbox.network.map(Self.text) ?? "all of the network")
        if let user = sandbox.user { parts.append("user \(userName ?? "\(user.id)")") }
        if hasLimits { parts += Self.texts(limits) }
        return "\(name.map { "\($0), " } ?? "")\(support.description): " + parts.joined(separator: " · ")
    }

    private static func list(_ verb: String, _ paths: [String], none: String) -> String {
        paths.isEmpty ? none : "\(verb) " + paths.map(TerminalText.word).joined(separator: " ")
    }

    private static func text(_ network: Sandbox.Network) -> String {
        var parts: [String] = []
        if !network.connect.isEmpty { parts.append("connect to TCP " + ports(network.connect)) }
        if !network.bind.isEmpty { parts.append("listen on TCP " + ports(network.bind)) }
        if network.isUDPAllowed { parts.append("UDP") }
        if network.isUnixAllowed { parts.append("unix sockets") }
        return parts.isEmpty ? "no network" : parts.joined(separator: ", ")
    }

    private static func ports(_ ports: [UInt16]) -> String { ports.map { "\($0)" }.joined(separator: " ") }

    /// Returns each limit in words.
    static func texts(_ limits: ResourceLimits) -> [String] {
        [
            limits.cpu.map { "cpu \(Units.describe(.seconds($0)))" },
            limits.memory.map { "memory \(Units.describe(bytes: $0))" },
            limits.fileSize.map { "file size \(Units.describe(bytes: $0))" },
            limits.processes.map { "processes \($0)" }, limits.openFiles.map { "open files \($0)" },
        ].compactMap { $0 }
    }
}

extension TerminalText {
    /// Returns a word as a shell reads it, in quotes where it needs them. Words with characters that cannot
    /// be shown are in the form `$'\x1b'` of bash, zsh and ksh.
    static func word(_ word: String) -> String {
        let isPlain =
            !word.isEmpty && word.utf8.allSatisfy { ASCII.isWord($0) || "-./:=@%+,".utf8.contains($0) }
        if isPlain { return word }
        if inline(word, limit: .max) == word { return "'\(word.replacing("'", with: "'\\''"))'" }
        let bytes = word.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
            case 0x20 ..< 0x7F: String(UnicodeScalar(byte))
            case 0x0A: "\\n"
            default: "\\x" + Hex.encode([byte])
            }
        }
        return "$'\(bytes.joined())'"
    }
}
