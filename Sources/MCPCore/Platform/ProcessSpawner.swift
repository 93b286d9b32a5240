#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A newly started process with this side's ends of its pipes. The owner must wait for it.
struct SpawnedProcess: ~Copyable {
    let pid: Int32
    var input: FileDescriptor?
    var output: FileDescriptor?
    var errors: FileDescriptor?

    /// Starts the process.
    init(_ launch: ProcessLaunch) throws(SpawnError) {
        let program = try launch.resolvedProgram()
        let launch = launch.restricted(program)
        let path = launch.restriction.isEmpty ? program : launch.program
        if let directory = launch.directory, !PassedDescriptor.isPath(directory),
            let reason = Files.whyNotDirectory(directory)
        {
            throw .badDirectory(path: directory, reason: reason)
        }
        if launch.descriptors.count > PassedDescriptor.maxCount {
            throw .invalid("a process receives at most \(PassedDescriptor.maxCount) descriptors")
        }
        let environment = launch.environment.map { $0.map { "\($0.key)=\($0.value)" } } ?? Environment.entries
        for text in [path, launch.name ?? ""] + launch.arguments + environment + [launch.directory ?? ""]
        where text.utf8.contains(0) {
            throw .invalid("an argument or environment variable of \(launch.program) contains a NUL byte")
        }
        // A child that closes its input early must not cause this process to be killed.
        SignalWatch.ignoreBrokenPipes()
        do {
            let attributes = try SpawnAttributes(launch)
            var input = try StreamEnds(launch.input, childReads: true)
            var output = try StreamEnds(launch.output, childReads: false)
            var errors = try StreamEnds(launch.errors, childReads: false)
            try attributes.assign(FileDescriptor.rawValue(of: input.child), launch.input, to: 0)
            try attributes.assign(FileDescriptor.rawValue(of: output.child), launch.output, to: 1)
            try attributes.assign(FileDescriptor.rawValue(of: errors.child), launch.errors, to: 2)
            try attributes.pass(launch.descriptors)
            if let directory = launch.directory { try attributes.start(in: directory) }
            try attributes.closeOthers(after: launch.descriptors.count)
            pid = try attributes.spawn(
                path, [launch.name ?? launch.program] + launch.arguments, environment)
            self.input = input.ours.take()
            self.output = output.ours.take()
            self.errors = errors.ours.take()
        } catch { throw .failed(error.applied(to: path)) }
    }
}

/// The child's end of a stream and this process's end. Both descriptors are at least 3, so assigning one of
/// 0, 1 and 2 never overwrites another.
private struct StreamEnds: ~Copyable {
    var child: FileDescriptor?
    var ours: FileDescriptor?

    init(_ stream: ProcessLaunch.Stream, childReads: Bool) throws(IOError) {
        switch stream {
        case .null, .inherit: break
        case .descriptor(let fd): child = FileDescriptor(owning: try Syscalls.duplicate(fd, atLeast: 3))
        case .pipe:
            let (reader, writer) = try Syscalls.pipe()
            child = FileDescriptor(owning: childReads ? reader : writer)
            ours = FileDescriptor(owning: childReads ? writer : reader)
        }
    }
}

/// The attributes and file actions of one posix_spawn.
@safe private struct SpawnAttributes: ~Copyable {
    #if canImport(Darwin)
    private typealias Attributes = posix_spawnattr_t?
    private typealias Actions = posix_spawn_file_actions_t?
    #else
    private typealias Attributes = posix_spawnattr_t
    private typealias Actions = posix_spawn_file_actions_t
    #endif

    // SAFETY: both are initialized in init and destroyed in deinit, and never leave this type.
    private let attributes: UnsafeMutablePointer<Attributes>
    private let actions: UnsafeMutablePointer<Actions>

