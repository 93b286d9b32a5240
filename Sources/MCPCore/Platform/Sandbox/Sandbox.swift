/// What a program that is started by this one may do; everything that is not mentioned is unrestricted.
///
/// Whatever else it says, a sandboxed program has no capabilities, gains none by executing another program,
/// and cannot make system calls that reach into other processes (`SyscallRules`).
package struct Sandbox: Sendable, Hashable {
    /// The files that a program may use. All paths are absolute and without symbolic links, and directories
    /// stand for what is in them.
    package struct Files: Sendable, Hashable {
        /// What may be read.
        package var read: [String]
        /// What may be read, changed, created and removed.
        package var write: [String]
        /// What may be read and executed, besides the program itself.
        package var exec: [String]

        package init(read: [String] = [], write: [String] = [], exec: [String] = []) {
            (self.read, self.write, self.exec) = (read, write, exec)
        }
    }

    /// The sockets that a program may use.
    package struct Network: Sendable, Hashable {
        /// The TCP ports that it may connect to.
        package var connect: [UInt16] = []
        /// The TCP ports that it may listen on; 0 is any free one.
        package var bind: [UInt16] = []
        /// Whether it may use UDP, with all ports.
        package var isUDPAllowed = false
        /// Whether it may use unix sockets, wherever they are.
        package var isUnixAllowed = false

        package init() {}

        /// Whether the program may use TCP.
        package var isTCPAllowed: Bool { !connect.isEmpty || !bind.isEmpty }
        /// Whether the program has no use for names of hosts and for certificates.
        package var isLocal: Bool { !isTCPAllowed && !isUDPAllowed }
    }

    /// The user that a program runs as, with one group and no others.
    package struct User: Sendable, Hashable {
        package var id: UInt32
        package var group: UInt32

        package init(id: UInt32, group: UInt32) { (self.id, self.group) = (id, group) }
    }

    package var files: Files?
    package var network: Network?
    package var user: User?
    /// Whether what the system cannot enforce is left out; otherwise the program is not started.
    package var isBestEffort = false

    package init() {}
}

/// Everything that limits a process from before its program begins.
package struct ProcessRestriction: Sendable, Hashable {
    package var limits: ResourceLimits
    package var sandbox: Sandbox?
    /// The number of descriptors from 3 that the program receives.
    var descriptors = 0

    package init(limits: ResourceLimits = ResourceLimits(), sandbox: Sandbox? = nil) {
        (self.limits, self.sandbox) = (limits, sandbox)
    }

    /// Whether nothing is limited.
    package var isEmpty: Bool { limits.isEmpty && sandbox == nil }
}

// MARK: Words

/// The form in which a restriction is passed to `RestrictedProgram`: words such as `read=/srv`, one for each
/// entry of a list.
extension ProcessRestriction {
    private enum Key: String {
        case sandbox, descriptors, files, read, write, exec, network, connect, bind, user, group
    }

    /// The values of the key `sandbox`.
    private static let (refuse, bestEffort) = ("refuse", "warn")
    /// The values of the key `network`.
    private static let (udp, unix, only) = ("udp", "unix", "only")

    var words: [String] {
        guard let sandbox else { return limits.words }
        var words: [(Key, String)] = [(.sandbox, sandbox.isBestEffort ? Self.bestEffort : Self.refuse)]
        if descriptors > 0 { words.append((.descriptors, "\(descriptors)")) }
        if let files = sandbox.files {
            words.append((.files, Self.only))
            words += files.read.map { (.read, $0) }
            words += files.write.map { (.write, $0) }
            words += files.exec.map { (.exec, $0) }
        }
        if let network = sandbox.network {
            words.append((.network, Self.only))
            if network.isUDPAllowed { words.append((.network, Self.udp)) }
            if network.isUnixAllowed { words.append((.network, Self.unix)) }
            words += network.connect.map { (.connect, "\($0)") }
            words += network.bind.map { (.bind, "\($0)") }
        }
        if let user = sandbox.user { words += [(.user, "\(user.id)"), (.group, "\(user.group)")] }
        return limits.words + words.map { "\($0.rawValue)=\($1)" }
    }

    /// Reads what `words` wrote; nil if anything is not understood.
    init?(words: some Sequence<String>) {
        var restriction = ProcessRestriction()
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            if restriction.limits.read(parts[0], parts[1]) { continue }
            guard let key = Key(rawValue: parts[0]), restriction.read(key, parts[1]) else { return nil }
        }
        self = restriction
    }

    private mutating func read(_ key: Key, _ value: String) -> Bool {
        if key == .sandbox {
            sandbox = Sandbox()
            sandbox?.isBestEffort = value == Self.bestEffort
            return value == Self.bestEffort || value == Self.refuse
        }
        switch key {
        case .sandbox: return false
        case .descriptors:
            guard let count = Int(value), (0 ... PassedDescriptor.maxCount).contains(count) else {
                return false
            }
            descriptors = count
        case .files: sandbox?.files = Sandbox.Files()
        case .read: sandbox?.files?.read.append(value)
        case .write: sandbox?.files?.write.append(value)
        case .exec: sandbox?.files?.exec.append(value)
        case .network:
            if value == Self.only { sandbox?.network = Sandbox.Network() }
            if value == Self.udp { sandbox?.network?.isUDPAllowed = true }
            if value == Self.unix { sandbox?.network?.isUnixAllowed = true }
        case .connect, .bind:
            guard let port = UInt16(value) else { return false }
            if key == .connect { sandbox?.network?.connect.append(port) }
            if key == .bind { sandbox?.network?.bind.append(port) }
        case .user:
            guard let id = UInt32(value) else { return false }
            // The group follows; without it, the program would keep that of this process.
            sandbox?.user = Sandbox.User(id: id, group: .max)
        case .group:
            guard let id = UInt32(value) else { return false }
            sandbox?.user?.group = id
        }
        return sandbox != nil
    }
}
