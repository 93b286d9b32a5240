#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Functions that kill processes identified by their process group or by what they inherit.
enum ProcessSweep {
    /// An environment variable that every process of a set was started with, and that its children inherit.
    ///
    /// On Linux, a process can also set the mark as its own limit of file locks, which the kernel does not
    /// enforce (setrlimit(2), RLIMIT_LOCKS). All its descendants inherit the limit, including those that
    /// have cleared their environment, left the session, and lost their parent.
    struct Mark: Sendable, Hashable {
        /// The variable that identifies the supervisor of a command.
        static let variable = "MCP_SUPERVISOR"
        static let byteCount = 16

        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// Creates a mark that no other process has.
        static func random() -> Mark { Mark(SystemRandom().bytes(byteCount)) }

        /// The value of the variable: 32 hexadecimal digits.
        var value: String {
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
        }

        /// The number that is the limit: 62 of its bits are those of the mark, so nobody has it by chance.
        var limit: UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } & (1 << 62 - 1) | 1 << 62 }

        #if os(Linux)
        #if canImport(Musl)
        private static let locks = RLIMIT_LOCKS
        #else
        private static let locks = __rlimit_resource_t(__RLIMIT_LOCKS.rawValue)
        #endif

        /// Sets the limit for this process and everything that it starts from now on. Returns false, and
        /// changes nothing, where the process may not have it.
        @discardableResult
        func setLimit() -> Bool {
            var limits = rlimit()
            guard unsafe getrlimit(Self.locks, &limits) == 0, limits.rlim_max >= limit else { return false }
            // Not the hard limit, which a server within a server could not set to its own mark.
            limits.rlim_cur = rlim_t(limit)
            return unsafe setrlimit(Self.locks, &limits) == 0
        }

        /// Whether this process has the limit.
        var isOwnLimit: Bool {
            var limits = rlimit()
            return unsafe getrlimit(Self.locks, &limits) == 0 && limits.rlim_cur == limit
        }
        #endif
    }

    /// The pause between two scans of the system's processes, in milliseconds.
    private static let pause: Int32 = 5
    /// The maximum number of scans: a process that hangs in the kernel stays until the kernel releases it.
    private static let maxLooks = 200

    /// Kills the groups and, on Linux, every process that has the mark, until `quiet` consecutive scans find
    /// none.
    ///
    /// The mark finds processes that have left their group, and those that were started but not yet
    /// announced. The environment of another user's process is not readable, and only root can kill it. On
    /// other systems only the groups are killed.
    ///
    /// - Parameter helper: a process that is left alone, besides this one.
    static func kill(groups: some Sequence<Int32>, mark: Mark, quiet: Int, except helper: Int32? = nil) {
        for group in groups { killGroup(group) }
        #if os(Linux)
        // A process that has the limit itself passes it on, and only such a process does.
        let limit = mark.isOwnLimit ? String(mark.limit) : nil
        let spared = [getpid(), helper ?? 0]
        var calm = 0
        for _ in 0 ..< maxLooks {
            calm = killMarked(mark, limit, except: spared) ? 0 : calm + 1
            if calm >= quiet { return }
            wait(milliseconds: pause)
        }
        #endif
    }

    static func killGroup(_ group: Int32) {
        // 0 and 1 would mean our own group and all processes.
        if group > 1 { signalGroup(group) }
    }

    static func wait(milliseconds: Int32) {
        var nothing: [pollfd] = []
        // Just a pause; one that ends early is fine.
        _ = try? Syscalls.poll(&nothing, timeoutMilliseconds: milliseconds)
    }

    #if os(Linux)
    /// Scans once; returns false if no process has the mark.
    private static func killMarked(_ mark: Mark, _ limit: String?, except spared: [Int32]) -> Bool {
        let entry = Array("\(Mark.variable)=\(mark.value)".utf8)
        var found = false
        guard let directory = unsafe opendir("/proc") else { return false }
        defer { unsafe closedir(directory) }
        while let item = unsafe readdir(directory) {
            guard let process = unsafe number(&item.pointee.d_name), process > 1, !spared.contains(process),
                has(process, entry) || has(process, limit: limit)
            else { continue }
            // Its number cannot have been reused: the kernel would have had to go through all the others
            // first.
            found = signalProcess(process) || found
        }
        return found
    }

    /// Whether a process has a variable; false for one that has ended or is not ours.
    private static func has(_ process: Int32, _ entry: [UInt8]) -> Bool {
        let environment = try? Files.read("/proc/\(process)/environ", maxBytes: 4 << 20)
        return environment?.split(separator: 0).contains { $0.elementsEqual(entry) } ?? false
    }

    /// Whether a process that has not ended has a limit of file locks.
    private static func has(_ process: Int32, limit: String?) -> Bool {
        guard let limit, let bytes = try? Files.read("/proc/\(process)/limits", maxBytes: 8 << 10),
            let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                .first(where: { $0.hasPrefix("Max file locks") }),
            line.split(separator: " ").dropFirst(3).first.map({ $0 == limit }) == true
        else { return false }
        // A zombie cannot be killed, and is left to the code that waits for it.
        let status = (try? Files.read("/proc/\(process)/stat", maxBytes: 4 << 10)) ?? []
        return !String(decoding: status, as: UTF8.self).contains(") Z ")
    }

    /// Returns the number that a NUL-terminated name consists of.
    private static func number<Name>(_ name: inout Name) -> Int32? {
        unsafe withUnsafeBytes(of: &name) { bytes in
            let digits = unsafe bytes.prefix { $0 != 0 }
            return unsafe Int32(String(decoding: digits, as: UTF8.self))
        }
    }

    private static func signalProcess(_ process: Int32) -> Bool { sysKill(process, SIGKILL) == 0 }
    #endif

    private static func signalGroup(_ group: Int32) { _ = sysKill(-group, SIGKILL) }
}

/// Calls `kill` of the C library, which the method above hides.
private func sysKill(_ process: Int32, _ number: Int32) -> Int32 { kill(process, number) }