    init(_ launch: ProcessLaunch) throws(IOError) {
        unsafe attributes = .allocate(capacity: 1)
        unsafe actions = .allocate(capacity: 1)
        #if canImport(Darwin)
        unsafe attributes.initialize(to: nil)
        unsafe actions.initialize(to: nil)
        #else
        unsafe attributes.initialize(to: Attributes())
        unsafe actions.initialize(to: Actions())
        #endif
        unsafe posix_spawnattr_init(attributes)
        unsafe posix_spawn_file_actions_init(actions)

        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        switch launch.group {
        case .own: flags |= Int32(POSIX_SPAWN_SETPGROUP)
        case .session: flags |= Self.newSession
        case .parent: break
        }
        #if canImport(Darwin)
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #endif
        try Self.check(unsafe posix_spawnattr_setflags(attributes, Int16(truncatingIfNeeded: flags)))
        try Self.check(unsafe posix_spawnattr_setpgroup(attributes, 0))
        // Dispatch's threads block signals, and this process ignores some. A child that inherited that would
        // ignore SIGTERM.
        var set = sigset_t()
        unsafe sigemptyset(&set)
        try Self.check(unsafe posix_spawnattr_setsigmask(attributes, &set))
        unsafe sigfillset(&set)
        unsafe sigdelset(&set, SIGKILL)
        unsafe sigdelset(&set, SIGSTOP)
        try Self.check(unsafe posix_spawnattr_setsigdefault(attributes, &set))
    }

    deinit {
        unsafe posix_spawn_file_actions_destroy(actions)
        unsafe posix_spawnattr_destroy(attributes)
        unsafe actions.deallocate()
        unsafe attributes.deallocate()
    }

    func assign(_ fd: Int32, _ stream: ProcessLaunch.Stream, to target: Int32) throws(IOError) {
        if fd >= 0 {
            try Self.check(unsafe posix_spawn_file_actions_adddup2(actions, fd, target))
        } else if stream == .null {
            try Self.check(unsafe posix_spawn_file_actions_addopen(actions, target, "/dev/null", O_RDWR, 0))
        } else {
            #if canImport(Darwin)
            try Self.check(unsafe posix_spawn_file_actions_addinherit_np(actions, target))
            #endif
        }
    }

    /// Gives the child further descriptors. This follows the streams, whose descriptors may have those
    /// numbers.
    func pass(_ descriptors: [PassedDescriptor]) throws(IOError) {
        var target = PassedDescriptor.first
        for descriptor in descriptors {
            try Self.check(unsafe posix_spawn_file_actions_adddup2(actions, descriptor.rawValue, target))
            target += 1
        }
    }

    /// Changes the child's directory. This follows what the child receives, which the path may refer to.
    func start(in directory: String) throws(IOError) {
        try Self.check(unsafe Self.addDirectory(actions, directory))
    }

    /// Closes all other descriptors in the child. Our own are close-on-exec; those of other libraries in this
    /// process may not be.
    func closeOthers(after count: Int) throws(IOError) {
        #if os(Linux)
        try Self.check(
            unsafe mcp_spawn_add_closefrom(actions, PassedDescriptor.first + Int32(clamping: count)))
        #endif
    }

    func spawn(_ path: String, _ arguments: [String], _ environment: [String]) throws(IOError) -> Int32 {
        var pid: pid_t = 0
        let status = unsafe withCStrings(arguments) { argv in
            unsafe withCStrings(environment) { envp in
                unsafe posix_spawn(&pid, path, actions, attributes, argv, envp)
            }
        }
        try Self.check(status)
        return pid
    }

    private static func check(_ status: Int32) throws(IOError) {
        if status != 0 { throw IOError(errno: status, function: "posix_spawn") }
    }

    private static func addDirectory(_ actions: UnsafeMutablePointer<Actions>, _ path: String) -> Int32 {
        #if os(Linux)
        unsafe mcp_spawn_add_chdir(actions, path)
        #elseif os(macOS)
        unsafe posix_spawn_file_actions_addchdir_np(actions, path)
        #else
        // iOS has no such action and does not let apps start programs.
        ENOTSUP
        #endif
    }

    private static var newSession: Int32 {
        #if os(Linux)
        Int32(MCP_POSIX_SPAWN_SETSID)
        #else
        Int32(POSIX_SPAWN_SETSID)
        #endif
    }
}

/// Calls `body` with a NULL-terminated array of C strings.
private func withCStrings<R>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
    let array = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count + 1)
    unsafe array.initialize(repeating: nil, count: strings.count + 1)
    for (index, string) in strings.enumerated() { unsafe array[index] = strdup(string) }
    defer {
        for index in strings.indices { unsafe free(array[index]) }
        unsafe array.deallocate()
    }
    return unsafe body(array)
}
