#if os(Linux)
import CMCPSystem
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The kernel's rules about files, TCP ports and signals, which a process can impose on itself and its
/// children (landlock(7)).
struct Landlock: ~Copyable {
    private let rules: FileDescriptor
    private let handled: UInt64

    /// The rights to read, which hold for files and directories.
    private static let read = UInt64(MCP_LANDLOCK_ACCESS_FS_READ_FILE | MCP_LANDLOCK_ACCESS_FS_READ_DIR)
    private static let execute = read | UInt64(MCP_LANDLOCK_ACCESS_FS_EXECUTE)
    /// Everything but executing, and making device files.
    private static let write =
        read
        | UInt64(
            MCP_LANDLOCK_ACCESS_FS_WRITE_FILE | MCP_LANDLOCK_ACCESS_FS_TRUNCATE
                | MCP_LANDLOCK_ACCESS_FS_REMOVE_DIR | MCP_LANDLOCK_ACCESS_FS_REMOVE_FILE
                | MCP_LANDLOCK_ACCESS_FS_MAKE_DIR | MCP_LANDLOCK_ACCESS_FS_MAKE_REG
                | MCP_LANDLOCK_ACCESS_FS_MAKE_SOCK | MCP_LANDLOCK_ACCESS_FS_MAKE_FIFO
                | MCP_LANDLOCK_ACCESS_FS_MAKE_SYM | MCP_LANDLOCK_ACCESS_FS_REFER
                | MCP_LANDLOCK_ACCESS_FS_IOCTL_DEV)
    /// The rights that a single file can have.
    private static let ofFile = UInt64(
        MCP_LANDLOCK_ACCESS_FS_EXECUTE | MCP_LANDLOCK_ACCESS_FS_WRITE_FILE | MCP_LANDLOCK_ACCESS_FS_READ_FILE
            | MCP_LANDLOCK_ACCESS_FS_TRUNCATE | MCP_LANDLOCK_ACCESS_FS_IOCTL_DEV)
    private static let devices = UInt64(
        MCP_LANDLOCK_ACCESS_FS_WRITE_FILE | MCP_LANDLOCK_ACCESS_FS_READ_FILE | MCP_LANDLOCK_ACCESS_FS_TRUNCATE
    )

    private static var systemLoader: ArraySlice<String> {
        ProgramFiles.paths(of: "/usr/bin/env", searchPath: "").dropFirst()
    }

    /// The rights that a version of the ABI knows.
    private static func all(_ version: Int) -> UInt64 {
        var rights = UInt64(1) << 13 - 1
        if version >= 2 { rights |= UInt64(MCP_LANDLOCK_ACCESS_FS_REFER) }
        if version >= 3 { rights |= UInt64(MCP_LANDLOCK_ACCESS_FS_TRUNCATE) }
        if version >= 5 { rights |= UInt64(MCP_LANDLOCK_ACCESS_FS_IOCTL_DEV) }
        return rights
    }

    private init(_ rules: consuming FileDescriptor, handling handled: UInt64) {
        self.rules = rules
        self.handled = handled
    }

    /// Prepares the rules of a sandbox; nil if none of them is known to the kernel.
    ///
    /// - Parameters:
    ///   - version: the kernel's version of the ABI, at least 1.
    ///   - program: the files that are executed to start the program.
    static func rules(
        of sandbox: Sandbox, version: Int, program: [String]
    ) throws(SandboxFailure) -> Landlock? {
        let handled = sandbox.files == nil ? 0 : all(version)
        let network = sandbox.network
        let ports = UInt64(MCP_LANDLOCK_ACCESS_NET_BIND_TCP | MCP_LANDLOCK_ACCESS_NET_CONNECT_TCP)
        let handledPorts = network == nil || version < 4 ? 0 : ports
        var scopes: UInt64 = 0
        if version >= 6 {
            scopes = UInt64(MCP_LANDLOCK_SCOPE_SIGNAL)
            if network != nil { scopes |= UInt64(MCP_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET) }
        }
        if handled | handledPorts | scopes == 0 { return nil }
        let fd = mcp_landlock_create(handled, handledPorts, scopes)
        guard fd >= 0 else { throw SandboxFailure("Landlock", IOError("landlock_create_ruleset")) }
        let rules = Landlock(FileDescriptor(owning: fd), handling: handled)
        if let files = sandbox.files { try rules.allow(files, network, program) }
        guard handledPorts != 0, let network else { return rules }
        for port in network.connect { try rules.allow(port, UInt64(MCP_LANDLOCK_ACCESS_NET_CONNECT_TCP)) }
        for port in network.bind { try rules.allow(port, UInt64(MCP_LANDLOCK_ACCESS_NET_BIND_TCP)) }
        return rules
    }

    private func allow(
        _ files: Sandbox.Files, _ network: Sandbox.Network?, _ program: [String]
    ) throws(SandboxFailure) {
        for path in SystemFiles.read(with: network) { try allowSystem(path, Self.read) }
        for path in SystemFiles.devices { try allowSystem(path, Self.devices) }
        // That of the program, which this process becomes: Swift's runtime reads its arguments there.
        try allowSystem("/proc/self/cmdline", Self.read)
        for path in program { try allowSystem(path, Self.execute) }
        for path in files.read { try allow(path, Self.read) }
        for path in files.write { try allow(path, Self.write) }
        for path in files.exec {
            try allow(path, Self.execute)
            // For programs in a directory, the loader of the system is assumed.
            for path in ProgramFiles.paths(of: path, searchPath: "").dropFirst() + Self.systemLoader {
                try allowSystem(path, Self.execute)
            }
        }
    }

    /// Allows what the system has; what is missing needs no rule.
    private func allowSystem(_ path: String, _ access: UInt64) throws(SandboxFailure) {
        // What cannot be opened stays closed.
        guard let file = try? Syscalls.open(path, Int32(MCP_O_PATH)) else { return }
        try allow(path, file, access)
    }

    /// Allows a path of the configuration, which has no symbolic links: another sandbox may be able to put
    /// one there, and would decide what this one may use.
    private func allow(_ path: String, _ access: UInt64) throws(SandboxFailure) {
        let flags = Int32(MCP_O_PATH) | O_CLOEXEC
        let fd = unsafe mcp_openat2(AT_FDCWD, path, flags, 0, UInt64(MCP_RESOLVE_NO_SYMLINKS))
        guard fd >= 0 else { throw SandboxFailure(path, IOError("openat2")) }
        try allow(path, FileDescriptor(owning: fd), access)
    }

    private func allow(
        _ path: String, _ file: borrowing FileDescriptor, _ access: UInt64
    ) throws(SandboxFailure) {
        do throws(IOError) {
            let isDirectory = FileInfo(try Syscalls.status(file.rawValue)).kind == .directory
            let rights = access & handled & (isDirectory ? .max : Self.ofFile)
            guard mcp_landlock_allow_path(rules.rawValue, file.rawValue, rights) == 0 else {
                throw IOError("landlock_add_rule")
            }
        } catch {
            throw SandboxFailure(path, error)
        }
    }

    private func allow(_ port: UInt16, _ access: UInt64) throws(SandboxFailure) {
        guard mcp_landlock_allow_port(rules.rawValue, UInt64(port), access) == 0 else {
            throw SandboxFailure("port \(port)", IOError("landlock_add_rule"))
        }
    }

    /// Imposes the rules on this thread and everything that it executes.
    func enforce() throws(SandboxFailure) {
        guard mcp_landlock_restrict(rules.rawValue) == 0 else {
            throw SandboxFailure("Landlock", IOError("landlock_restrict_self"))
        }
    }
}
#endif
