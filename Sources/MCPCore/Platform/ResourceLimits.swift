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

    /// Whether no limit is set.
    package var isEmpty: Bool { self == ResourceLimits() }

    /// The limits as words such as `cpu=10`.
    var words: [String] {
        Self.kinds.compactMap { kind in self[keyPath: kind.path].map { "\(kind.name)=\($0)" } }
    }

    /// The limits of this and of another value, of each the lower one.
    package func merged(with other: ResourceLimits) -> ResourceLimits {
        var merged = self
        for kind in Self.kinds {
            guard let value = other[keyPath: kind.path] else { continue }
            merged[keyPath: kind.path] = min(value, self[keyPath: kind.path] ?? value)
        }
        return merged
    }

    private typealias Kind = (name: String, path: WritableKeyPath<ResourceLimits, Int?>)

    private static var kinds: [Kind] {
        [
            ("cpu", \.cpu), ("memory", \.memory), ("fileSize", \.fileSize), ("processes", \.processes),
            ("openFiles", \.openFiles),
        ]
    }

    /// Reads one of `words`; returns false if it is not a limit.
    mutating func read(_ name: String, _ text: String) -> Bool {
        guard let value = Int(text), value >= 0, let kind = Self.kinds.first(where: { $0.name == name })
        else {
            return false
        }
        self[keyPath: kind.path] = value
        return true
    }

    /// Sets the limits of this process. A limit above the one in force stays as it is.
    func apply() throws(IOError) {
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
