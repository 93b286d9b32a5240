#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The limits that the system enforces on a process and on each process that it starts (setrlimit).
package struct ResourceLimits: Sendable, Hashable {
    /// Processor time in seconds; SIGXCPU at the limit, SIGKILL one second later.
    package var cpu: Int?
    /// Address space in bytes: memory that the process may map, more than what it uses.
    package var memory: Int?
    /// The size of a file that the process writes, in bytes; SIGXFSZ beyond it.
    package var fileSize: Int?
    /// The processes and threads of the user, not only those of this process.
    package var processes: Int?
    /// Open files.
    package var openFiles: Int?

    package init() {}

    /// Whether there is no limit.
    package var isEmpty: Bool { self == ResourceLimits() }

    /// The command word for `execute`, and its arguments, for a program that runs `RestrictedProgram`.
    package func arguments(_ word: String, program: String, _ argv: [String]) -> [String] {
        let values = Self.kinds.compactMap { kind in self[keyPath: kind.path].map { "\(kind.name)=\($0)" } }
        return [word] + values + ["--", program] + argv
    }

    private typealias Kind = (name: String, path: WritableKeyPath<ResourceLimits, Int?>)

    private static var kinds: [Kind] {
        [
            ("cpu", \.cpu), ("memory", \.memory), ("fileSize", \.fileSize), ("processes", \.processes),
            ("openFiles", \.openFiles),
        ]
    }

    /// Reads what `arguments` wrote, without the command word.
    fileprivate init?(_ words: some Sequence<String>) {
        self.init()
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let value = Int(parts[1]), value >= 0,
                let kind = Self.kinds.first(where: { $0.name == parts[0] })
            else { return nil }
            self[keyPath: kind.path] = value
        }
    }

    /// Sets the limits of this process. A limit above the one in force stays as it is.
    fileprivate func apply() throws(IOError) {
        try Self.set(RLIMIT_CPU, cpu, hard: cpu.map { $0 + 1 })
        try Self.set(RLIMIT_FSIZE, fileSize)
        try Self.set(Self.processCount, processes)
        try Self.set(RLIMIT_NOFILE, openFiles)
        // Last: from here on, this process may find no memory either.
        try Self.set(RLIMIT_AS, memory)
    }

    #if canImport(Glibc)
    private typealias Resource = __rlimit_resource
    private static let processCount = __RLIMIT_NPROC
    #else
    private typealias Resource = Int32
    private static let processCount = RLIMIT_NPROC
    #endif

    private static func set(_ resource: Resource, _ value: Int?, hard: Int? = nil) throws(IOError) {
        guard let value else { return }
        #if canImport(Glibc)
        let number = __rlimit_resource_t(resource.rawValue)
        #else
        let number = resource
        #endif
        var limit = rlimit()
        guard unsafe getrlimit(number, &limit) == 0 else { throw IOError("getrlimit") }
        limit.rlim_max = min(limit.rlim_max, rlim_t(hard ?? value))
        limit.rlim_cur = min(limit.rlim_max, rlim_t(value))
        guard unsafe setrlimit(number, &limit) == 0 else { throw IOError("setrlimit") }
    }
}

/// The program that sets limits on itself and then becomes another program.
///
/// No code may run between fork and exec, so a program with limits is started through this one.
package enum RestrictedProgram {
    /// The exit code when the other program could not be executed, as in a shell.
    private static let cannotExecute: Int32 = 126

    /// Executes the program that the arguments of `ResourceLimits.arguments` name, without the command word.
    /// Returns an exit code if that fails, after a line on standard error.
    package static func run(_ arguments: some Collection<String>) -> Int32 {
        let limitWords = arguments.prefix { $0 != "--" }
        let command = Array(arguments.dropFirst(limitWords.count + 1))
        guard let limits = ResourceLimits(limitWords), let program = command.first, command.count > 1 else {
            return fail("these arguments are not for people")
        }
        var argv = unsafe command.dropFirst().map { unsafe strdup($0) } + [nil]
        do throws(IOError) {
            try limits.apply()
        } catch {
            return fail("the limits of \(program) cannot be set: \(error.reason)")
        }
        unsafe execv(program, &argv)
        return fail("\(program) cannot be executed: \(IOError("execv").reason)")
    }

    private static func fail(_ text: String) -> Int32 {
        let line = Array("mcp-server: \(text)\n".utf8)
        // Nobody reads it: the exit code remains.
        _ = unsafe line.withUnsafeBytes { unsafe try? Syscalls.write(STDERR_FILENO, $0) }
        return cannotExecute
    }
}
